//! Whether a subscriber runs for an event, and in which group.
use super::{Merge, Subscriber, SubscriberCounts, Switched};
use crate::{catch::caught, counters::Counters};
use foldwright_domain::{Dispatch, Recorded};
use foldwright_ports::{GroupId, Route};
use std::{marker::PhantomData, sync::Arc};

/// Where a run goes.
pub(crate) struct Target {
    pub(crate) group_key: Arc<str>,
    pub(crate) merge: Merge,
    pub(crate) delay_ms: u64,
}

/// What a subscriber says to an event.
pub(crate) enum Asked {
    Wanted(Target),
    Declined,
    SwitchedOff,
}

/// The guard of one subscriber, as its projection sees it.
pub(crate) trait Decides<E, S>: Send + Sync + 'static {
    fn route(&self) -> &Route;
    fn counts(&self) -> &Arc<SubscriberCounts>;
    /// `own_key` is the projection's key.
    fn ask(&self, event: &Recorded<E>, state: &S, own_key: &str) -> Asked;
}

/// Asks a subscriber's own rules, failing open.
pub(crate) struct Guarded<X> {
    pub(crate) route: Route,
    pub(crate) dispatch: Dispatch,
    pub(crate) counters: Arc<Counters>,
    pub(crate) counts: Arc<SubscriberCounts>,
    pub(crate) switch: Switched,
    pub(crate) _subscriber: PhantomData<fn() -> X>,
}

impl<X: Subscriber> Decides<X::On, X::State> for Guarded<X> {
    fn route(&self) -> &Route {
        &self.route
    }

    fn counts(&self) -> &Arc<SubscriberCounts> {
        &self.counts
    }

    fn ask(&self, event: &Recorded<X::On>, state: &X::State, own_key: &str) -> Asked {
        if event.meta.id.is_migrated() {
            self.counters.runs_migrated.add(1);
            return Asked::Declined;
        }
        if self.switch.is_off(&event.meta.stream.tenant) {
            return Asked::SwitchedOff;
        }
        let wanted = caught(|| X::when(event, state)).unwrap_or_else(|message| {
            self.counters.guards_failed.add(1);
            tracing::warn!(route = %self.route, message, "`when` panicked, which means yes");
            true
        });
        if !wanted {
            self.counters.runs_declined.add(1);
            return Asked::Declined;
        }
        self.counters.runs_decided.add(1);
        let merged = |merge, time| Target {
            group_key: self.chosen(|| X::dedup_id(event), || own_key.to_owned()),
            merge,
            delay_ms: millis(time),
        };
        Asked::Wanted(match self.dispatch {
            Dispatch::Debounce { quiet } => merged(Merge::Sliding, quiet),
            Dispatch::Throttle { window } => merged(Merge::Throttled, window),
            Dispatch::Each { delay } => Target {
                group_key: self.chosen(|| X::group_key(event), || event.meta.id.to_string()),
                merge: Merge::Never,
                delay_ms: millis(delay),
            },
        })
    }
}

impl<X: Subscriber> Guarded<X> {
    /// The user's key, or the default where there is none. A rule that panics, or gives what is no key, is counted and
    /// means the default.
    fn chosen(&self, rule: impl FnOnce() -> Option<String>, default: impl FnOnce() -> String) -> Arc<str> {
        let fault = match caught(rule) {
            Ok(None) => return default().into(),
            Ok(Some(key)) if (1..=GroupId::MAX_KEY_BYTES).contains(&key.len()) => return key.into(),
            Ok(Some(key)) => format!(
                "a key has 1-{} bytes, this one {}",
                GroupId::MAX_KEY_BYTES,
                key.len()
            ),
            Err(message) => message,
        };
        self.counters.guards_failed.add(1);
        tracing::warn!(route = %self.route, fault, "the subscriber gave no key, it runs under the default one");
        default().into()
    }
}

fn millis(duration: std::time::Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
