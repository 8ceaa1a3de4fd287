//! Whose turn it is, and what tenants may take.
use super::{
    claim::{Claimable, bytes_of},
    state::{Ensure, Model, ensure},
};
use foldwright_domain::{Millis, TenantId};
use foldwright_ports::{GroupId, Lease, NewJob, Pass, Share, TenantLimits, TenantView, Want};
use std::collections::{BTreeMap, BTreeSet};

impl Model {
    pub(super) fn limits_of(&self, tenant: &TenantId) -> TenantLimits {
        self.limits.get(tenant).copied().unwrap_or_default()
    }

    pub(crate) fn limit(&mut self, tenant: &TenantId, limits: Option<TenantLimits>) {
        match limits {
            Some(limits) => self.limits.insert(tenant.clone(), limits),
            None => self.limits.remove(tenant),
        };
    }

    /// Groups under a lease, lapsed or not.
    fn in_flight(&self, tenant: &TenantId) -> u64 {
        let leased = self.groups.iter().filter(|(_, group)| {
            let lease = group.lease.as_ref();
            lease.is_some_and(|live| live.holder.is_none())
        });
        leased.filter(|(id, _)| id.tenant == *tenant).count() as u64
    }

    /// Whether a tenant is below its cap once these leases are out.
    pub(super) fn has_slot_after(&self, tenant: &TenantId, leases: &[Lease]) -> bool {
        let new = leases.iter().filter(|lease| lease.group.tenant == *tenant);
        let new = new.filter(|lease| {
            let before = self.groups.get(&lease.group);
            before.is_none_or(|group| group.lease.is_none())
        });
        let in_flight = self.in_flight(tenant) + new.count() as u64;
        let cap = self.limits_of(tenant).cap;
        cap.is_none_or(|cap| in_flight < u64::from(cap))
    }

    /// Each lease, in the order of their tokens, was of a tenant whose turn it was.
    ///
    /// A lease that has lapsed and is not reaped may have been reaped by the claim itself: then the figures are not known.
    pub(super) fn check_turns(&self, now: Millis, want: &Want, leases: &[Lease]) -> Ensure {
        if !self.lapsed(now).is_empty() {
            return Ok(());
        }
        let mut leases: Vec<_> = leases.iter().collect();
        leases.sort_by_key(|lease| lease.fence);
        let mut flying: BTreeMap<TenantId, u64> = BTreeMap::new();
        for id in self.groups.keys() {
            flying
                .entry(id.tenant.clone())
                .or_insert_with(|| self.in_flight(&id.tenant));
        }
        let (mut passes, mut clock) = (self.passes.clone(), self.clock);
        let (mut taken, mut bytes) = (BTreeSet::new(), 0);
        for lease in leases {
            let mine = &lease.group.tenant;
            let limits = self.limits_of(mine);
            ensure(limits.cap.is_none_or(|cap| flying[mine] < u64::from(cap)), || {
                format!("claim: {mine} is at its cap and gets {}", lease.group)
            })?;
            let turn = |tenant: &TenantId| {
                let share = Share::of(flying[tenant], self.limits_of(tenant).weight);
                (share, passes.get(tenant).copied().unwrap_or_default())
            };
            let (share, (pass, _)) = turn(mine);
            for other in flying.keys().filter(|other| *other != mine) {
                let cap = self.limits_of(other).cap;
                let open = cap.is_none_or(|cap| flying[other] < u64::from(cap));
                if !open || !self.could_come(now, want, other, &taken, bytes) {
                    continue;
                }
                let (theirs, (_, latest)) = turn(other);
                ensure(share < theirs || share == theirs && pass <= latest, || {
                    format!("claim: {} before its turn: {other} was next", lease.group)
                })?;
            }
            taken.insert(lease.group.clone());
            bytes += lease.jobs.iter().map(bytes_of).sum::<u64>();
            *flying.entry(mine.clone()).or_default() += 1;
            serve(&mut passes, &mut clock, mine, limits.weight);
        }
        Ok(())
    }

