//! Whose room a staging takes.

/// On which account jobs are staged.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Room {
    /// A sender's. Refused with [`Kind::Full`](crate::Kind::Full) when a bound of [`QueueBounds`](crate::QueueBounds) is
    /// reached.
    Sender,
    /// Work that runs under a live lease. Never refused for a bound: a full queue could not empty itself otherwise.
    Lease,
}
