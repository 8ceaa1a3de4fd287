//! States that could not be kept.
use foldwright_domain::{EventId, TenantId};
use std::{fmt, sync::Arc};

/// A state whose events were to go and which could not be kept.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NoBase {
    /// Whose state.
    pub tenant: TenantId,
    /// The fold.
    pub fold: &'static str,
    /// The key of the state: an aggregate id, or the JSON of a keyed fold's key. Empty where the event has none.
    pub key: Arc<str>,
    /// Why not.
    pub why: WhyNoBase,
}

/// Why a state could not be kept.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WhyNoBase {
    /// An event that is to go is not in the fold's state.
    #[error("event {event} is not in the state yet: let the fold catch up, or restage the event")]
    NotApplied {
        /// Which event.
        event: EventId,
    },
    /// The state is of a newer version of the fold.
    #[error("the state is of version {version}: let the newest build cut the log")]
    NewerState {
        /// Its version.
        version: u32,
    },
    /// The state that was kept at the horizon before is of another version of the fold.
    #[error(
        "the state kept at the horizon before is of version {version}, from which this version cannot go on"
    )]
    OtherVersion {
        /// Its version.
        version: u32,
    },
    /// An event that stays occurred before one that has gone, and order matters to the fold.
    #[error("event {event} occurred before the horizon behind which the log was cut, and came after it")]
    BehindHorizon {
        /// Which event.
        event: EventId,
    },
    /// More events than the notes of a kept state may name.
    #[error("more than {limit} events would have to be named exactly")]
    TooMany {
        /// The most.
        limit: usize,
    },
    /// The state, an event or its key cannot be read, or the fold's own code panicked.
    #[error("{0}")]
    Unreadable(String),
}

impl fmt::Display for NoBase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "fold {} of {} under `{}`: {}",
            self.fold, self.tenant, self.key, self.why
        )
    }
}