    /// Whether any group of a tenant could surely come next.
    fn could_come(
        &self,
        now: Millis,
        want: &Want,
        tenant: &TenantId,
        taken: &BTreeSet<GroupId>,
        bytes: u64,
    ) -> bool {
        let groups = self.groups.iter();
        let mut open = groups
            .filter(|(id, _)| id.tenant == *tenant && !taken.contains(*id))
            .filter(|(id, group)| self.claimable(id, group, now, &want.capabilities) == Claimable::Yes)
            .map(|(_, group)| self.batch(group, now, &want.capabilities)[0].job.stored_bytes())
            .peekable();
        open.peek().is_some() && open.all(|first| taken.is_empty() || bytes + first <= want.max_bytes)
    }

    /// These leases were handed out.
    pub(super) fn serve(&mut self, leases: &[Lease]) {
        let mut leases: Vec<_> = leases.iter().collect();
        leases.sort_by_key(|lease| lease.fence);
        for lease in leases {
            let tenant = &lease.group.tenant;
            let weight = self.limits_of(tenant).weight;
            serve(&mut self.passes, &mut self.clock, tenant, weight);
        }
    }

    /// Tenants that have nothing may have been forgotten.
    pub(crate) fn forget_tenants(&mut self) {
        let busy = self.groups.iter();
        let busy = busy.filter(|(_, group)| group.lease.is_some() || !group.jobs.is_empty());
        let known: BTreeSet<_> = busy.map(|(id, _)| &id.tenant).collect();
        for (tenant, (earliest, _)) in &mut self.passes {
            if !known.contains(tenant) {
                *earliest = Pass(0);
            }
        }
    }

    /// Whether a sender's jobs pass a bound if each of them is new.
    pub(crate) fn is_full(&self, jobs: &[NewJob]) -> bool {
        let bounds = self.settings.bounds;
        let sum = |of: &dyn Fn(&GroupId) -> bool| {
            let there = self.groups.iter().filter(|(id, _)| of(id));
            let there = there.flat_map(|(_, group)| group.jobs.iter().map(|job| &job.job));
            let all = there.chain(jobs.iter().filter(|job| of(&job.group)));
            all.fold((0, 0), |(jobs, bytes), job| {
                (jobs + 1, bytes + job.stored_bytes())
            })
        };
        let over = |(jobs, bytes): (u64, u64), most: Option<u64>, most_bytes: Option<u64>| {
            most.is_some_and(|most| jobs > most) || most_bytes.is_some_and(|most| bytes > most)
        };
        let touched = |job: &NewJob| {
            let limits = self.limits_of(&job.group.tenant);
            let (jobs, bytes) = (
                limits.jobs.or(bounds.tenant_jobs),
                limits.bytes.or(bounds.tenant_bytes),
            );
            over(sum(&|id| *id == job.group), bounds.group_jobs, bounds.group_bytes)
                || over(sum(&|id| id.tenant == job.group.tenant), jobs, bytes)
        };
        jobs.iter().any(touched) || !jobs.is_empty() && over(sum(&|_| true), bounds.jobs, bounds.bytes)
    }

    /// A tenant's figures are what is counted.
    pub(crate) fn check_tenant(&self, said: &TenantView) -> Ensure {
        let tenant = &said.tenant;
        let groups = self.groups.iter().filter(|(id, _)| id.tenant == *tenant);
        let jobs: Vec<_> = groups.flat_map(|(_, group)| &group.jobs).collect();
        let in_flight = self.in_flight(tenant);
        let limits = self.limits_of(tenant);
        let mine = TenantView {
            tenant: tenant.clone(),
            limits,
            in_flight,
            jobs: jobs.len() as u64,
            bytes: jobs.iter().map(|job| job.job.stored_bytes()).sum(),
            capped: limits.cap.is_some_and(|cap| in_flight >= u64::from(cap)),
        };
        ensure(mine == *said, || {
            format!("a tenant reads {said:?} and is {mine:?}")
        })
    }
}

fn serve(
    passes: &mut BTreeMap<TenantId, (Pass, Pass)>,
    clock: &mut (Pass, Pass),
    tenant: &TenantId,
    weight: u32,
) {
    let (low, high) = passes.entry(tenant.clone()).or_default();
    *low = low.serve(&mut clock.0, weight);
    *high = high.serve(&mut clock.1, weight);
}
