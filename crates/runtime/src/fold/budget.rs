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
    /// When the next refold over a share may begin, so that one after the other is no flood either.
    next_over: Mutex<Millis>,
}

struct Share {
    /// Below zero where refolds read more than was expected of them.
    left: i64,
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
            next_over: Mutex::new(Millis(i64::MIN)),
        }
    }

    /// Admits a refold of about `events` events, or says how long its batch has to wait.
    pub(crate) fn admit(&self, tenant: &TenantId, events: u64, now: Millis) -> Result<Admission, Duration> {
        if self.take(tenant, events, now) {
            return Ok(Admission::WithinShare);
        }
        let Ok(permit) = self.over_budget.clone().try_acquire_owned() else {
            return Err(self.budget.defer);
        };
        let mut next = self.next_over.lock().unwrap_or_else(PoisonError::into_inner);
        // A clock that was set back must not keep everyone out.
        if now < *next && next.since(now) <= self.budget.defer {
            return Err(self.budget.defer);
        }
        *next = now.plus(self.budget.defer);
        Ok(Admission::OverShare { _permit: permit })
    }

    /// Charges what a refold read beyond the estimate that it was admitted for. A keyed fold finds its events among
    /// those of a whole window, so only reading tells.
    pub(crate) fn charge(&self, tenant: &TenantId, events: u64, now: Millis) {
        self.with_share(tenant, now, |share| {
            share.left = share.left.saturating_sub(signed(events));
        });
    }

    fn take(&self, tenant: &TenantId, events: u64, now: Millis) -> bool {
        self.with_share(tenant, now, |share| {
            let left = share.left.saturating_sub(signed(events));
            if left >= 0 {
                share.left = left;
            }
            left >= 0
        })
    }

    fn with_share<T>(&self, tenant: &TenantId, now: Millis, use_it: impl FnOnce(&mut Share) -> T) -> T {
        let mut shares = self.shares.lock().unwrap_or_else(PoisonError::into_inner);
        let budget = self.budget;
        shares.values_mut().for_each(|share| share.refill(budget, now));
        // A share that is full again says nothing that a missing one does not: the map stays small.
        shares.retain(|_, share| share.left < signed(budget.burst));
        use_it(
            shares
                .entry(tenant.clone())
                .or_insert_with(|| Share::full(budget, now)),
        )
    }
}

fn signed(events: u64) -> i64 {
    i64::try_from(events).unwrap_or(i64::MAX)
}

impl Share {
    fn full(budget: RefoldBudget, now: Millis) -> Self {
        Self {
            left: signed(budget.burst),
            at: now,
        }
    }

    /// Adds what time has brought. Less than a whole event stays in the time, so that frequent looks lose nothing.
    fn refill(&mut self, budget: RefoldBudget, now: Millis) {
        let millis = u64::try_from(now.since(self.at).as_millis()).unwrap_or(u64::MAX);
        let gained = budget.events_per_second.saturating_mul(millis) / 1_000;
        if gained > 0 || now < self.at {
            self.left = self.left.saturating_add(signed(gained)).min(signed(budget.burst));
            self.at = now;
        }
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
        assert!(
            gate.admit(&tenant("a"), 1_000, Millis(6)).is_err(),
            "one right after the other is a flood"
        );
        assert!(matches!(
            gate.admit(&tenant("a"), 1_000, Millis(7)),
            Ok(Admission::OverShare { .. })
        ));
        assert!(matches!(
            gate.admit(&tenant("a"), 10, Millis(1_000)),
            Ok(Admission::WithinShare)
        ));
    }

    /// a keyed fold that reads a whole window for a few events pays for the window.
    #[test]
    fn what_was_read_beyond_the_estimate_is_paid_for() {
        let gate = RefoldGate::new(RefoldBudget {
            events_per_second: 1_000,
            burst: 100,
            defer: Duration::from_millis(7),
        });
        assert!(matches!(
            gate.admit(&tenant("a"), 1, Millis(0)),
            Ok(Admission::WithinShare)
        ));
        gate.charge(&tenant("a"), 1_099, Millis(0));
        assert!(!gate.take(&tenant("a"), 1, Millis(999)));
        assert!(gate.take(&tenant("a"), 1, Millis(1_001)));
        assert!(gate.take(&tenant("b"), 100, Millis(0)));
    }
}
