//! What a group is doing, and why.
use super::{
    claim::fence_of,
    gates::Gates,
    grants,
    group::Group,
    groups::Named,
    line::{self, Standing},
    pauses,
    slots::Slot,
    tenants::{Tenant, unsigned},
    troubles, workers,
};
use crate::{error::Outcome, reader::Read};
use foldwright_domain::Millis;
use foldwright_ports::{Capabilities, GroupState, JobId, Pause, Reason, Route, WorkerId};
use std::collections::BTreeMap;

/// What one look at many groups needs again and again.
pub(super) struct Sight {
    gates: Gates,
    /// What the workers that are alive know.
    alive: Vec<Capabilities>,
    tenants: BTreeMap<i64, Tenant>,
}

/// A group as it stands.
pub(super) struct Seen {
    pub(super) state: GroupState,
    pub(super) reasons: Vec<Reason>,
    /// Its first job.
    pub(super) first: Option<Standing>,
}

impl Sight {
    pub(super) fn new(read: &Read<'_>) -> Outcome<Self> {
        let workers = workers::all(read)?.into_iter().filter(|worker| !worker.silent);
        Ok(Self {
            gates: Gates::load(read.db, read.now.0)?,
            alive: workers.map(|worker| worker.capabilities).collect(),
            tenants: BTreeMap::new(),
        })
    }

    /// Everything that keeps a group from running now, what must end first before what comes after it.
    pub(super) fn look(&mut self, read: &mut Read<'_>, group: &Group) -> Outcome<Seen> {
        let first = first_of(read, group)?;
        let tenant = self.tenant(read, group.tenant)?;
        let mut reasons = Vec::new();
        lease(read, group, &mut reasons)?;
        if let Some(block) = &group.more.blocked {
            reasons.push(Reason::Blocked {
                job: JobId(block.job),
                error: block.error.clone(),
                since: Millis(block.since),
            });
        }
        if let Some(first) = first {
            let route = read.names.route(read.db, first.route)?;
            self.shut(read, group, (first.route, &route), tenant, &mut reasons)?;
            if group.lease.is_none() {
                waits(read, group, first, &mut reasons);
                let cap = tenant.limits().cap;
                if let Some(cap) = cap.filter(|cap| tenant.in_flight >= i64::from(*cap)) {
                    reasons.push(Reason::Capped {
                        in_flight: unsigned(tenant.in_flight),
                        cap,
                    });
                }
                self.stranded(group, first, &route, &mut reasons);
            }
        } else {
            let paused = pauses(read, group, tenant)?;
            reasons.extend(paused.into_iter().map(paused_by));
        }
        Ok(Seen {
            state: state_of(&reasons, first.is_some()),
            reasons,
            first,
        })
    }

    fn tenant(&mut self, read: &Read<'_>, number: i64) -> Outcome<Tenant> {
        if let Some(tenant) = self.tenants.get(&number) {
            return Ok(*tenant);
        }
        let tenant = Tenant::find(read.db, number)?.unwrap_or_default();
        self.tenants.insert(number, tenant);
        Ok(tenant)
    }

    /// Pauses, and closings by the breaker.
    fn shut(
        &self,
        read: &mut Read<'_>,
        group: &Group,
        (number, route): (i64, &Route),
        tenant: Tenant,
        reasons: &mut Vec<Reason>,
    ) -> Outcome<()> {
        let of_route = self.gates.pauses_of(route).cloned();
        let mut paused: Vec<_> = of_route.chain(pauses(read, group, tenant)?).collect();
        paused.sort_by(|a, b| a.scope.cmp(&b.scope));
        reasons.extend(paused.into_iter().map(paused_by));
        let everyone = self.gates.outage_of(number).map(|closed| (true, closed));
        let own = troubles::closed(read.db, group.tenant, number, read.now.0)?;
        for (everyone, closed) in everyone.into_iter().chain(own.map(|closed| (false, closed))) {
            reasons.push(Reason::Outage {
                route: route.clone(),
                everyone,
                fingerprint: closed.fingerprint,
                until: closed.until,
            });
        }
        Ok(())
    }

    fn stranded(&self, group: &Group, first: Standing, route: &Route, reasons: &mut Vec<Reason>) {
        let need = group.more.need.unwrap_or(0);
        let slot = Slot {
            id: 0,
            route: first.route,
            format: first.format,
            need,
        };
        if self.alive.iter().any(|knows| slot.can_be_served(route, knows)) {
            return;
        }
        if need > 0 {
            reasons.push(Reason::Needs { version: need });
        }
        reasons.push(Reason::Stranded { route: route.clone() });
    }
}

