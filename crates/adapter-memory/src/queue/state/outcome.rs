//! What an outcome does to its group.
use super::{
    State,
    group::{Block, Group, LeaseKind, Live, Wait},
    hash_of,
    job::{Death, Job, Stand},
    no::No,
    routes::In,
};
use foldwright_ports::{JobId, LeaseEnd, Outcome, Rest};
use std::time::Duration;

impl State {
    /// Ends a group's live lease with its outcome.
    pub(super) fn finish(&mut self, no: No<Group>, outcome: Outcome) {
        let Some(mut live) = self.end_lease(no) else {
            return;
        };
        if live.kind == LeaseKind::Hold {
            self.quarantine_if_deadly(no);
            self.tidy(no);
            return;
        }
        let rest = live.jobs.split_off(outcome.done.min(live.jobs.len()));
        for done in &live.jobs {
            self.drop_job(*done, In::Leased);
        }
        if let Some(group) = self.groups.get_mut(no) {
            if outcome.done > 0 {
                group.health.succeed();
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
                Rest::Quarantine { error } => self.give_up(no, first, error),
                Rest::DeadLetter { error } => self.bury(no, first, error),
                Rest::Defer { after } => {
                    if let Some(group) = self.groups.get_mut(no) {
                        group.wait = Some(Wait {
                            until: self.now.plus(after),
                            retry: false,
                        });
                    }
                }
            }
        }
        self.quarantine_if_deadly(no);
        self.tidy(no);
    }

    /// Takes a group's lease away; its jobs stand nowhere then.
    pub(super) fn end_lease(&mut self, no: No<Group>) -> Option<Live> {
        let group = self.groups.get_mut(no)?;
        let live = group.lease.take()?;
        self.leases.remove(&live.fence);
        self.deadlines.remove(&(live.until, live.fence));
        if live.kind != LeaseKind::Hold {
            let tenant = group.tenant;
            self.tenants.release(tenant);
            self.rank(tenant);
        }
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
        let Some((job, failures)) = self.fail(no, first, &error) else {
            return;
        };
        let Some(group) = self.groups.get_mut(no) else {
            return;
        };
        let streak = group.health.streak;
        if self.settings.streak > 0 && streak >= self.settings.streak {
            let error = format!("{streak} failed attempts in a row without a success, the last one: {error}");
            return self.block(no, first, error);
        }
        match self.settings.ladder.wait(failures, floor, job.salt()) {
            Some(wait) => {
                group.health.last_error = Some(error);
                group.wait = Some(Wait {
                    until: self.now.plus(wait),
                    retry: true,
                });
            }
            None => self.block(no, first, error),
        }
    }

    /// The job cannot succeed.
    fn give_up(&mut self, no: No<Group>, first: No<Job>, error: String) {
        if self.fail(no, first, &error).is_some() {
            self.block(no, first, error);
        }
    }

    /// Counts a failed attempt wherever one counts; answers at which job, and how many it has now.
    fn fail(&mut self, no: No<Group>, first: No<Job>, error: &str) -> Option<(JobId, u32)> {
        let job = self.jobs.get(first)?;
        let group = self.groups.get_mut(no)?;
        let (id, route, tenant) = (job.id, job.route, job.tenant);
        let failures = group.health.fail(id);
        let name = hash_of(&group.id);
        self.count_trouble(route, tenant, name, error);
        Some((id, failures))
    }

    /// Quarantines a group, unread, whose workers died too often; answers whether it did.
    pub(super) fn quarantine_if_deadly(&mut self, no: No<Group>) -> bool {
        let Some(group) = self.groups.get(no) else {
            return false;
        };
        let deaths = group.health.deaths;
        if self.settings.deaths == 0
            || deaths < self.settings.deaths
            || group.lease.is_some()
            || group.block.is_some()
        {
            return false;
        }
        let Some(first) = group.in_order(1, &self.jobs).first().copied() else {
            return false;
        };
        let error = format!("its workers died {deaths} times while they held it: it is quarantined unread");
        self.block(no, first, error);
        self.relist(no);
        true
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
        group.wait = None;
        group.health.last_error = Some(error.clone());
        group.block = Some(Block {
            job: job.id,
            route,
            failures: group.health.failures_at(job.id),
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
        if let Some(group) = self.groups.get_mut(no) {
            group.health.start_from_zero();
            group.health.last_error = Some(error.clone());
        }
        self.bury_job(no, first, In::Leased, error);
    }

    /// Makes a dead letter of a job that stands nowhere any more.
    pub(super) fn bury_job(&mut self, no: No<Group>, job_no: No<Job>, from: In, error: String) {
        let when = self.this_moment();
        if let (Some(group), Some(job)) = (self.groups.get_mut(no), self.jobs.get_mut(job_no)) {
            let bytes = job.content.stored_bytes();
            group.bytes = group.bytes.saturating_sub(bytes);
            self.tenants.lose(job.tenant, bytes);
            job.window_until = None;
            job.stand = Stand::Dead(Box::new(Death {
                group: group.id.clone(),
                error,
                when,
            }));
            self.dead.insert(job.tenant, when, job_no);
            self.routes.leave(job.route, from);
            self.routes.enter(job.route, In::Dead);
        }
    }
}
