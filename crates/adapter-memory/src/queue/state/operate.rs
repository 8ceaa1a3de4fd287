//! The operator's verbs.
use super::{
    State,
    job::{Job, Stand},
    no::No,
    routes::In,
};
use foldwright_domain::TenantId;
use foldwright_ports::{GroupId, JobId};

impl State {
    pub(in crate::queue) fn unblock(&mut self, group: &GroupId) -> bool {
        let Some(no) = self.groups.number(group) else {
            return false;
        };
        let Some(group) = self.groups.get_mut(no) else {
            return false;
        };
        let Some(block) = group.block.take() else {
            return false;
        };
        group.failures = 0;
        group.closed_until = None;
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
        let Some(no) = self.groups.number(group) else {
            return 0;
        };
        let Some(group) = self.groups.get_mut(no) else {
            return 0;
        };
        let line = group.in_order(limit, &self.jobs);
        if line.is_empty() {
            return 0;
        }
        let from = group.waiting_in();
        for job_no in &line {
            if let Some(job) = self.jobs.get(*job_no) {
                group.leave_line(job);
            }
        }
        group.windows.retain(|window| !line.contains(window));
        group.failures = 0;
        for job in &line {
            self.drop_job(*job, from);
        }
        self.tidy(no);
        line.len()
    }

    pub(in crate::queue) fn requeue(&mut self, tenant: &TenantId, job: JobId) -> bool {
        let Some(no) = self.dead_letter(tenant, job) else {
            return false;
        };
        self.leave_dead(no);
        let given = self.given();
        let Some(job) = self.jobs.get_mut(no) else {
            return false;
        };
        job.stand = Stand::Waiting;
        self.routes.leave(job.route, In::Dead);
        let group_no = self.groups.number_or_add(&job.group, job.tenant, given);
        if let Some(group) = self.groups.get_mut(group_no) {
            group.failures = 0;
        }
        self.wait_in_line(group_no, no);
        true
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
