//! The operator's verbs.
use super::{
    State,
    group::Group,
    job::{Job, Stand},
    no::No,
    routes::In,
};
use foldwright_domain::TenantId;
use foldwright_ports::{GroupId, JobId};

impl State {
    pub(in crate::queue) fn unblock(&mut self, group: &GroupId) -> bool {
        self.groups.number(group).is_some_and(|no| self.unblock_no(no))
    }

    pub(super) fn unblock_no(&mut self, no: No<Group>) -> bool {
        let Some(group) = self.groups.get_mut(no) else {
            return false;
        };
        let Some(block) = group.block.take() else {
            return false;
        };
        group.health.start_from_zero();
        group.wait = None;
        self.blocked.remove(group.tenant, block.when);
        for job in group.due.values().chain(group.delayed.values()) {
            if let Some(job) = self.jobs.get(*job) {
                self.routes.leave(job.route, In::Blocked);
                self.routes.enter(job.route, In::Waiting);
            }
        }
        self.relist(no);
        true
    }

    pub(in crate::queue) fn drain(&mut self, group: &GroupId, limit: usize) -> usize {
        self.groups.number(group).map_or(0, |no| self.drain_no(no, limit))
    }

    pub(super) fn drain_no(&mut self, no: No<Group>, limit: usize) -> usize {
        let (line, from) = self.take_out(no, limit);
        for job in &line {
            self.drop_job(*job, from);
        }
        self.tidy(no);
        line.len()
    }

    pub(in crate::queue) fn bury_group(&mut self, group: &GroupId, reason: &str, limit: usize) -> usize {
        self.groups
            .number(group)
            .map_or(0, |no| self.bury_no(no, reason, limit))
    }

    pub(super) fn bury_no(&mut self, no: No<Group>, reason: &str, limit: usize) -> usize {
        let (line, from) = self.take_out(no, limit);
        for job in &line {
            self.bury_job(no, *job, from, reason.to_owned());
        }
        self.tidy(no);
        line.len()
    }

    /// Takes the first waiting jobs of a group out of its line; answers what they were counted as. What is left of the
    /// group starts from zero.
    fn take_out(&mut self, no: No<Group>, limit: usize) -> (Vec<No<Job>>, In) {
        let Some(group) = self.groups.get_mut(no) else {
            return (Vec::new(), In::Waiting);
        };
        let (line, from) = (group.in_order(limit, &self.jobs), group.waiting_in());
        for job_no in &line {
            if let Some(job) = self.jobs.get(*job_no) {
                group.leave_line(job);
            }
        }
        if !line.is_empty() {
            group.windows.retain(|window| !line.contains(window));
            group.health.start_from_zero();
        }
        (line, from)
    }

    pub(in crate::queue) fn requeue(&mut self, tenant: &TenantId, job: JobId) -> bool {
        let no = self.dead_letter(tenant, job);
        no.is_some_and(|no| self.requeue_no(no).is_some())
    }

    /// Answers into which group.
    pub(super) fn requeue_no(&mut self, no: No<Job>) -> Option<No<Group>> {
        self.leave_dead(no);
        let job = self.jobs.get_mut(no)?;
        let Stand::Dead(death) = std::mem::replace(&mut job.stand, Stand::Waiting) else {
            return None;
        };
        let (tenant, route) = (job.tenant, job.route);
        self.routes.leave(route, In::Dead);
        let group_no = self.group_or_add(&death.group, tenant);
        if let Some(job) = self.jobs.get_mut(no) {
            job.group = group_no;
        }
        if let Some(group) = self.groups.get_mut(group_no) {
            group.health.start_from_zero();
        }
        self.wait_in_line(group_no, no);
        Some(group_no)
    }

    pub(in crate::queue) fn discard(&mut self, tenant: &TenantId, job: JobId) -> bool {
        let Some(no) = self.dead_letter(tenant, job) else {
            return false;
        };
        self.leave_dead(no);
        self.drop_job(no, In::Dead);
        true
    }

    fn dead_letter(&self, tenant: &TenantId, job: JobId) -> Option<No<Job>> {
        let no = self.jobs.number(self.tenants.number(tenant)?, job)?;
        matches!(self.jobs.get(no)?.stand, Stand::Dead(_)).then_some(no)
    }

    fn leave_dead(&mut self, no: No<Job>) {
        if let Some(job) = self.jobs.get(no)
            && let Stand::Dead(death) = &job.stand
        {
            self.dead.remove(job.tenant, death.when);
        }
    }
}
