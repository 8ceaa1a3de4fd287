//! The notes beside a fold's state.
use super::{Applied, ReorderWindow};
use crate::{subscriber::PendingJob, wire::WireError};
use bytes::Bytes;
use foldwright_domain::Identity;
use serde::{Deserialize, Serialize};

/// Without a window; builds that know no windows read it.
const PLAIN: u8 = 1;
/// With a window behind it.
const WINDOWED: u8 = 2;

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
    /// The stored form.
    pub(crate) fn encode(&self) -> Bytes {
        match &self.window {
            None => crate::wire::encode(PLAIN, self).into(),
            Some(window) => crate::wire::encode(WINDOWED, &(self, window)).into(),
        }
    }

    /// Reads a stored ledger of any version.
    pub(crate) fn decode(bytes: &[u8]) -> Result<Self, WireError> {
        if bytes.first() == Some(&PLAIN) {
            return crate::wire::decode("ledger", PLAIN, bytes);
        }
        let (ledger, window): (Self, _) = crate::wire::decode("ledger", WINDOWED, bytes)?;
        Ok(Self {
            window: Some(window),
            ..ledger
        })
    }
}
