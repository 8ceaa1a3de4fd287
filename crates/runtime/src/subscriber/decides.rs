//! Whether a subscriber runs for an event, and in which group.
use super::Subscriber;
use crate::counters::Counters;
use foldwright_domain::{Dispatch, Recorded};
use foldwright_ports::{GroupId, Route};
use std::{
    marker::PhantomData,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
};

/// Where a run goes.
pub(crate) struct Target {
    pub(crate) group_key: Arc<str>,
    pub(crate) merges: bool,
    pub(crate) delay_ms: u64,
}

/// The guard of one subscriber, as its projection sees it.
pub(crate) trait Decides<E, S>: Send + Sync + 'static {
    fn route(&self) -> &Route;
    /// `own_key` is the projection's key. `None`: it does not want the event.
    fn decide(&self, event: &Recorded<E>, state: &S, own_key: &str) -> Option<Target>;
}

/// Asks a subscriber's own rules, failing open.
pub(crate) struct Guarded<X> {
    pub(crate) route: Route,
    pub(crate) dispatch: Dispatch,
    pub(crate) counters: Arc<Counters>,
    pub(crate) _subscriber: PhantomData<fn() -> X>,
}

impl<X: Subscriber> Decides<X::On, X::State> for Guarded<X> {
    fn route(&self) -> &Route {
        &self.route
    }

    fn decide(&self, event: &Recorded<X::On>, state: &X::State, own_key: &str) -> Option<Target> {
        let wanted = catch_unwind(AssertUnwindSafe(|| X::when(event, state))).unwrap_or_else(|cause| {
            self.counters.guards_failed.add(1);
            tracing::warn!(
                route = %self.route,
                message = crate::catch::panic_message(&*cause),
                "`when` panicked, which means yes"
            );
            true
        });
        if !wanted {
            self.counters.runs_declined.add(1);
            return None;
        }
        self.counters.runs_decided.add(1);
        Some(match self.dispatch {
            Dispatch::Debounce { quiet } => Target {
                group_key: chosen(|| X::dedup_id(event), || own_key.to_owned()),
                merges: true,
                delay_ms: millis(quiet),
            },
            Dispatch::Each { delay } => Target {
                group_key: chosen(|| X::group_key(event), || event.meta.id.to_string()),
                merges: false,
                delay_ms: millis(delay),
            },
        })
    }
}

/// The user's key unless there is none, it panics, or it is no key.
fn chosen(rule: impl Fn() -> Option<String>, default: impl Fn() -> String) -> Arc<str> {
    let key = catch_unwind(AssertUnwindSafe(rule)).ok().flatten();
    key.filter(|key| (1..=GroupId::MAX_KEY_BYTES).contains(&key.len())).unwrap_or_else(default).into()
}

fn millis(duration: std::time::Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
