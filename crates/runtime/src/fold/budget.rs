//! How much refolding is allowed on the delivery path.
use foldwright_domain::{Millis, TenantId};
use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// A refold reads a whole aggregate, so it is bounded: each tenant has its own share, which refills with time.
///
/// A batch over its tenant's share is deferred in order and spends no attempt; one refold over the share is always
/// admitted at a time, so that nothing waits for ever.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RefoldBudget {
    /// How many events a second one tenant's refolds may read; default 20,000.
    pub events_per_second: u64,
    /// How many events one tenant may save up; default 100,000.
    pub burst: u64,
    /// How long a batch over the share waits at least; default 500 ms.
    pub defer: Duration,
}

impl Default for RefoldBudget {
    fn default() -> Self {
        Self {
            events_per_second: 20_000,
            burst: 100_000,
            defer: Duration::from_millis(500),
        }
    }
}

impl RefoldBudget {
    /// Every value that cannot work.
    pub(crate) fn faults(&self) -> Vec<String> {
        let zero = [
            ("events_per_second", self.events_per_second == 0),
            ("burst", self.burst == 0),
            ("defer", self.defer.is_zero()),
        ];
        let zero = zero.into_iter().filter(|(_, is_zero)| *is_zero);
        zero.map(|(name, _)| format!("refold budget `{name}` must not be zero"))
            .collect()
    }
}

/// Admits refolds.
pub(crate) struct RefoldGate {
    budget: RefoldBudget,
    shares: Mutex<BTreeMap<TenantId, Share>>,
    over_budget: Arc<Semaphore>,
}

struct Share {
    left: u64,
    at: Millis,
}

/// Held while a refold runs.
pub(crate) enum Admission {
    WithinShare,
    OverShare { _permit: OwnedSemaphorePermit },
}

impl RefoldGate {
    pub(crate) fn new(budget: RefoldBudget) -> Self {
        Self {
            budget,
            shares: Mutex::default(),
            over_budget: Arc::new(Semaphore::new(1)),
        }
    }

    /// Admits a refold of about `events` events, or says how long its batch has to wait.
    pub(crate) fn admit(&self, tenant: &TenantId, events: u64, now: Millis) -> Result<Admission, Duration> {
        if self.take(tenant, events, now) {
            return Ok(Admission::WithinShare);
        }
        match self.over_budget.clone().try_acquire_owned() {
            Ok(permit) => Ok(Admission::OverShare { _permit: permit }),
            Err(_) => Err(self.budget.defer),
        }
    }

    fn take(&self, tenant: &TenantId, events: u64, now: Millis) -> bool {
        let mut shares = self.shares.lock().unwrap_or_else(PoisonError::into_inner);
        let budget = self.budget;
        // A share that is full again says nothing that a missing one does not: the map stays small.
        shares.retain(|_, share| share.refilled(budget, now) < budget.burst);
        let share = shares.entry(tenant.clone()).or_insert(Share {
            left: budget.burst,
            at: now,
        });
        *share = Share {
            left: share.refilled(budget, now),
            at: now,
        };
        match share.left.checked_sub(events) {
            Some(left) => {
                share.left = left;
                true
            }
            None => false,
        }
    }
}

impl Share {
    fn refilled(&self, budget: RefoldBudget, now: Millis) -> u64 {
        let millis = u64::try_from(now.since(self.at).as_millis()).unwrap_or(u64::MAX);
        let gained = budget.events_per_second.saturating_mul(millis) / 1_000;
        self.left.saturating_add(gained).min(budget.burst)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tenant(name: &str) -> TenantId {
        TenantId::parse(name).unwrap()
    }

    ///
    #[test]
    fn each_tenant_has_a_share_and_one_is_admitted_beyond_it() {
        let gate = RefoldGate::new(RefoldBudget {
            events_per_second: 10,
            burst: 100,
            defer: Duration::from_millis(7),
        });
        let now = Millis(0);
        assert!(matches!(
            gate.admit(&tenant("a"), 100, now),
            Ok(Admission::WithinShare)
        ));
        let over = gate.admit(&tenant("a"), 1, now);
        assert!(matches!(over, Ok(Admission::OverShare { .. })));
        assert!(matches!(gate.admit(&tenant("a"), 1, now), Err(wait) if wait == Duration::from_millis(7)));
        assert!(matches!(
            gate.admit(&tenant("b"), 100, now),
            Ok(Admission::WithinShare)
        ));
        drop(over);
        assert!(matches!(
            gate.admit(&tenant("a"), 1_000, now),
            Ok(Admission::OverShare { .. })
        ));
        assert!(matches!(
            gate.admit(&tenant("a"), 10, Millis(1_000)),
            Ok(Admission::WithinShare)
        ));
    }
}
