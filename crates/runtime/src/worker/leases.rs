//! The leases that a worker holds.
use foldwright_ports::{Fence, Lease, LeaseRef};
use std::{
    collections::BTreeMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

/// What the keeper extends while lanes work.
#[derive(Default)]
pub(crate) struct LiveLeases(Mutex<BTreeMap<Fence, LeaseRef>>);

impl LiveLeases {
    pub(crate) fn add(&self, leases: &[Lease]) {
        self.lock()
            .extend(leases.iter().map(|lease| (lease.fence, lease.reference())));
    }

    pub(crate) fn remove(&self, fences: impl IntoIterator<Item = Fence>) {
        let mut live = self.lock();
        for fence in fences {
            live.remove(&fence);
        }
    }

    pub(crate) fn all(&self) -> Vec<LeaseRef> {
        self.lock().values().cloned().collect()
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<Fence, LeaseRef>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
