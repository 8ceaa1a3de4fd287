//! What a command's sender can read back.
use super::WireError;
use bytes::Bytes;
use foldwright_domain::{AggregateId, EventId};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// The version that knew rejections alone. They are written in it still, so that a process of the build before can read
/// them.
const REJECTIONS: u8 = 1;
const VERSION: u8 = 2;

/// The answer of a command.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) enum CommandAnswer {
    /// It was refused.
    Rejected { code: String, message: String },
    /// It led to nothing.
    NoEvents,
    /// It led to these events of one aggregate, in order.
    Events {
        aggregate_type: Arc<str>,
        aggregate_id: AggregateId,
        events: Vec<EventId>,
        /// Whether another command, sent under the same key, had led to them before.
        duplicate: bool,
    },
}

impl CommandAnswer {
    /// The stored form.
    pub(crate) fn encode(&self) -> Bytes {
        let version = match self {
            Self::Rejected { .. } => REJECTIONS,
            Self::NoEvents | Self::Events { .. } => VERSION,
        };
        super::encode(version, self).into()
    }

    /// Reads a stored answer of any version.
    pub(crate) fn decode(bytes: &[u8]) -> Result<Self, WireError> {
        match bytes.first() {
            Some(&REJECTIONS) => super::decode("answer", REJECTIONS, bytes),
            _ => super::decode("answer", VERSION, bytes),
        }
    }
}
