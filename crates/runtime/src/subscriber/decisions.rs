//! Subscriber jobs that a write decides.
use super::{Asked, Decides, Pending, PendingJob, SubscriberCounts};
use bytes::Bytes;
use foldwright_domain::{Position, Recorded};
use std::sync::Arc;

/// Collects the decisions of one write; jobs that merge collapse to the canonically last.
pub(crate) struct Decisions<'a, E, S> {
    subscribers: &'a [Arc<dyn Decides<E, S>>],
    /// The projection's own key: what jobs merge by unless the subscriber says otherwise.
    key: &'a str,
    decided: Vec<Decided>,
    /// What is counted once the write goes ahead, by subscriber. An attempt that fails before that was none.
    tallies: Vec<Tally>,
}

struct Decided {
    position: Position,
    job: PendingJob,
    /// The subscriber, where this write decided the job and not an earlier one.
    fresh: Option<usize>,
}

#[derive(Clone, Copy, Default)]
struct Tally {
    routed: u64,
    declined: u64,
    switched_off: u64,
    collapsed: u64,
}

impl<'a, E: 'static, S: 'static> Decisions<'a, E, S> {
    pub(crate) fn new(subscribers: &'a [Arc<dyn Decides<E, S>>], key: &'a str) -> Self {
        Self {
            subscribers,
            key,
            decided: Vec::new(),
            tallies: vec![Tally::default(); subscribers.len()],
        }
    }

    /// The same subscribers with no decision taken yet.
    pub(crate) fn fork(&self) -> Self {
        Self::new(self.subscribers, self.key)
    }

    /// Takes over the decisions of `other`.
    pub(crate) fn join(&mut self, other: Self) {
        for (tally, more) in self.tallies.iter_mut().zip(other.tallies) {
            tally.routed += more.routed;
            tally.declined += more.declined;
            tally.switched_off += more.switched_off;
            tally.collapsed += more.collapsed;
        }
        for decided in other.decided {
            self.add(decided);
        }
    }

    /// Takes over decisions of an earlier write that were never staged.
    pub(crate) fn carry(&mut self, decided: impl IntoIterator<Item = (Position, PendingJob)>) {
        for (position, job) in decided {
            self.add(Decided {
                position,
                job,
                fresh: None,
            });
        }
    }

    /// Asks every subscriber about one event and the state after it.
    pub(crate) fn decide(&mut self, event: &Recorded<E>, state: &S, stored: impl Fn() -> Bytes) {
        let subscribers = self.subscribers;
        for (at, subscriber) in subscribers.iter().enumerate() {
            let asked = subscriber.ask(event, state, self.key);
            if let Some(tally) = self.tallies.get_mut(at) {
                tally.routed += 1;
                tally.declined += u64::from(!matches!(asked, Asked::Wanted(_)));
                tally.switched_off += u64::from(matches!(asked, Asked::SwitchedOff));
            }
            if let Asked::Wanted(target) = asked {
                let job = PendingJob {
                    route: subscriber.route().as_str().into(),
                    group_key: target.group_key,
                    merge: target.merge,
                    delay_ms: target.delay_ms,
                    event: stored(),
                };
                self.add(Decided {
                    position: event.meta.position(),
                    job,
                    fresh: Some(at),
                });
            }
        }
    }

    /// The decided jobs in canonical order. What was decided counts from here on.
    pub(crate) fn into_pending(mut self) -> Pending {
        let counts: Vec<&Arc<SubscriberCounts>> = self.subscribers.iter().map(|s| s.counts()).collect();
        for (counts, tally) in counts.iter().zip(&self.tallies) {
            counts.routed.add(tally.routed);
            counts.declined.add(tally.declined);
            counts.switched_off.add(tally.switched_off);
            counts.collapsed.add(tally.collapsed);
        }
        self.decided.sort_by_key(|decided| decided.position);
        let fresh = self.decided.iter().filter_map(|decided| decided.fresh);
        let fresh = fresh.filter_map(|at| counts.get(at).map(|counts| (*counts).clone()));
        let fresh = fresh.collect();
        Pending::new(
            self.decided.into_iter().map(|decided| decided.job).collect(),
            fresh,
        )
    }

    fn add(&mut self, new: Decided) {
        let merges_with = |other: &&mut Decided| {
            other.job.merges() && other.job.route == new.job.route && other.job.group_key == new.job.group_key
        };
        let merged = if new.job.merges() {
            self.decided.iter_mut().find(merges_with)
        } else {
            None
        };
        let Some(known) = merged else {
            self.decided.push(new);
            return;
        };
        if let (Some(_), Some(at)) = (known.fresh, new.fresh)
            && let Some(tally) = self.tallies.get_mut(at)
        {
            tally.collapsed += 1;
        }
        let fresh = known.fresh.or(new.fresh);
        if known.position < new.position {
            *known = new;
        }
        known.fresh = fresh;
    }
}
