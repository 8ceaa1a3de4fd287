//! Leases of named groups.
use crate::{Fence, LeaseRef};
use foldwright_domain::Millis;

/// What became of a group that someone wants to hold.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Hold {
    /// It is held: nothing of it is handed out until the hold is settled or lapses.
    Granted {
        /// Its name and token. Settled with nothing done; jobs may follow.
        lease: LeaseRef,
        /// When it lapses unless it is extended.
        until: Millis,
        /// As in [`Lease::completed`](crate::Lease::completed).
        completed: Option<Fence>,
    },
    /// Someone else has it. It is reserved: its next turn is this holder's, until `until`. Ask again.
    Reserved {
        /// Until when the reservation stands.
        until: Millis,
    },
    /// A group before it, in order, is not free yet, or another holder has reserved it, or the grant of the call that
    /// this one repeats has lapsed. Ask again.
    Waiting,
}
