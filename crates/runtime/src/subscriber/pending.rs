//! Subscriber jobs that are decided and not staged yet.
use super::SubscriberCounts;
use bytes::Bytes;
use serde::{Deserialize, Serialize};
use std::{
    ops::Deref,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

/// A decided subscriber job. Its context is the state of the same row.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct PendingJob {
    /// The subscriber's route.
    pub(crate) route: Arc<str>,
    /// The key of the group it runs in.
    pub(crate) group_key: Arc<str>,
    /// Whether and how that key merges jobs.
    pub(crate) merge: Merge,
    /// How long it waits, in ms. Where jobs merge also how long the window is; a throttled one does not wait.
    pub(crate) delay_ms: u64,
    /// The event it is about, in its stored form.
    pub(crate) event: Bytes,
}

/// How jobs of one key merge.
///
/// The first two are written as the `false` and `true` of the first version of the notes that hold them; those with a
/// later one need the second version.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) enum Merge {
    /// They do not.
    Never,
    /// Each one starts the window anew.
    Sliding,
    /// One run per window.
    Throttled,
}

impl PendingJob {
    /// Whether it merges with jobs of its key.
    pub(crate) fn merges(&self) -> bool {
        self.merge != Merge::Never
    }
}

/// The decided jobs of one write, on their way into the queue. Each is counted as staged or, where it is dropped before
/// that, as failed: it is decided again with the next attempt then.
#[derive(Debug, Default)]
pub(crate) struct Pending {
    jobs: Vec<PendingJob>,
    /// The counts of those that this write decided, and not an earlier one.
    fresh: Vec<Arc<SubscriberCounts>>,
    staged: AtomicBool,
}

impl Pending {
    pub(crate) fn new(jobs: Vec<PendingJob>, fresh: Vec<Arc<SubscriberCounts>>) -> Self {
        Self {
            jobs,
            fresh,
            staged: AtomicBool::new(false),
        }
    }

    /// Notes that the jobs are in a settlement.
    pub(crate) fn staged(&self) {
        if !self.staged.swap(true, Ordering::Relaxed) {
            for counts in &self.fresh {
                counts.staged.add(1);
            }
        }
    }
}

impl Deref for Pending {
    type Target = [PendingJob];

    fn deref(&self) -> &[PendingJob] {
        &self.jobs
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        if !*self.staged.get_mut() {
            for counts in &self.fresh {
                counts.failed.add(1);
            }
        }
    }
}
