//! Subscriber jobs that are decided and not staged yet.
use bytes::Bytes;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// A decided subscriber job. Its context is the state of the same row.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct PendingJob {
    /// The subscriber's route.
    pub(crate) route: Arc<str>,
    /// The key of the group it runs in.
    pub(crate) group_key: Arc<str>,
    /// Whether that key merges jobs.
    pub(crate) merges: bool,
    /// How long it waits, in ms. With `merges` also how long the window is.
    pub(crate) delay_ms: u64,
    /// The event it is about, in its stored form.
    pub(crate) event: Bytes,
}
