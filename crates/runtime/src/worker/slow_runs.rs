//! Effects that run for long, by tenant.
use foldwright_domain::TenantId;
use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

/// How many slow runs a worker has beside its lanes at most, over all tenants.
const MOST: usize = 1_024;

/// Counts the runs that no longer hold their lane, so that no tenant has more of them than its share.
pub(super) struct SlowRuns {
    per_tenant: usize,
    running: Mutex<BTreeMap<TenantId, usize>>,
}

/// A slow run; it ends when this is dropped.
pub(super) struct SlowRun {
    runs: Arc<SlowRuns>,
    tenant: TenantId,
}

impl SlowRuns {
    pub(super) fn new(per_tenant: usize) -> Self {
        Self {
            per_tenant,
            running: Mutex::default(),
        }
    }

    /// Whether the tenant has to wait until one of its slow runs ends.
    pub(super) fn is_at_limit(&self, tenant: &TenantId) -> bool {
        self.lock()
            .get(tenant)
            .is_some_and(|runs| *runs >= self.per_tenant)
    }

    /// Takes a run out of its lane, if there is room beside the lanes.
    pub(super) fn begin(self: &Arc<Self>, tenant: &TenantId) -> Option<SlowRun> {
        let mut running = self.lock();
        if running.values().sum::<usize>() >= MOST {
            return None;
        }
        let of_tenant = running.entry(tenant.clone()).or_default();
        // What had begun in the lanes before the limit was reached may leave them too, so that they become free.
        if *of_tenant >= self.per_tenant * 2 {
            return None;
        }
        *of_tenant += 1;
        Some(SlowRun {
            runs: self.clone(),
            tenant: tenant.clone(),
        })
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<TenantId, usize>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for SlowRun {
    fn drop(&mut self) {
        let mut running = self.runs.lock();
        if let Some(runs) = running.get_mut(&self.tenant) {
            *runs -= 1;
            if *runs == 0 {
                running.remove(&self.tenant);
            }
        }
    }
}
