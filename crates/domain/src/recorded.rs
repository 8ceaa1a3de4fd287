//! Events with their envelope.
use crate::{CommandId, EventId, Identity, Millis, Position, StreamKey};
use bytes::Bytes;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// The envelope of an event.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Meta {
    /// The command's id with this event's index.
    pub id: EventId,
    /// What makes it the same fact when it comes again.
    pub identity: Identity,
    /// Whose fact it is.
    pub stream: StreamKey,
    /// `<source>.<domain>.<aggregate>.<name>`.
    pub event_type: Arc<str>,
    /// Calendar date `YYYY-MM-DD` of the data's schema.
    pub version: Arc<str>,
    /// Business time.
    pub occurred_at: Millis,
    /// When the command was accepted.
    pub accepted_at: Millis,
    /// The key under which the sender may send the command again, if it gave one.
    pub idempotency_key: Option<Arc<str>>,
    /// The first command of the chain that led here.
    pub correlation_id: CommandId,
    /// The command or event that led here directly.
    pub causation_id: EventId,
    /// W3C `traceparent` of the sender.
    pub trace_context: Option<Arc<str>>,
}

impl Meta {
    /// Its place in the canonical order of the aggregate.
    #[must_use]
    pub fn position(&self) -> Position {
        Position {
            occurred_at: self.occurred_at,
            id: self.id,
        }
    }
}

/// An event as it stands in the log: envelope and data.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Recorded<E> {
    /// The envelope.
    pub meta: Meta,
    /// The event itself.
    pub data: E,
}

/// An event in the form that ports carry: its data is JSON text.
pub type RawEvent = Recorded<Bytes>;
