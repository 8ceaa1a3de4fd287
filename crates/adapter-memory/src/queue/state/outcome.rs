//! What an outcome does to its group.
use super::{
    State,
    group::{Block, Group, Live},
    job::{Death, Job, Stand},
    no::No,
    routes::In,
};
use foldwright_ports::{LeaseEnd, Outcome, Rest};
use std::time::Duration;

impl State {
    /// Ends a group's live lease with its outcome.
    pub(super) fn finish(&mut self, no: No<Group>, outcome: Outcome) {
        let Some(mut live) = self.end_lease(no) else {
            return;
        };
        let rest = live.jobs.split_off(outcome.done.min(live.jobs.len()));
        for done in &live.jobs {
            self.drop_job(*done, In::Leased);
        }
        if let Some(group) = self.groups.get_mut(no) {
            if outcome.done > 0 {
                group.failures = 0;
                group.last_error = None;
                group.completed = Some(live.fence);
            }
            group.previous = match &outcome.rest {
                _ if outcome.done > 0 => LeaseEnd::Completed,
                Rest::Back | Rest::Release { .. } => LeaseEnd::Released,
                _ => LeaseEnd::Retried,
            };
        }
        if let Rest::Release { floor, need } = &outcome.rest {
            self.last_fence = self.last_fence.max(floor.map_or(0, |floor| floor.0));
            if let (Some(need), Some(group)) = (need, self.groups.get_mut(no)) {
                group.need = *need;
            }
        }
        let first = rest.first().copied();
        let buried = first.filter(|_| matches!(outcome.rest, Rest::DeadLetter { .. }));
        self.give_back(no, rest.into_iter().filter(|job| Some(*job) != buried));
        if let Some(first) = first {
            match outcome.rest {
                Rest::Back | Rest::Release { .. } => {}
                Rest::Retry { floor, error } => self.retry(no, first, floor, error),
                Rest::Quarantine { error } => self.block(no, first, error),
                Rest::DeadLetter { error } => self.bury(no, first, error),
                Rest::Defer { after } => {
                    if let Some(group) = self.groups.get_mut(no) {
                        group.closed_until = Some(self.now.plus(after));
                    }
                }
            }
        }
        self.tidy(no);
    }

    /// Takes a group's lease away; its jobs stand nowhere then.
    pub(super) fn end_lease(&mut self, no: No<Group>) -> Option<Live> {
        let live = self.groups.get_mut(no)?.lease.take()?;
        self.leases.remove(&live.fence);
        self.deadlines.remove(&(live.until, live.fence));
        Some(live)
    }

    /// Puts leased jobs back into their places.
    pub(super) fn give_back(&mut self, no: No<Group>, jobs: impl Iterator<Item = No<Job>>) {
        let Some(group) = self.groups.get_mut(no) else {
            return;
        };
        for job_no in jobs {
            if let Some(job) = self.jobs.get_mut(job_no) {
                job.stand = Stand::Waiting;
                group.line_up(job_no, job, self.now);
                self.routes.leave(job.route, In::Leased);
                self.routes.enter(job.route, In::Waiting);
            }
        }
    }

    /// The count is raised and the jobs are back in one step, so nobody ever sees a fresh ladder.
    fn retry(&mut self, no: No<Group>, first: No<Job>, floor: Option<Duration>, error: String) {
        let salt = self.jobs.get(first).map_or(0, |job| job.id.salt());
        let Some(group) = self.groups.get_mut(no) else {
            return;
        };
        let failures = group.failures.saturating_add(1);
        match self.settings.ladder.wait(failures, floor, salt) {
            Some(wait) => {
                group.failures = failures;
                group.last_error = Some(error);
                group.closed_until = Some(self.now.plus(wait));
            }
            None => self.block(no, first, error),
        }
    }

    /// Quarantines a group, whose jobs wait.
    fn block(&mut self, no: No<Group>, first: No<Job>, error: String) {
        let when = self.this_moment();
        let (Some(group), Some(job)) = (self.groups.get_mut(no), self.jobs.get(first)) else {
            return;
        };
        let Some(route) = self.routes.name(job.route).cloned() else {
            return;
        };
        group.failures = group.failures.saturating_add(1);
        group.last_error = Some(error.clone());
        group.block = Some(Block {
            job: job.id,
            route,
            failures: group.failures,
            error,
            when,
        });
        self.blocked.insert(group.tenant, when, no);
        for job in group.due.values().chain(group.delayed.values()) {
            if let Some(job) = self.jobs.get(*job) {
                self.routes.leave(job.route, In::Waiting);
                self.routes.enter(job.route, In::Blocked);
            }
        }
    }

    /// Moves a leased job to the dead letters.
    fn bury(&mut self, no: No<Group>, first: No<Job>, error: String) {
        let when = self.this_moment();
        if let Some(group) = self.groups.get_mut(no) {
            group.failures = 0;
            group.last_error = Some(error.clone());
        }
        if let Some(job) = self.jobs.get_mut(first) {
            job.stand = Stand::Dead(Box::new(Death { error, when }));
            self.dead.insert(job.tenant, when, first);
            self.routes.leave(job.route, In::Leased);
            self.routes.enter(job.route, In::Dead);
        }
    }
}
