//! The notes beside a fold's state.
use super::{Applied, ReorderWindow};
use crate::{
    subscriber::{Merge, PendingJob},
    wire::WireError,
};
use bytes::Bytes;
use foldwright_domain::Identity;
use serde::{Deserialize, Serialize};

/// What every released build reads.
const FIRST: u8 = 1;
/// May hold throttled runs, and may have a window behind it.
const SECOND: u8 = 2;

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
    /// The newest events beside the state before them, where the fold asks for it. Only in the newer format: a fold
    /// without a window stays readable by builds that know none.
    #[serde(skip)]
    pub(crate) window: Option<ReorderWindow>,
}

impl Ledger {
    /// The stored form, in the oldest version that can say it: older builds read what they can understand.
    pub(crate) fn encode(&self) -> Bytes {
        if self.window.is_none() && !self.throttles() {
            return crate::wire::encode(FIRST, self).into();
        }
        crate::wire::encode(SECOND, &(self, &self.window)).into()
    }

    /// Reads a stored ledger of any version.
    pub(crate) fn decode(bytes: &[u8]) -> Result<Self, WireError> {
        let what = "ledger";
        if bytes.first() == Some(&FIRST) {
            let ledger: Self = crate::wire::decode(what, FIRST, bytes)?;
            return if ledger.throttles() {
                Err(WireError::Malformed {
                    what,
                    source: postcard::Error::DeserializeBadEnum,
                })
            } else {
                Ok(ledger)
            };
        }
        let (ledger, window): (Self, _) = crate::wire::decode(what, SECOND, bytes)?;
        Ok(Self { window, ..ledger })
    }

    fn throttles(&self) -> bool {
        self.pending.iter().any(|job| job.merge == Merge::Throttled)
    }
}
