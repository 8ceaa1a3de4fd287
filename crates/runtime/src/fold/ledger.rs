//! The notes beside a fold's state.
use super::Applied;
use crate::{
    subscriber::{Merge, PendingJob},
    wire::WireError,
};
use bytes::Bytes;
use foldwright_domain::Identity;
use serde::{Deserialize, Serialize};

/// What every released build reads.
const FIRST: u8 = 1;
/// May hold throttled runs.
const THROTTLED: u8 = 2;

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
    /// The stored form, in the oldest version that can say it: older builds read what they can understand.
    pub(crate) fn encode(&self) -> Bytes {
        let version = if self.throttles() { THROTTLED } else { FIRST };
        crate::wire::encode(version, self).into()
    }

    /// Reads a stored ledger of any version.
    pub(crate) fn decode(bytes: &[u8]) -> Result<Self, WireError> {
        let what = "ledger";
        let version = if bytes.first() == Some(&FIRST) {
            FIRST
        } else {
            THROTTLED
        };
        let ledger: Self = crate::wire::decode(what, version, bytes)?;
        if version == FIRST && ledger.throttles() {
            return Err(WireError::Malformed {
                what,
                source: postcard::Error::DeserializeBadEnum,
            });
        }
        Ok(ledger)
    }

    fn throttles(&self) -> bool {
        self.pending.iter().any(|job| job.merge == Merge::Throttled)
    }
}
