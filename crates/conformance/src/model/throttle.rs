//! Windows with one run.
use super::state::{Model, Throttle};
use foldwright_domain::Millis;
use foldwright_ports::{JobId, MergeWindow, NewJob};

/// Where a throttled job goes.
pub(super) enum Turn {
    /// It is merged into this one.
    Into(JobId),
    /// It runs at this time, and the window ends then.
    At(Millis, Millis),
}

pub(super) fn is_throttled(job: &NewJob) -> bool {
    let dedup = job.dedup;
    dedup.is_some_and(|dedup| dedup.window == MergeWindow::Throttled)
}

impl Model {
    /// Whether the contract says where a throttled job goes: it does not where the one that waits has run before, or
    /// was blocked, or several wait, or an operator took one away.
    pub(crate) fn stage_is_plain(&self, now: Millis, job: &NewJob) -> bool {
        if !is_throttled(job) {
            return true;
        }
        let group = self.groups.get(&job.group);
        let waiting = group.map_or(0, |group| group.jobs.iter().filter(|job| !job.leased).count());
        let odd = group.is_some_and(|group| {
            group.blocked.is_some() || group.jobs.iter().any(|job| !job.leased && job.handed_out)
        });
        let window = self.throttles.get(&job.group);
        let certain = window.is_none_or(|window| window.certain || window.until <= now);
        certain && !odd && waiting <= 1
    }

    pub(super) fn turn(&self, now: Millis, job: &NewJob) -> Turn {
        let ttl = job.dedup.map_or_else(Default::default, |dedup| dedup.ttl);
        let open = self.throttles.get(&job.group).filter(|window| window.until > now);
        let Some(window) = open else {
            return Turn::At(now.plus(job.delay), now.plus(ttl));
        };
        let jobs = self.groups.get(&job.group).map(|group| &group.jobs);
        let waits = jobs.and_then(|jobs| jobs.iter().find(|job| !job.leased));
        match waits {
            Some(waits) => Turn::Into(waits.job.id),
            None => Turn::At(window.until, window.until.plus(ttl)),
        }
    }

    pub(super) fn open_window(&mut self, job: &NewJob, until: Millis) {
        let window = Throttle { until, certain: true };
        self.throttles.insert(job.group.clone(), window);
    }

    /// An operator took something of a group away: its window may be gone.
    pub(super) fn doubt_window(&mut self, group: &foldwright_ports::GroupId) {
        if let Some(window) = self.throttles.get_mut(group) {
            window.certain = false;
        }
    }
}
