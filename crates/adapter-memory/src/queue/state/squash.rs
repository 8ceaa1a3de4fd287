//! Dedup windows, and bodies that take the place of others.
use super::{
    State,
    group::Group,
    job::{Job, Stand},
    no::No,
};
use foldwright_domain::Millis;
use foldwright_ports::{Dedup, MergeWindow, NewJob, Route};

/// When a job is due, and until when others are merged into it.
pub(super) struct Timing {
    pub(super) due_at: Millis,
    pub(super) window_until: Option<Millis>,
}

impl State {
    /// The job of this route that dedup jobs of the group are merged into now: it waits, was not handed out, is not
    /// blocked, and its window is open. Jobs of two routes are never merged, even where they share a group.
    pub(super) fn window(&self, group: No<Group>, route: No<Route>, window: MergeWindow) -> Option<No<Job>> {
        let group = self.groups.get(group).filter(|group| group.block.is_none())?;
        let throttled = window == MergeWindow::Throttled && group.throttle(self.now, route).is_some();
        group.windows.iter().copied().find(|no| {
            let job = self.jobs.get(*no).filter(|job| job.route == route);
            job.and_then(|job| job.window_until)
                .is_some_and(|until| throttled || self.now < until)
        })
    }

    /// When a new job is due, and until when others are merged into it. A throttled one opens its window, or waits for the
    /// end of the one that is open, which another one follows then.
    pub(super) fn timing(&mut self, group: No<Group>, route: No<Route>, new: &NewJob) -> Timing {
        let due_at = self.now.plus(new.delay);
        let Some(dedup) = new.dedup else {
            return Timing {
                due_at,
                window_until: None,
            };
        };
        let mut timing = Timing {
            due_at,
            window_until: Some(self.now.plus(dedup.ttl)),
        };
        if dedup.window == MergeWindow::Throttled
            && let Some(group) = self.groups.get_mut(group)
        {
            if let Some(end) = group.throttle(self.now, route) {
                timing.due_at = due_at.max(end);
                timing.window_until = Some(end.plus(dedup.ttl));
            }
            let now = self.now;
            group.throttles.retain(|(of, until)| *of != route && *until > now);
            group
                .throttles
                .extend(timing.window_until.map(|until| (route, until)));
        }
        timing
    }

    /// Makes a new job the one to merge into, in place of an older one of its route.
    pub(super) fn open_window(&mut self, group: No<Group>, no: No<Job>) {
        let jobs = &self.jobs;
        let route = jobs.get(no).map(|job| job.route);
        if let Some(group) = self.groups.get_mut(group) {
            group
                .windows
                .retain(|other| jobs.get(*other).map(|job| job.route) != route);
            group.windows.push(no);
        }
    }

    /// Merges a new job into a waiting one, whose id, place and depth stay.
    pub(super) fn squash(&mut self, group_no: No<Group>, waiting: No<Job>, new: NewJob, dedup: Dedup) {
        let (delay, now) = (new.delay, self.now);
        if dedup.replace {
            self.replace_content(waiting, new);
        }
        if let (true, Some(group), Some(job)) = (
            dedup.window == MergeWindow::Sliding,
            self.groups.get_mut(group_no),
            self.jobs.get_mut(waiting),
        ) {
            group.leave_line(job);
            job.due_at = now.plus(delay);
            job.window_until = Some(now.plus(dedup.ttl));
            group.line_up(waiting, job, now);
        }
        self.relist(group_no);
    }

    /// Gives a waiting, unblocked job the content of a canonically later one with the same id.
    pub(super) fn replace(&mut self, known: No<Job>, new: NewJob) {
        let waiting = self
            .jobs
            .get(known)
            .filter(|job| matches!(job.stand, Stand::Waiting));
        let Some(group) = waiting.map(|job| job.group) else {
            return;
        };
        if self.groups.get(group).is_some_and(|group| group.block.is_none()) {
            self.replace_content(known, new);
            self.relist(group);
        }
    }

    /// The new hold is taken before the old one goes, so a body that both share is never without one.
    fn replace_content(&mut self, no: No<Job>, new: NewJob) {
        let Some(job) = self.jobs.get_mut(no) else { return };
        let (tenant, name) = (job.tenant, job.place.sequence);
        let old: Vec<_> = job.content.blobs().collect();
        let old_bytes = job.content.stored_bytes();
        if !job.content.take_over(new) {
            return;
        }
        let kept: Vec<_> = job.content.blobs().collect();
        let bytes = job.content.stored_bytes();
        if let Some(group) = self.groups.get_mut(job.group) {
            group.bytes = group.bytes.saturating_sub(old_bytes).saturating_add(bytes);
        }
        self.tenants.resize(tenant, old_bytes, bytes);
        for hash in &kept {
            self.holds.take(tenant, *hash, name);
        }
        for hash in old.into_iter().filter(|hash| !kept.contains(hash)) {
            self.holds.release(self.now, tenant, hash, name);
        }
    }
}
