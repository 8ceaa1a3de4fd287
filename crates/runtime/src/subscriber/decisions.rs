//! Subscriber jobs that a write decides.
use super::{Decides, PendingJob};
use bytes::Bytes;
use foldwright_domain::Recorded;
use std::sync::Arc;

/// Collects the decisions of one write, in canonical order; jobs that merge collapse to the canonically last.
pub(crate) struct Decisions<'a, E, S> {
    subscribers: &'a [Arc<dyn Decides<E, S>>],
    /// The projection's own key: what jobs merge by unless the subscriber says otherwise.
    key: &'a str,
    pending: Vec<PendingJob>,
}

impl<'a, E: 'static, S: 'static> Decisions<'a, E, S> {
    pub(crate) fn new(subscribers: &'a [Arc<dyn Decides<E, S>>], key: &'a str) -> Self {
        Self { subscribers, key, pending: Vec::new() }
    }

    /// The same subscribers with no decision taken yet.
    pub(crate) fn fork(&self) -> Self {
        Self { subscribers: self.subscribers, key: self.key, pending: Vec::new() }
    }

    /// Adds the decisions of `other`, which are canonically later or of other events.
    pub(crate) fn join(&mut self, other: Self) {
        for job in other.pending {
            self.add(job);
        }
    }

    /// Asks every subscriber about one event and the state after it.
    pub(crate) fn decide(&mut self, event: &Recorded<E>, state: &S, stored: impl Fn() -> Bytes) {
        for subscriber in self.subscribers {
            if let Some(target) = subscriber.decide(event, state, self.key) {
                self.add(PendingJob {
                    route: subscriber.route().as_str().into(),
                    group_key: target.group_key,
                    merges: target.merges,
                    delay_ms: target.delay_ms,
                    event: stored(),
                });
            }
        }
    }

    /// Takes over decisions of an earlier write that were never staged.
    pub(crate) fn carry(&mut self, earlier: Vec<PendingJob>) {
        let later = std::mem::replace(&mut self.pending, earlier);
        for job in later {
            self.add(job);
        }
    }

    pub(crate) fn into_pending(self) -> Vec<PendingJob> {
        self.pending
    }

    fn add(&mut self, job: PendingJob) {
        let merges_with = |other: &PendingJob| {
            other.merges && other.route == job.route && other.group_key == job.group_key
        };
        if job.merges {
            self.pending.retain(|other| !merges_with(other));
        }
        self.pending.push(job);
    }
}
