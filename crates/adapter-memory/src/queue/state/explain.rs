//! Why a group or a job does not run.
use super::{
    State,
    group::{Group, LeaseKind},
    job::{Job, Stand},
    no::No,
};
use foldwright_domain::{Millis, TenantId};
use foldwright_ports::{GroupId, GroupState, JobId, Reason, Why};

impl State {
    pub(in crate::queue) fn why(&self, id: &GroupId) -> Option<Why> {
        let group = self.groups.find(id)?;
        let matters = !group.is_empty() || group.reservation(self.now).is_some();
        matters.then(|| Why {
            group: id.clone(),
            state: self.state_of(group),
            reasons: self.reasons(group),
        })
    }

    pub(in crate::queue) fn why_job(&self, tenant: &TenantId, job: JobId) -> Option<Why> {
        let no = self.jobs.number(self.tenants.number(tenant)?, job)?;
        let job = self.jobs.get(no)?;
        if let Stand::Dead(death) = &job.stand {
            let state = self.groups.find(&death.group);
            return Some(Why {
                group: death.group.clone(),
                state: state.map_or(GroupState::Empty, |group| self.state_of(group)),
                reasons: Vec::new(),
            });
        }
        let group = self.groups.get(job.group)?;
        let mut reasons = self.reasons(group);
        if matches!(job.stand, Stand::Waiting) {
            let delayed = Reason::Delayed { until: job.due_at };
            if job.due_at > self.now && !reasons.contains(&delayed) {
                reasons.push(delayed);
            }
            reasons.extend(self.behind(group, job));
        }
        Some(Why {
            group: group.id.clone(),
            state: self.state_of(group),
            reasons,
        })
    }

    /// What a group is doing.
    pub(super) fn state_of(&self, group: &Group) -> GroupState {
        let Some(next) = self.next_job(group) else {
            return match group.lease {
                Some(_) => GroupState::Running,
                None => GroupState::Empty,
            };
        };
        let wait = group.wait.filter(|wait| wait.until > self.now);
        if group.lease.is_some() {
            GroupState::Running
        } else if group.block.is_some() {
            GroupState::Blocked
        } else if self.is_paused(group, next) {
            GroupState::Paused
        } else if wait.is_some_and(|wait| wait.retry) {
            GroupState::Retrying
        } else if wait.is_some() || group.reservation(self.now).is_some() || next.due_at > self.now {
            GroupState::Scheduled
        } else if self
            .tenants
            .get(group.tenant)
            .is_some_and(super::Tenant::is_capped)
        {
            GroupState::Parked
        } else if self.is_stranded(group, next) {
            GroupState::Stranded
        } else {
            GroupState::Due
        }
    }

    /// The job that the group hands out next: the first that is due, else the one that is due soonest, else the first
    /// of those that are handed out.
    fn next_job(&self, group: &Group) -> Option<&Job> {
        let ripe = group.delayed.iter().take_while(|(when, _)| when.at <= self.now);
        let due = group
            .due
            .values()
            .next()
            .into_iter()
            .chain(ripe.map(|(_, no)| no));
        let first = due
            .filter_map(|no| self.jobs.get(*no))
            .min_by_key(|job| job.place);
        let leased = group.lease.as_ref().and_then(|live| live.jobs.first());
        let later = group.delayed.values().next().or(leased);
        first.or_else(|| self.jobs.get(*later?))
    }

    fn is_paused(&self, group: &Group, next: &Job) -> bool {
        group.paused
            || self.tenants.get(group.tenant).is_some_and(|tenant| tenant.paused)
            || self.breaker.is_shut(next.route, group.tenant)
            || !self.is_open(next.route)
    }

    fn is_stranded(&self, group: &Group, next: &Job) -> bool {
        let (format, need) = (next.content.format, group.need);
        let route = self.routes.name(next.route);
        !route.is_some_and(|route| self.workers.any_knows(self.now, route, format, need))
    }

    /// When time lets a group run, as far as time decides that.
    pub(super) fn runs_at(&self, group: &Group) -> Option<Millis> {
        if group.lease.is_some() {
            return None;
        }
        let next = self.next_job(group)?;
        let closing = self.breaker.closing(self.now, next.route, group.tenant);
        let whole = self.breaker.whole(next.route);
        let times = [
            group.wait.map(|wait| wait.until),
            group.reserved.map(|reserved| reserved.until),
            closing.map(|closed| closed.until),
            whole.map(|closed| closed.until),
            Some(next.due_at),
        ];
        times.into_iter().flatten().filter(|at| *at > self.now).max()
    }

