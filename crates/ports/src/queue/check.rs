//! Proving a live queue right.
use crate::{Cursor, GroupId, Route};
use foldwright_domain::TenantId;

/// What a page of the check found.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Checked {
    /// How many groups it looked at.
    pub groups: u64,
    /// What was wrong. What is provably stray was put right: an index that is derived from the jobs follows them again.
    pub violations: Vec<Violation>,
    /// Where to go on; `None` is the end.
    pub next: Option<Cursor>,
}

/// Something that cannot be.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Violation {
    /// Where.
    pub group: Option<GroupId>,
    /// What.
    pub what: String,
    /// Whether it was put right.
    pub repaired: bool,
}

/// A figure that differed from what it counts. It was put right.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Drift {
    /// Which figure.
    pub figure: Figure,
    /// What it said.
    pub was: i64,
    /// What there is.
    pub is: i64,
}

/// A figure that is kept apart from what it counts.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Figure {
    /// Waiting jobs of a route.
    Waiting(Route),
    /// Leased jobs of a route.
    Leased(Route),
    /// Blocked jobs of a route.
    Blocked(Route),
    /// Dead letters of a route.
    Dead(Route),
    /// A tenant's groups in flight.
    InFlight(TenantId),
    /// A tenant's jobs: waiting, leased or blocked.
    Jobs(TenantId),
    /// The stored bytes they carry.
    Bytes(TenantId),
}
