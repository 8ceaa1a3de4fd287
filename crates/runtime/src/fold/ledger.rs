//! The notes beside a fold's state.
use super::Applied;
use crate::{subscriber::PendingJob, wire::WireError};
use bytes::Bytes;
use foldwright_domain::Identity;
use serde::{Deserialize, Serialize};

const VERSION: u8 = 1;

/// What the kernel keeps with a state and in the same write.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Ledger {
    /// Which events are in.
    pub(crate) applied: Applied,
    /// The subscriber jobs that this write decided. They stay until the next write, because only the next lease
    /// learns whether they were staged.
    pub(crate) pending: Vec<PendingJob>,
    /// Events that a replay applied and whose own jobs have not come yet: their subscribers are decided then.
    pub(crate) undecided: Vec<Identity>,
}

impl Ledger {
    /// The stored form.
    pub(crate) fn encode(&self) -> Bytes {
        crate::wire::encode(VERSION, self).into()
    }

    /// Reads a stored ledger of any version.
    pub(crate) fn decode(bytes: &[u8]) -> Result<Self, WireError> {
        crate::wire::decode("ledger", VERSION, bytes)
    }
}
