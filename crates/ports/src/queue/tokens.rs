//! Numbers that order and name calls.
use serde::{Deserialize, Serialize};

/// A fencing token: strictly increasing over all leases of one store, `max(store time in µs, last + 1)`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Fence(pub u64);

/// Names one mutating call, so that a repeat after a lost reply gets the first answer. Kept for ten minutes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Nonce(pub u128);

/// One incarnation of a worker; never a configured name.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct WorkerId(pub u128);
