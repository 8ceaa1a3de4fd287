//! The group queue.
//!
//! ```text
//!  fw_slots ◄── slot ── fw_groups ◄── gid ── fw_jobs ◄── seq ── fw_dead, fw_holds
//!  what a worker        a lease, a block     waiting, leased, blocked or dead
//!  must know            or a place in line
//! ```
//!
//! A group that may be handed out stands in the line of one slot, ordered by when its first due job came due; a claim
//! reads the heads of the lines that its worker can serve. What changes with time alone (a wait ends, a delayed job
//! comes due ahead of others) is noted as an instant at which the group's place is worked out again.
mod admin;
mod answers;
mod bounds;
mod check;
mod claim;
mod counters;
mod dead;
mod dedup;
mod fair;
mod first;
#[cfg(any(test, feature = "fuzzing"))]
mod fuzzing;
mod gates;
mod grants;
mod group;
mod group_row;
mod groups;
mod hold;
mod holds;
mod jobs;
mod limits;
mod line;
mod lines;
mod listing;
mod mend;
mod nonces;
mod numbers;
mod operator;
mod outcome;
mod pauses;
mod poison;
mod port;
mod reap;
mod record;
mod recount;
mod settle;
mod since;
mod slots;
mod stage;
mod state;
mod sweep;
mod tenants;
mod troubles;
mod wait;
mod why;
mod work;
mod workers;

#[cfg(test)]
pub(crate) use fuzzing::samples as fuzzing_samples;
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) use fuzzing::{columns as fuzzing, group as fuzzing_group};
pub(crate) use slots::Slots;

use crate::store::Store;
use std::sync::Arc;

/// Both sides of the queue in one file.
pub(crate) struct SqliteQueue {
    store: Arc<Store>,
}

impl SqliteQueue {
    pub(crate) fn new(store: Arc<Store>) -> Self {
        Self { store }
    }
}
