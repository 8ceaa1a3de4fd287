//! The leases that a worker holds.
use foldwright_ports::{Fence, JobId, Lease, LeaseRef, Route};
use std::{
    collections::BTreeMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

/// What the keeper extends while lanes work, and what is given back when they have to end.
#[derive(Default)]
pub(crate) struct LiveLeases(Mutex<BTreeMap<Fence, LiveLease>>);

/// A lease as those see it who do not run it.
#[derive(Clone)]
pub(super) struct LiveLease {
    pub(super) lease: LeaseRef,
    pub(super) attempt: u32,
    pub(super) jobs: Vec<JobId>,
    pub(super) route: Option<Route>,
}

impl LiveLeases {
    pub(super) fn add(&self, leases: &[Lease]) {
        self.lock().extend(leases.iter().map(|lease| {
            let live = LiveLease {
                lease: lease.reference(),
                attempt: lease.attempt,
                jobs: lease.jobs.iter().map(|job| job.id).collect(),
                route: lease.jobs.first().map(|job| job.route.clone()),
            };
            (lease.fence, live)
        }));
    }

    pub(super) fn remove(&self, fences: impl IntoIterator<Item = Fence>) -> BTreeMap<Fence, LiveLease> {
        let mut live = self.lock();
        fences
            .into_iter()
            .filter_map(|fence| live.remove(&fence).map(|lease| (fence, lease)))
            .collect()
    }

    /// All of them, in the order in which they were granted.
    pub(super) fn all(&self) -> Vec<LeaseRef> {
        self.lock().values().map(|live| live.lease.clone()).collect()
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<Fence, LiveLease>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
