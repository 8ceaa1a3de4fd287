//! How much senders may bring.
use super::{
    groups::Named,
    tenants::{Tenant, unsigned},
    work::Work,
};
use crate::error::Outcome;
use foldwright_domain::TenantId;
use foldwright_ports::{Error, GroupId, Kind, NewJob, QueueBounds};
use std::{collections::BTreeMap, time::Duration};

/// The shortest wait that makes sense for a sender that was refused.
const WAIT: Duration = Duration::from_secs(1);

/// Jobs, and the bytes they carry.
#[derive(Clone, Copy, Default)]
struct Load {
    jobs: u64,
    bytes: u64,
}

impl Load {
    fn add(&mut self, job: &NewJob) {
        self.jobs = self.jobs.saturating_add(1);
        self.bytes = self.bytes.saturating_add(job.stored_bytes());
    }

    const fn plus(self, other: Self) -> Self {
        Self {
            jobs: self.jobs.saturating_add(other.jobs),
            bytes: self.bytes.saturating_add(other.bytes),
        }
    }

    /// Which of two bounds it passes, and by how much.
    fn over(self, jobs: Option<u64>, bytes: Option<u64>) -> Option<String> {
        match (jobs, bytes) {
            (Some(most), _) if self.jobs > most => Some(format!("{} jobs, the bound is {most}", self.jobs)),
            (_, Some(most)) if self.bytes > most => {
                Some(format!("{} bytes, the bound is {most}", self.bytes))
            }
            _ => None,
        }
    }
}

/// Why a sender's call is refused whole, if it is. Nothing is written.
pub(super) fn refuse(work: &mut Work<'_, '_>, jobs: &[NewJob]) -> Outcome<Option<Error>> {
    let bounds = work.write.settings.queue.bounds;
    let mut call = Load::default();
    let mut tenants: BTreeMap<&TenantId, Load> = BTreeMap::new();
    for job in jobs {
        call.add(job);
        tenants.entry(&job.group.tenant).or_default().add(job);
    }
    let [held_jobs, held_bytes, held_tenants] = work.numbers.held();
    let held = Load {
        jobs: held_jobs,
        bytes: held_bytes,
    };
    if let Some(over) = held.plus(call).over(bounds.jobs, bounds.bytes) {
        return Ok(full(format!(
            "the queue would hold {over}: wait until it has emptied, or raise the bound"
        )));
    }
    for (tenant, load) in tenants {
        if let Some(refused) = of_tenant(work, &bounds, tenant, load, (held.bytes, held_tenants))? {
            return Ok(Some(refused));
        }
    }
    if bounds.group_jobs.is_some() || bounds.group_bytes.is_some() {
        return of_groups(work, &bounds, jobs);
    }
    Ok(None)
}

fn of_tenant(
    work: &mut Work<'_, '_>,
    bounds: &QueueBounds,
    tenant: &TenantId,
    load: Load,
    (held_bytes, held_tenants): (u64, u64),
) -> Outcome<Option<Error>> {
    let db = work.write.db;
    let row = match work.write.names.find(db, tenant.as_str())? {
        Some(number) => work.tenants.seat(db, number)?.tenant,
        None => Tenant::default(),
    };
    let limits = row.limits();
    let now = load.plus(Load {
        jobs: unsigned(row.jobs),
        bytes: unsigned(row.bytes),
    });
    let (most_jobs, most_bytes) = (
        limits.jobs.or(bounds.tenant_jobs),
        limits.bytes.or(bounds.tenant_bytes),
    );
    if let Some(over) = now.over(most_jobs, most_bytes) {
        return Ok(full(format!(
            "tenant {tenant} would hold {over}: wait until its work is done, or raise its limits"
        )));
    }
    let share = bounds.byte_share(held_bytes, held_tenants + u64::from(row.jobs == 0));
    if let Some(over) = now.over(None, share) {
        return Ok(full(format!(
            "the queue is nearly full and tenant {tenant} would hold {over}, its share: wait until its work is done, or \
             raise the queue's bound"
        )));
    }
    Ok(None)
}

fn of_groups(work: &mut Work<'_, '_>, bounds: &QueueBounds, jobs: &[NewJob]) -> Outcome<Option<Error>> {
    let db = work.write.db;
    let mut groups: BTreeMap<&GroupId, Load> = BTreeMap::new();
    for job in jobs {
        groups.entry(&job.group).or_default().add(job);
    }
    for (id, mut load) in groups {
        if let Some(named) = Named::find(db, work.write.names, id)?
            && let Some(gid) = work.groups.find(db, named.tenant, named.path, &id.key)?
        {
            let group = &work.groups.entry(gid)?.group;
            load = load.plus(Load {
                jobs: group.counts.total(),
                bytes: unsigned(group.bytes),
            });
        }
        if let Some(over) = load.over(bounds.group_jobs, bounds.group_bytes) {
            return Ok(full(format!(
                "group {id} would hold {over}: wait until its work is done, or raise the bound"
            )));
        }
    }
    Ok(None)
}

fn full(message: String) -> Option<Error> {
    Some(Error::new(Kind::Full, "stage", message).retry_after(WAIT))
}
