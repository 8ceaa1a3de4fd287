//! The ports a kernel runs on.
use crate::{AppendStore, BlobStore, Clock, EventLog, FoldStore, GroupQueue, QueueAdmin};
use std::sync::Arc;

/// One adapter per port. An all-in-one adapter gives the whole set; a composition root may replace any field.
#[derive(Clone)]
pub struct Ports {
    /// The log of events.
    pub log: Arc<dyn EventLog>,
    /// The queue of jobs.
    pub queue: Arc<dyn GroupQueue>,
    /// The operator's side of the same queue.
    pub queue_admin: Arc<dyn QueueAdmin>,
    /// States of folds that have no table of their own.
    pub folds: Arc<dyn FoldStore>,
    /// Records of maps that have no table of their own.
    pub records: Arc<dyn AppendStore>,
    /// Bodies up to 256 KiB (stored size).
    pub hot_blobs: Arc<dyn BlobStore>,
    /// Larger bodies; may be the same store.
    pub cold_blobs: Arc<dyn BlobStore>,
    /// The clock.
    pub clock: Arc<dyn Clock>,
}

impl std::fmt::Debug for Ports {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Ports").finish_non_exhaustive()
    }
}
