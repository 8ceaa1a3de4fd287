//! What is measured of each route.
use super::{ATTEMPTS_FAILED, JOB_WAIT, JOBS_COMPLETED, LEASES_ENDED, RUN_TIME, labels_of};
use foldwright_domain::Millis;
use foldwright_ports::{Lease, Rest, Route, Verdict};
use metrics::{Counter, Histogram, Label, counter, histogram};
use std::time::Duration;

/// The handles of one route's metrics, looked up once.
pub(crate) struct RouteMetrics {
    completed: Counter,
    failed: Counter,
    retried: Counter,
    quarantined: Counter,
    dead_lettered: Counter,
    deferred: Counter,
    released: Counter,
    given_back: Counter,
    lost: Counter,
    late: Counter,
    wait: Histogram,
    run: Histogram,
}

impl RouteMetrics {
    pub(crate) fn of(route: &Route) -> Self {
        let labels = labels_of(route);
        let ended = |reason: &'static str| {
            let mut labels = labels.clone();
            labels.push(Label::from_static_parts("reason", reason));
            counter!(LEASES_ENDED, labels)
        };
        Self {
            completed: counter!(JOBS_COMPLETED, labels.clone()),
            failed: counter!(ATTEMPTS_FAILED, labels.clone()),
            retried: ended("retried"),
            quarantined: ended("quarantined"),
            dead_lettered: ended("dead_lettered"),
            deferred: ended("deferred"),
            released: ended("released"),
            given_back: ended("given_back"),
            lost: ended("lost"),
            late: ended("late"),
            wait: histogram!(JOB_WAIT, labels.clone()),
            run: histogram!(RUN_TIME, labels),
        }
    }

    /// Leases that were handed out at this instant by the store's clock.
    pub(crate) fn claimed(&self, leases: &[Lease], now: Millis) {
        for job in leases.iter().filter_map(|lease| lease.jobs.first()) {
            self.wait.record(now.since(job.staged_at).as_secs_f64());
        }
    }

    /// A run that took so long.
    pub(crate) fn ran(&self, took: Duration) {
        self.run.record(took.as_secs_f64());
    }

    /// How a lease of `jobs` jobs ended, `done` of them done.
    pub(crate) fn settled(&self, jobs: usize, done: usize, rest: &Rest, verdict: &Verdict) {
        match verdict {
            Verdict::Applied => {}
            Verdict::Already => return self.late.increment(1),
            Verdict::Lost => return self.lost.increment(1),
            Verdict::Refused(_) => return self.failed.increment(1),
        }
        self.completed.increment(done as u64);
        if done == jobs {
            return;
        }
        match rest {
            Rest::Back => self.given_back.increment(1),
            Rest::Retry { .. } => {
                self.failed.increment(1);
                self.retried.increment(1);
            }
            Rest::Quarantine { .. } => {
                self.failed.increment(1);
                self.quarantined.increment(1);
            }
            Rest::DeadLetter { .. } => {
                self.failed.increment(1);
                self.dead_lettered.increment(1);
            }
            Rest::Defer { .. } => self.deferred.increment(1),
            Rest::Release { .. } => self.released.increment(1),
        }
    }
}
