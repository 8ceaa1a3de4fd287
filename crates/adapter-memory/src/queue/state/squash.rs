//! Dedup windows, and bodies that take the place of others.
use super::{
    State,
    group::Group,
    job::{Job, Stand},
    no::No,
};
use foldwright_ports::{Dedup, MergeWindow, NewJob, Route};

impl State {
    /// The job of this route that dedup jobs of the group are merged into now: it waits, is not blocked, and its
    /// window is open. Jobs of two routes are never merged, even where they share a group.
    pub(super) fn window(&self, group: No<Group>, route: No<Route>) -> Option<No<Job>> {
        let group = self.groups.get(group).filter(|group| group.block.is_none())?;
        group.windows.iter().copied().find(|no| {
            let job = self.jobs.get(*no).filter(|job| job.route == route);
            job.and_then(|job| job.window_until)
                .is_some_and(|until| self.now < until)
        })
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
        let Some(group) = waiting.and_then(|job| self.groups.number(&job.group)) else {
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
        if !job.content.take_over(new) {
            return;
        }
        let kept: Vec<_> = job.content.blobs().collect();
        for hash in &kept {
            self.holds.take(tenant, *hash, name);
        }
        for hash in old.into_iter().filter(|hash| !kept.contains(hash)) {
            self.holds.release(self.now, tenant, hash, name);
        }
    }
}
