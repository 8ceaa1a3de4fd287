//! Tenants with what they have and what they may take.
use super::no::{Names, No};
use foldwright_domain::TenantId;
use foldwright_ports::{Pass, Share, TenantLimits, TenantView};
use std::{collections::BTreeMap, ops::Bound};

/// One tenant's part of the queue.
#[derive(Clone, Copy, Default)]
pub(super) struct Tenant {
    pub(super) limits: Option<TenantLimits>,
    pub(super) paused: bool,
    /// Leases that are neither settled nor reaped; holds do not count.
    pub(super) in_flight: u64,
    /// Jobs that wait, are leased or are blocked.
    pub(super) jobs: u64,
    /// The stored bytes that they carry.
    pub(super) bytes: u64,
    pass: Pass,
}

impl Tenant {
    pub(super) fn limits(&self) -> TenantLimits {
        self.limits.unwrap_or_default()
    }

    pub(super) fn is_capped(&self) -> bool {
        self.limits()
            .cap
            .is_some_and(|cap| self.in_flight >= u64::from(cap))
    }

    /// Its place among the tenants; `None` while it is parked or paused.
    pub(super) fn standing(&self) -> Option<(Share, Pass)> {
        if self.paused || self.is_capped() {
            return None;
        }
        Some((Share::of(self.in_flight, self.limits().weight), self.pass))
    }

    fn is_idle(&self) -> bool {
        self.limits.is_none() && self.in_flight == 0 && self.jobs == 0
    }

    pub(super) fn view(&self, tenant: TenantId) -> TenantView {
        TenantView {
            tenant,
            limits: self.limits(),
            in_flight: self.in_flight,
            jobs: self.jobs,
            bytes: self.bytes,
            capped: self.is_capped(),
        }
    }
}

/// Every tenant that was ever seen, with the sums over all.
#[derive(Default)]
pub(super) struct Tenants {
    names: Names<TenantId>,
    rows: Vec<Tenant>,
    by_name: BTreeMap<TenantId, No<TenantId>>,
    /// How many have a job.
    busy: u64,
    jobs: u64,
    bytes: u64,
    /// The highest pass at which any was served.
    clock: Pass,
}

impl Tenants {
    pub(super) fn number(&self, name: &TenantId) -> Option<No<TenantId>> {
        self.names.number(name)
    }

    pub(super) fn number_or_add(&mut self, name: &TenantId) -> No<TenantId> {
        if let Some(no) = self.number(name) {
            return no;
        }
        let no = self.names.number_or_add(name);
        self.rows.push(Tenant::default());
        self.by_name.insert(name.clone(), no);
        no
    }

    pub(super) fn name(&self, no: No<TenantId>) -> Option<&TenantId> {
        self.names.name(no)
    }

    pub(super) fn get(&self, no: No<TenantId>) -> Option<&Tenant> {
        self.rows.get(no.index())
    }

    pub(super) fn get_mut(&mut self, no: No<TenantId>) -> Option<&mut Tenant> {
        self.rows.get_mut(no.index())
    }

    pub(super) fn numbers(&self) -> impl Iterator<Item = No<TenantId>> + use<> {
        (0..self.rows.len()).map(No::of)
    }

    /// How many have a job.
    pub(super) fn busy(&self) -> u64 {
        self.busy
    }

    pub(super) fn jobs(&self) -> u64 {
        self.jobs
    }

    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// A job was staged.
    pub(super) fn gain(&mut self, no: No<TenantId>, bytes: u64) {
        if let Some(tenant) = self.rows.get_mut(no.index()) {
            self.busy += u64::from(tenant.jobs == 0);
            tenant.jobs += 1;
            tenant.bytes += bytes;
            self.jobs += 1;
            self.bytes += bytes;
        }
    }

    /// A job went.
    pub(super) fn lose(&mut self, no: No<TenantId>, bytes: u64) {
        if let Some(tenant) = self.rows.get_mut(no.index()) {
            self.busy = self.busy.saturating_sub(u64::from(tenant.jobs == 1));
            tenant.jobs = tenant.jobs.saturating_sub(1);
            tenant.bytes = tenant.bytes.saturating_sub(bytes);
            self.jobs = self.jobs.saturating_sub(1);
            self.bytes = self.bytes.saturating_sub(bytes);
        }
    }

    /// A job carries other bytes than before.
    pub(super) fn resize(&mut self, no: No<TenantId>, old: u64, new: u64) {
        if let Some(tenant) = self.rows.get_mut(no.index()) {
            tenant.bytes = tenant.bytes.saturating_sub(old).saturating_add(new);
            self.bytes = self.bytes.saturating_sub(old).saturating_add(new);
        }
    }

    /// A group of it was handed out.
    pub(super) fn serve(&mut self, no: No<TenantId>) {
        if let Some(tenant) = self.rows.get_mut(no.index()) {
            tenant.in_flight += 1;
            tenant.pass = tenant.pass.serve(&mut self.clock, tenant.limits().weight);
        }
    }

    /// A lease of it ended.
    pub(super) fn release(&mut self, no: No<TenantId>) {
        if let Some(tenant) = self.rows.get_mut(no.index()) {
            tenant.in_flight = tenant.in_flight.saturating_sub(1);
        }
    }

    /// Sets jobs and bytes as they were counted.
    pub(super) fn put_right(&mut self, no: No<TenantId>, jobs: u64, bytes: u64) {
        if let Some(tenant) = self.rows.get_mut(no.index()) {
            (tenant.jobs, tenant.bytes) = (jobs, bytes);
        }
        self.busy = self.rows.iter().filter(|tenant| tenant.jobs > 0).count() as u64;
        self.jobs = self.rows.iter().map(|tenant| tenant.jobs).sum();
        self.bytes = self.rows.iter().map(|tenant| tenant.bytes).sum();
    }

    /// Those that have anything, behind a name.
    pub(super) fn views<'a>(
        &'a self,
        from: Option<&TenantId>,
    ) -> impl Iterator<Item = (&'a TenantId, Option<TenantView>)> + 'a {
        let from = from.map_or(Bound::Unbounded, |name| Bound::Excluded(name.clone()));
        let rows = self.by_name.range((from, Bound::Unbounded));
        rows.map(|(name, no)| {
            let tenant = self.get(*no).filter(|tenant| !tenant.is_idle());
            (name, tenant.map(|tenant| tenant.view(name.clone())))
        })
    }
}
