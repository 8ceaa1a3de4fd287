//! What the kernel counts about itself.
use std::sync::atomic::{AtomicU64, Ordering};

/// A number that only grows.
#[derive(Debug, Default)]
pub struct Counter(AtomicU64);

impl Counter {
    /// Counts `n` more.
    pub(crate) fn add(&self, n: u64) {
        self.0.fetch_add(n, Ordering::Relaxed);
    }

    /// The count since the kernel was started.
    #[must_use]
    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// Counts of one kernel since it was started. Every path on which work is declined, deferred, lost to fencing or
/// swallowed has one.
#[derive(Debug, Default)]
pub struct Counters {
    /// Events that were new to the log.
    pub events_fresh: Counter,
    /// Events that were in the log already.
    pub events_duplicate: Counter,
    /// Events whose identity was in the log with another content.
    pub events_conflicting: Counter,
    /// Commands that their handler refused.
    pub rejected: Counter,
    /// Jobs that were completed.
    pub jobs_completed: Counter,
    /// Leases whose outcome was refused because the token was not the live one.
    pub leases_lost: Counter,
    /// Leases that were given back because a row is newer than this worker.
    pub released: Counter,
    /// Fold rows that were refused because a higher revision stood.
    pub superseded: Counter,
    /// Refolds.
    pub refolds: Counter,
    /// Batches that were deferred because a refold was over its budget.
    pub deferred: Counter,
    /// Leases of subscribers that were deferred because their tenant has too many slow runs.
    pub effects_deferred: Counter,
    /// Leases that were given back when the worker was stopped before it was done.
    pub leases_given_back: Counter,
    /// Invariants of the queue that the continuous check found broken.
    pub violations: Counter,
    /// Figures of the queue that differed from what they count, and were put right.
    pub drifts: Counter,
    /// Late events that were folded within the reorder window, without reading the log.
    pub reordered: Counter,
    /// Subscriber runs that were decided.
    pub runs_decided: Counter,
    /// Events that a subscriber did not want.
    pub runs_declined: Counter,
    /// Guards that panicked, which means yes, and key rules that gave no key, which means the default.
    pub guards_failed: Counter,
    /// `after_store` hooks that panicked.
    pub hooks_swallowed: Counter,
    /// Job bodies that were gone and were rebuilt from the log.
    pub bodies_missing: Counter,
    /// Subscriber runs that saw the current state, because their own was gone or not readable by this build.
    pub states_missing: Counter,
}
