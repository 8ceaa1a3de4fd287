//! Refusing senders before the queue is full.
use super::State;
use foldwright_domain::TenantId;
use foldwright_ports::{Error, GroupId, Kind, NewJob};
use std::{collections::BTreeMap, time::Duration};

/// How long a refused sender should wait.
const WAIT: Duration = Duration::from_secs(1);

/// What a call adds somewhere, or what there would be then.
#[derive(Clone, Copy, Default)]
struct Amount {
    jobs: u64,
    bytes: u64,
}

impl Amount {
    fn add(&mut self, job: &NewJob) {
        self.jobs += 1;
        self.bytes = self.bytes.saturating_add(job.stored_bytes());
    }

    fn with(self, jobs: u64, bytes: u64) -> Self {
        Self {
            jobs: self.jobs.saturating_add(jobs),
            bytes: self.bytes.saturating_add(bytes),
        }
    }

    /// Refuses what would pass either bound; `what` names whose they are.
    fn within(
        self,
        jobs: Option<u64>,
        bytes: Option<u64>,
        what: impl Fn() -> String,
        advice: &str,
    ) -> Result<(), Error> {
        let passed = |bound: Option<u64>, amount, unit| {
            let bound = bound.filter(|bound| amount > *bound)?;
            let message = format!(
                "{} would hold {amount} {unit} of at most {bound}: send again later, or {advice}",
                what()
            );
            Some(Error::new(Kind::Full, "stage", message).retry_after(WAIT))
        };
        match passed(jobs, self.jobs, "jobs").or_else(|| passed(bytes, self.bytes, "bytes")) {
            Some(error) => Err(error),
            None => Ok(()),
        }
    }
}

impl State {
    /// Why a sender's jobs are refused, if they are: they would pass a bound if each of them were new.
    pub(super) fn full(&self, jobs: &[NewJob]) -> Option<Error> {
        self.has_room(jobs).err()
    }

    fn has_room(&self, jobs: &[NewJob]) -> Result<(), Error> {
        let bounds = self.settings.bounds;
        let mut new = Amount::default();
        for job in jobs {
            new.add(job);
        }
        if new.jobs == 0 {
            return Ok(());
        }
        let all = new.with(self.tenants.jobs(), self.tenants.bytes());
        all.within(
            bounds.jobs,
            bounds.bytes,
            || "the queue".to_owned(),
            "raise the queue's bound",
        )?;
        if bounds.group_jobs.is_some() || bounds.group_bytes.is_some() {
            self.groups_have_room(jobs)?;
        }
        self.tenants_have_room(jobs, all.bytes)
    }

    fn groups_have_room(&self, jobs: &[NewJob]) -> Result<(), Error> {
        let bounds = self.settings.bounds;
        let mut groups: BTreeMap<&GroupId, Amount> = BTreeMap::new();
        for job in jobs {
            groups.entry(&job.group).or_default().add(job);
        }
        groups.into_iter().try_for_each(|(id, new)| {
            let there = self.groups.find(id);
            let all = new.with(
                there.map_or(0, |group| group.jobs() as u64),
                there.map_or(0, |group| group.bytes),
            );
            let what = || format!("group {id}");
            all.within(
                bounds.group_jobs,
                bounds.group_bytes,
                what,
                "raise the bound of a group",
            )
        })
    }

    fn tenants_have_room(&self, jobs: &[NewJob], bytes: u64) -> Result<(), Error> {
        let bounds = self.settings.bounds;
        let mut tenants: BTreeMap<&TenantId, Amount> = BTreeMap::new();
        for job in jobs {
            tenants.entry(&job.group.tenant).or_default().add(job);
        }
        let there = |name: &TenantId| self.tenants.get(self.tenants.number(name)?).copied();
        let fresh = tenants
            .keys()
            .filter(|name| there(name).is_none_or(|tenant| tenant.jobs == 0));
        let share = bounds.byte_share(bytes, self.tenants.busy() + fresh.count() as u64);
        tenants.iter().try_for_each(|(name, new)| {
            let tenant = there(name).unwrap_or_default();
            let all = new.with(tenant.jobs, tenant.bytes);
            let own = tenant.limits();
            let what = || format!("tenant {name}");
            all.within(
                own.jobs.or(bounds.tenant_jobs),
                own.bytes.or(bounds.tenant_bytes),
                what,
                "raise its limit",
            )?;
            let advice = "raise the queue's watermark: it is near, and this is a tenant's even share of it";
            all.within(None, share, what, advice)
        })
    }
}
