//! Routes that are closed because many groups failed in the same way.
use super::{State, no::No};
use foldwright_domain::{Millis, TenantId};
use foldwright_ports::{BreakerSettings, Closed, Fingerprint, Route};
use std::collections::{BTreeMap, BTreeSet};

type Key = (No<Route>, No<TenantId>);

/// The failures that count, by route and tenant, and what is closed for them.
#[derive(Default)]
pub(super) struct Breaker {
    troubles: BTreeMap<Key, foldwright_ports::Trouble>,
    /// Closed for one tenant, until when.
    shut: BTreeMap<Key, Millis>,
    /// Closed for everybody.
    whole: BTreeMap<No<Route>, Closed>,
    /// When each closing ends; those of everybody have no tenant.
    ends: BTreeSet<(Millis, No<Route>, Option<No<TenantId>>)>,
}

impl Breaker {
    pub(super) fn is_shut(&self, route: No<Route>, tenant: No<TenantId>) -> bool {
        !self.shut.is_empty() && self.shut.contains_key(&(route, tenant))
    }

    pub(super) fn is_shut_for_all(&self, route: No<Route>) -> bool {
        !self.whole.is_empty() && self.whole.contains_key(&route)
    }

    /// How a route is closed for a tenant.
    pub(super) fn closing(&self, now: Millis, route: No<Route>, tenant: No<TenantId>) -> Option<Closed> {
        self.troubles.get(&(route, tenant))?.closed_at(now)
    }

    /// How a route is closed for everybody.
    pub(super) fn whole(&self, route: No<Route>) -> Option<Closed> {
        self.whole.get(&route).copied()
    }

    /// When the next closing ends.
    pub(super) fn next_end(&self) -> Option<Millis> {
        self.ends.first().map(|(at, ..)| *at)
    }

    fn shut(&mut self, key: Key, until: Millis) {
        if let Some(before) = self.shut.insert(key, until) {
            self.ends.remove(&(before, key.0, Some(key.1)));
        }
        self.ends.insert((until, key.0, Some(key.1)));
    }

    /// A closing for one tenant may be one too many for the route.
    fn judge(&mut self, settings: &BreakerSettings, now: Millis, route: No<Route>, by: Fingerprint) {
        let tenants = (route, No::of(0))..=(route, No::LAST);
        let closed = self
            .troubles
            .range(tenants)
            .filter_map(|(_, trouble)| trouble.closed_at(now));
        let same: Vec<_> = closed.filter(|closed| closed.fingerprint == by).collect();
        let Some(last) = same.iter().map(|closed| closed.until).max() else {
            return;
        };
        if (same.len() as u64) < u64::from(settings.tenants) {
            return;
        }
        let before = self.whole.get(&route).copied();
        if before.is_some_and(|before| before.until >= last) {
            return;
        }
        if let Some(before) = before {
            self.ends.remove(&(before.until, route, None));
        }
        self.ends.insert((last, route, None));
        let closed = Closed {
            fingerprint: by,
            until: last,
        };
        self.whole.insert(route, closed);
    }
}

impl State {
    /// Counts a failed attempt of a group, and closes its route where that is one too many.
    pub(super) fn count_trouble(&mut self, route: No<Route>, tenant: No<TenantId>, group: u64, error: &str) {
        let settings = self.settings.breaker;
        if settings.groups == 0 {
            return;
        }
        let by = Fingerprint::of(error);
        let trouble = self.breaker.troubles.entry((route, tenant)).or_default();
        if let Some(closed) = trouble.fail(&settings, self.now, by, group) {
            self.breaker.shut((route, tenant), closed.until);
            self.breaker.judge(&settings, self.now, route, by);
            self.rank(tenant);
            self.news = true;
        }
    }

    /// Opens what was closed until now.
    pub(super) fn open_routes(&mut self) {
        while let Some((_, route, tenant)) =
            self.breaker.ends.first().copied().filter(|end| end.0 <= self.now)
        {
            self.breaker.ends.pop_first();
            match tenant {
                Some(tenant) => {
                    self.breaker.shut.remove(&(route, tenant));
                    self.rank(tenant);
                }
                None => {
                    self.breaker.whole.remove(&route);
                }
            }
            self.news = true;
        }
    }

    /// After the clock was set back, what had ended may stand again.
    pub(super) fn shut_again(&mut self) {
        let again: Vec<_> = self
            .breaker
            .troubles
            .iter()
            .filter_map(|(key, trouble)| Some((*key, trouble.closed_at(self.now)?.until)))
            .collect();
        for (key, until) in again {
            self.breaker.shut(key, until);
            self.rank(key.1);
        }
    }

    /// Forgets failures that do not matter any more.
    pub(super) fn forget_troubles(&mut self) {
        let (settings, now) = (self.settings.breaker, self.now);
        self.breaker
            .troubles
            .retain(|_, trouble| !trouble.is_over(&settings, now));
    }

    #[cfg(test)]
    pub(super) fn check_breaker(&self) {
        let mut ends = BTreeSet::new();
        for ((route, tenant), until) in &self.breaker.shut {
            ends.insert((*until, *route, Some(*tenant)));
        }
        for (key, trouble) in &self.breaker.troubles {
            let closed = trouble.closed_at(self.now).map(|closed| closed.until);
            assert_eq!(self.breaker.shut.get(key).copied(), closed, "closed as it says");
        }
        ends.extend(
            self.breaker
                .whole
                .iter()
                .map(|(route, closed)| (closed.until, *route, None)),
        );
        assert_eq!(self.breaker.ends, ends, "every closing ends");
        assert!(self.breaker.ends.iter().all(|end| end.0 > self.now));
    }
}
