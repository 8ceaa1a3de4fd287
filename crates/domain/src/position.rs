//! Canonical order.
use crate::{EventId, Millis};
use serde::{Deserialize, Serialize};

/// The place of an event in the canonical order of its aggregate: by business time, then by acceptance.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct Position {
    /// Business time.
    pub occurred_at: Millis,
    /// Decides at one business instant, because ids carry the order of acceptance.
    pub id: EventId,
}