    /// What holds a group now, in the order of the states.
    fn reasons(&self, group: &Group) -> Vec<Reason> {
        let mut reasons = Vec::new();
        if let Some(live) = &group.lease {
            reasons.push(Reason::Leased {
                worker: live.worker,
                fence: live.fence,
                until: live.until,
                hold: live.kind == LeaseKind::Hold,
            });
        }
        if let Some(reserved) = group.reservation(self.now) {
            reasons.push(Reason::Reserved {
                worker: reserved.worker,
                until: reserved.until,
            });
        }
        if let Some(block) = &group.block {
            reasons.push(Reason::Blocked {
                job: block.job,
                error: block.error.clone(),
                since: block.when.at,
            });
        }
        let next = self.next_job(group);
        self.pauses_over(group, next, &mut reasons);
        if let Some(wait) = group.wait.filter(|wait| wait.until > self.now) {
            reasons.push(match group.health.failed().filter(|_| wait.retry) {
                Some((job, failures)) => Reason::Retrying {
                    job,
                    failures,
                    error: group.health.last_error.clone().unwrap_or_default(),
                    until: wait.until,
                },
                None => Reason::Deferred { until: wait.until },
            });
        }
        if group.lease.is_none()
            && let Some(next) = next
        {
            self.waits_of(group, next, &mut reasons);
        }
        reasons
    }

    fn pauses_over(&self, group: &Group, next: Option<&Job>, reasons: &mut Vec<Reason>) {
        let route = next.and_then(|job| self.routes.name(job.route));
        let pauses = self.pauses.over(&group.id, route);
        reasons.extend(pauses.map(|pause| Reason::Paused {
            scope: pause.scope,
            reason: pause.reason,
            since: pause.since,
        }));
        let (Some(next), Some(route)) = (next, route) else {
            return;
        };
        let closings = [
            (true, self.breaker.whole(next.route)),
            (false, self.breaker.closing(self.now, next.route, group.tenant)),
        ];
        for (everyone, closed) in closings {
            reasons.extend(closed.map(|closed| Reason::Outage {
                route: route.clone(),
                everyone,
                fingerprint: closed.fingerprint,
                until: closed.until,
            }));
        }
    }

    /// What holds a group that nobody has: the time of its next job, the cap, and the want of a worker.
    fn waits_of(&self, group: &Group, next: &Job, reasons: &mut Vec<Reason>) {
        if next.due_at > self.now {
            reasons.push(Reason::Delayed { until: next.due_at });
        }
        if let Some(tenant) = self.tenants.get(group.tenant)
            && let Some(cap) = tenant.limits().cap.filter(|_| tenant.is_capped())
        {
            reasons.push(Reason::Capped {
                in_flight: tenant.in_flight,
                cap,
            });
        }
        if self.is_stranded(group, next) {
            if group.need > 0 {
                reasons.push(Reason::Needs { version: group.need });
            }
            reasons.extend(
                self.routes
                    .name(next.route)
                    .map(|route| Reason::Stranded { route: route.clone() }),
            );
        }
    }

    /// What comes before a waiting job: jobs that are handed out, and due ones before it.
    fn behind(&self, group: &Group, job: &Job) -> Option<Reason> {
        let leased = group.lease.iter().flat_map(|live| &live.jobs);
        let due = group.due.range(..job.place).map(|(_, no)| no);
        let ripe = group.delayed.iter().take_while(|(when, _)| when.at <= self.now);
        let before = leased.chain(due).chain(ripe.map(|(_, no)| no));
        let before: Vec<(_, JobId)> = before
            .filter_map(|no: &No<Job>| self.jobs.get(*no))
            .filter(|other| matches!(other.stand, Stand::Leased) || other.place < job.place)
            .map(|other| (other.place, other.id))
            .collect();
        let (_, first) = before.iter().min()?;
        Some(Reason::Behind {
            job: *first,
            jobs: before.len() as u64,
        })
    }
}
