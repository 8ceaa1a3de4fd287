//! The body of a job that runs a command.
use super::WireError;
use bytes::Bytes;
use foldwright_domain::{CommandId, EventId, Millis};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

const VERSION: u8 = 1;

/// An accepted command.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct CommandBody {
    pub(crate) id: CommandId,
    pub(crate) occurred_at: Millis,
    pub(crate) accepted_at: Millis,
    pub(crate) correlation_id: Option<CommandId>,
    pub(crate) causation_id: Option<EventId>,
    pub(crate) trace_context: Option<Arc<str>>,
    /// JSON.
    pub(crate) payload: Bytes,
}

impl CommandBody {
    /// The stored form.
    pub(crate) fn encode(&self) -> Bytes {
        super::encode(VERSION, self).into()
    }

    /// Reads a stored command of any version.
    pub(crate) fn decode(bytes: &[u8]) -> Result<Self, WireError> {
        super::decode("command", VERSION, bytes)
    }
}
