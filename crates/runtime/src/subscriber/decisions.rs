//! Subscriber jobs that a write decides.
use super::{Decides, PendingJob};
use bytes::Bytes;
use foldwright_domain::{Position, Recorded};
use std::sync::Arc;

/// Collects the decisions of one write; jobs that merge collapse to the canonically last.
pub(crate) struct Decisions<'a, E, S> {
    subscribers: &'a [Arc<dyn Decides<E, S>>],
    /// The projection's own key: what jobs merge by unless the subscriber says otherwise.
    key: &'a str,
    decided: Vec<(Position, PendingJob)>,
}

impl<'a, E: 'static, S: 'static> Decisions<'a, E, S> {
    pub(crate) fn new(subscribers: &'a [Arc<dyn Decides<E, S>>], key: &'a str) -> Self {
        Self {
            subscribers,
            key,
            decided: Vec::new(),
        }
    }

    /// The same subscribers with no decision taken yet.
    pub(crate) fn fork(&self) -> Self {
        Self::new(self.subscribers, self.key)
    }

    /// Takes over the decisions of `other`.
    pub(crate) fn join(&mut self, other: Self) {
        self.carry(other.decided);
    }

    /// Takes over decisions of an earlier write that were never staged.
    pub(crate) fn carry(&mut self, decided: impl IntoIterator<Item = (Position, PendingJob)>) {
        for (position, job) in decided {
            self.add(position, job);
        }
    }

    /// Asks every subscriber about one event and the state after it.
    pub(crate) fn decide(&mut self, event: &Recorded<E>, state: &S, stored: impl Fn() -> Bytes) {
        for subscriber in self.subscribers {
            if let Some(target) = subscriber.decide(event, state, self.key) {
                let job = PendingJob {
                    route: subscriber.route().as_str().into(),
                    group_key: target.group_key,
                    merges: target.merges,
                    delay_ms: target.delay_ms,
                    event: stored(),
                };
                self.add(event.meta.position(), job);
            }
        }
    }

    /// The decided jobs in canonical order.
    pub(crate) fn into_pending(mut self) -> Vec<PendingJob> {
        self.decided.sort_by_key(|(position, _)| *position);
        self.decided.into_iter().map(|(_, job)| job).collect()
    }

    fn add(&mut self, position: Position, job: PendingJob) {
        let merges_with = |(_, other): &&mut (Position, PendingJob)| {
            other.merges && other.route == job.route && other.group_key == job.group_key
        };
        let merged = if job.merges {
            self.decided.iter_mut().find(merges_with)
        } else {
            None
        };
        match merged {
            Some(known) if known.0 < position => *known = (position, job),
            Some(_) => {}
            None => self.decided.push((position, job)),
        }
    }
}
