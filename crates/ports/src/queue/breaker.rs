//! Telling an outage from poison.
use crate::Fingerprint;
use foldwright_domain::Millis;
use serde::{Deserialize, Serialize};
use std::{collections::BTreeSet, time::Duration};

/// When failures of many groups close a route for a while.
///
/// One error over many groups within a minute is an outage of something they share. Handing out the rest would only burn
/// their attempts, so the route is closed for that tenant; for everybody when several tenants meet it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BreakerSettings {
    /// How many groups of one tenant and route must fail with one fingerprint; default 20, 0 switches the breaker off.
    pub groups: u32,
    /// Within which time; default 60 s.
    pub window: Duration,
    /// For how many tenants a route must be closed by one fingerprint to be closed for all; default 3.
    pub tenants: u32,
    /// How long the first closing lasts; each further one twice as long. Default 5 s.
    pub first: Duration,
    /// The longest closing; default 5 min.
    pub longest: Duration,
}

impl Default for BreakerSettings {
    fn default() -> Self {
        Self {
            groups: 20,
            window: Duration::from_secs(60),
            tenants: 3,
            first: Duration::from_secs(5),
            longest: Duration::from_secs(300),
        }
    }
}

/// The failures of one route for one tenant, as far as the breaker counts them. A value: stores keep it as they like.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Trouble {
    tallies: Vec<Tally>,
    /// Closings in a row.
    trips: u32,
    closed: Option<Closed>,
}

/// Why and until when a route is closed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Closed {
    /// What the failures had in common.
    pub fingerprint: Fingerprint,
    /// Until when nothing is handed out.
    pub until: Millis,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
struct Tally {
    fingerprint: Fingerprint,
    since: Millis,
    groups: BTreeSet<u64>,
}

/// How many different errors are told apart at one time; the one that began first makes room.
const TALLIES: usize = 4;

impl Trouble {
    /// A group failed. Answers how the route is closed if this closes it now.
    pub fn fail(
        &mut self,
        settings: &BreakerSettings,
        now: Millis,
        fingerprint: Fingerprint,
        group: u64,
    ) -> Option<Closed> {
        if settings.groups == 0 || self.closed_at(now).is_some() {
            // What was in flight when it closed tells nothing new.
            return None;
        }
        self.tallies
            .retain(|tally| tally.since.plus(settings.window) > now);
        let place = match self.tallies.iter().position(|t| t.fingerprint == fingerprint) {
            Some(place) => place,
            None => {
                if self.tallies.len() == TALLIES {
                    self.tallies.remove(0);
                }
                self.tallies.push(Tally {
                    fingerprint,
                    since: now,
                    groups: BTreeSet::new(),
                });
                self.tallies.len() - 1
            }
        };
        let tally = self.tallies.get_mut(place)?;
        tally.groups.insert(group);
        if (tally.groups.len() as u64) < u64::from(settings.groups) {
            return None;
        }
        self.tallies.clear();
        let calm = self
            .closed
            .is_none_or(|closed| now >= closed.until.plus(settings.window));
        self.trips = if calm { 1 } else { self.trips.saturating_add(1) };
        let doubled = 1_u32
            .checked_shl(self.trips.saturating_sub(1))
            .unwrap_or(u32::MAX);
        let wait = settings.first.saturating_mul(doubled).min(settings.longest);
        let closed = Closed {
            fingerprint,
            until: now.plus(wait),
        };
        self.closed = Some(closed);
        Some(closed)
    }

    /// How the route is closed at this instant, if it is.
    #[must_use]
    pub fn closed_at(&self, now: Millis) -> Option<Closed> {
        self.closed.filter(|closed| closed.until > now)
    }

    /// Whether nothing of it matters any more, so that a store can forget it.
    #[must_use]
    pub fn is_over(&self, settings: &BreakerSettings, now: Millis) -> bool {
        let calm = |since: Millis| since.plus(settings.window) <= now;
        self.tallies.iter().all(|tally| calm(tally.since)) && self.closed.is_none_or(|c| calm(c.until))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ERROR: Fingerprint = Fingerprint(7);

    fn settings() -> BreakerSettings {
        BreakerSettings {
            groups: 3,
            ..BreakerSettings::default()
        }
    }

    fn fail_all(trouble: &mut Trouble, now: Millis) -> Vec<bool> {
        (0..3)
            .map(|group| trouble.fail(&settings(), now, ERROR, group).is_some())
            .collect()
    }

    #[test]
    fn many_groups_with_one_error_close_the_route_and_each_time_for_longer() {
        let mut trouble = Trouble::default();
        assert_eq!(fail_all(&mut trouble, Millis(0)), [false, false, true]);
        let first = trouble.closed_at(Millis(0)).unwrap();
        assert_eq!(first.until, Millis(5_000));
        assert_eq!(trouble.fail(&settings(), Millis(100), ERROR, 9), None);
        assert_eq!(trouble.closed_at(Millis(5_000)), None);
        assert_eq!(fail_all(&mut trouble, Millis(5_000)), [false, false, true]);
        assert_eq!(trouble.closed_at(Millis(5_000)).unwrap().until, Millis(15_000));
        assert!(!trouble.is_over(&settings(), Millis(74_999)));
        assert!(trouble.is_over(&settings(), Millis(75_000)));
        assert_eq!(fail_all(&mut trouble, Millis(75_000)), [false, false, true]);
        assert_eq!(trouble.closed_at(Millis(75_000)).unwrap().until, Millis(80_000));
    }

    #[test]
    fn one_group_or_many_errors_close_nothing() {
        let mut trouble = Trouble::default();
        for n in 0..100 {
            assert_eq!(trouble.fail(&settings(), Millis(n), ERROR, 1), None);
            assert_eq!(
                trouble.fail(&settings(), Millis(n), Fingerprint(n as u64 + 100), n as u64),
                None
            );
        }
        let mut slow = Trouble::default();
        for n in 0..100 {
            assert_eq!(slow.fail(&settings(), Millis(n * 31_000), ERROR, n as u64), None);
        }
        let off = BreakerSettings {
            groups: 0,
            ..settings()
        };
        let mut none = Trouble::default();
        for group in 0..100 {
            assert_eq!(none.fail(&off, Millis(0), ERROR, group), None);
        }
    }
}
