//! Appending the events of one command.
use crate::Error;
use foldwright_domain::{Batch, EventId};

/// The events of one command, appended all or none.
#[derive(Clone, Debug)]
pub struct Append {
    /// What to append: one tenant, one aggregate, by its construction.
    pub batch: Batch,
    /// What must hold before.
    pub expect: Expect,
}

/// What must hold of the aggregate before an append.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Expect {
    /// Nothing.
    Any,
    /// It has exactly this many distinct events. Needs [`LogCapabilities::conditional`](crate::LogCapabilities).
    Count(u64),
}

/// What became of one event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Appended {
    /// It is new and stored.
    Fresh,
    /// An event of this identity, type, version, business time and data was there before, under this id.
    Duplicate {
        /// The id under which it is stored.
        stored: EventId,
    },
    /// An event of this identity but with another content was there before; the stored one stays.
    Conflict {
        /// The id under which it is stored.
        stored: EventId,
    },
}

/// Why nothing of a command's events was stored.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AppendError {
    /// The aggregate has another number of events than expected.
    #[error("append: the aggregate has {actual} events, another number was expected")]
    CountMismatch {
        /// How many distinct events it has.
        actual: u64,
    },
    /// The store failed or refused.
    #[error(transparent)]
    Store(#[from] Error),
}
