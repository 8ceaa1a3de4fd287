//! The events of one command.
use crate::{RawEvent, SecurityError, StreamKey};

/// A command has at most this many events: their index has 12 bits.
pub const MAX_EVENTS_PER_COMMAND: usize = 4_096;

/// Events that are appended all or none. Its own proof: not empty, one tenant, one aggregate, no id or identity
/// twice.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Batch {
    events: Vec<RawEvent>,
}

impl Batch {
    /// Checks events that belong to `stream`.
    ///
    /// # Errors
    /// [`BatchError`] names the first rule that is broken; nothing of the batch may be used then.
    pub fn new(stream: &StreamKey, events: Vec<RawEvent>) -> Result<Self, BatchError> {
        if events.is_empty() {
            return Err(BatchError::Empty);
        }
        if events.len() > MAX_EVENTS_PER_COMMAND {
            return Err(BatchError::TooMany { events: events.len() });
        }
        let mut ids = std::collections::BTreeSet::new();
        let mut identities = std::collections::BTreeSet::new();
        for event in &events {
            if event.meta.stream.tenant != stream.tenant {
                return Err(BatchError::Security(SecurityError::ForeignTenant {
                    what: "event",
                }));
            }
            if event.meta.stream != *stream {
                return Err(BatchError::ForeignAggregate);
            }
            if !ids.insert(event.meta.id) || !identities.insert(event.meta.identity) {
                return Err(BatchError::Repeated);
            }
        }
        Ok(Self { events })
    }

    /// The aggregate that all events belong to.
    #[must_use]
    pub fn stream(&self) -> &StreamKey {
        #[expect(clippy::indexing_slicing, reason = "a batch is not empty")]
        &self.events[0].meta.stream
    }

    /// The events, in their command's order.
    #[must_use]
    pub fn events(&self) -> &[RawEvent] {
        &self.events
    }

    /// Gives the events back.
    #[must_use]
    pub fn into_events(self) -> Vec<RawEvent> {
        self.events
    }
}

/// Why events are no batch.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BatchError {
    /// There is nothing to append.
    #[error("a batch needs at least one event")]
    Empty,
    /// More events than one command may have.
    #[error("a command has at most 4096 events, this one has {events}")]
    TooMany {
        /// How many there were.
        events: usize,
    },
    /// An event of another tenant.
    #[error(transparent)]
    Security(#[from] SecurityError),
    /// An event of another aggregate.
    #[error("a batch holds events of one aggregate only")]
    ForeignAggregate,
    /// One id or identity twice.
    #[error("a batch holds an event only once")]
    Repeated,
}