/// The first job of a group: of those handed out, or else of those that may come next.
fn first_of(read: &Read<'_>, group: &Group) -> Outcome<Option<Standing>> {
    let leased = group.lease.as_ref().and_then(|lease| lease.jobs.0.first());
    match leased {
        Some(job) => line::standing(read.db, job.seq),
        None if group.counts.is_empty() => Ok(None),
        None => line::first_job(read.db, group.gid, read.now.0),
    }
}

fn lease(read: &Read<'_>, group: &Group, reasons: &mut Vec<Reason>) -> Outcome<()> {
    if let Some(lease) = &group.lease {
        let worker = grants::worker_of(read.db, lease.fence)?;
        reasons.push(Reason::Leased {
            // A lease of an earlier release bears no name.
            worker: worker.unwrap_or(WorkerId(0)),
            fence: fence_of(lease.fence),
            until: Millis(lease.until),
            hold: lease.is_hold(),
        });
    }
    if let Some(reserved) = group.more.reserved_at(read.now.0) {
        reasons.push(Reason::Reserved {
            worker: WorkerId(u128::from_be_bytes(reserved.worker)),
            until: Millis(reserved.until),
        });
    }
    Ok(())
}

/// The pauses of a group and of its tenant.
fn pauses(read: &mut Read<'_>, group: &Group, tenant: Tenant) -> Outcome<Vec<Pause>> {
    if !group.more.paused && !tenant.paused {
        return Ok(Vec::new());
    }
    let id = group.id(read.db, read.names)?;
    let named = Named {
        tenant: group.tenant,
        path: group.path,
    };
    pauses::of_group(read, &id, &named)
}

fn paused_by(pause: Pause) -> Reason {
    Reason::Paused {
        scope: pause.scope,
        reason: pause.reason,
        since: pause.since,
    }
}

/// What ends by the passing of time alone.
fn waits(read: &Read<'_>, group: &Group, first: Standing, reasons: &mut Vec<Reason>) {
    let (now, more) = (read.now.0, &group.more);
    if let Some(until) = more.closed_until.filter(|until| *until > now) {
        let until = Millis(until);
        reasons.push(match (more.retrying, more.failed, &more.last_error) {
            (true, failed, error) => Reason::Retrying {
                job: JobId(failed.map_or([0; 24], |failed| failed.id)),
                failures: more.failures,
                error: error.clone().unwrap_or_default(),
                until,
            },
            (false, ..) => Reason::Deferred { until },
        });
    }
    if first.due > now {
        reasons.push(Reason::Delayed {
            until: Millis(first.due),
        });
    }
}

/// The first state that holds.
fn state_of(reasons: &[Reason], has_jobs: bool) -> GroupState {
    let states = reasons.iter().map(|reason| match reason {
        Reason::Leased { .. } => GroupState::Running,
        Reason::Blocked { .. } => GroupState::Blocked,
        Reason::Paused { .. } | Reason::Outage { .. } => GroupState::Paused,
        Reason::Retrying { .. } => GroupState::Retrying,
        Reason::Reserved { .. } | Reason::Deferred { .. } | Reason::Delayed { .. } => GroupState::Scheduled,
        Reason::Capped { .. } => GroupState::Parked,
        Reason::Needs { .. } | Reason::Stranded { .. } => GroupState::Stranded,
        _ => GroupState::Due,
    });
    let rest = if has_jobs {
        GroupState::Due
    } else {
        GroupState::Empty
    };
    states.min().unwrap_or(rest)
}

/// When a group can run next, as far as time decides that; since when it is blocked, if it is.
pub(super) fn at(seen: &Seen) -> Option<Millis> {
    let blocked = seen.reasons.iter().find_map(|reason| match reason {
        Reason::Blocked { since, .. } => Some(*since),
        _ => None,
    });
    if blocked.is_some() || seen.state == GroupState::Running {
        return blocked;
    }
    let opens = seen.reasons.iter().filter_map(|reason| match reason {
        Reason::Outage { until, .. }
        | Reason::Reserved { until, .. }
        | Reason::Retrying { until, .. }
        | Reason::Deferred { until }
        | Reason::Delayed { until } => Some(*until),
        _ => None,
    });
    opens.max()
}
