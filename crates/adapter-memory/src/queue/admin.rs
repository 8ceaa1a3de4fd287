//! The operator's side of the queue.
use super::{MemoryQueue, state::State};
use async_trait::async_trait;
use foldwright_domain::TenantId;
use foldwright_ports::{
    BlockedGroup, Checked, Cursor, DeadLetter, Depth, Drift, GroupFilter, GroupId, GroupLine, GroupView,
    JobId, JobView, Limits, Page, Pause, QueueAdmin, Result, Route, Scope, Swept, TenantLimits, TenantView,
    Verb, Why, WorkerView,
};
use std::collections::BTreeMap;

#[async_trait]
impl QueueAdmin for MemoryQueue {
    async fn depth(&self) -> Result<BTreeMap<Route, Depth>> {
        Ok(self.call(|state| state.depth()))
    }

    async fn group(&self, group: &GroupId) -> Result<Option<GroupView>> {
        Ok(self.call(|state| state.view(group)))
    }

    async fn blocked(
        &self,
        tenant: Option<&TenantId>,
        from: Option<Cursor>,
        limits: Limits,
    ) -> Result<Page<BlockedGroup>> {
        self.call(|state| state.blocked(tenant, from, limits))
    }

    async fn unblock(&self, group: &GroupId) -> Result<bool> {
        Ok(self.call(|state| state.unblock(group)))
    }

    async fn drain(&self, group: &GroupId, limit: usize) -> Result<usize> {
        Ok(self.call(|state| state.drain(group, limit)))
    }

    async fn dead_letters(
        &self,
        tenant: Option<&TenantId>,
        from: Option<Cursor>,
        limits: Limits,
    ) -> Result<Page<DeadLetter>> {
        self.call(|state| state.dead_letters(tenant, from, limits))
    }

    async fn requeue(&self, tenant: &TenantId, job: JobId) -> Result<bool> {
        Ok(self.call(|state| state.requeue(tenant, job)))
    }

    async fn discard(&self, tenant: &TenantId, job: JobId) -> Result<bool> {
        Ok(self.call(|state| state.discard(tenant, job)))
    }

    async fn bury(&self, group: &GroupId, reason: &str, limit: usize) -> Result<usize> {
        Ok(self.call(|state| state.bury_group(group, reason, limit)))
    }

    async fn pause(&self, scope: &Scope, reason: &str) -> Result<bool> {
        Ok(self.call(|state| state.pause(scope, reason)))
    }

    async fn resume(&self, scope: &Scope) -> Result<bool> {
        Ok(self.call(|state| state.resume(scope)))
    }

    async fn pauses(&self) -> Result<Vec<Pause>> {
        Ok(self.call(|state| state.pauses()))
    }

    async fn limit(&self, tenant: &TenantId, limits: Option<TenantLimits>) -> Result<()> {
        self.call(|state| state.limit(tenant, limits))
    }

    async fn tenant(&self, tenant: &TenantId) -> Result<TenantView> {
        Ok(self.call(|state| state.tenant(tenant)))
    }

    async fn tenants(&self, from: Option<Cursor>, limits: Limits) -> Result<Page<TenantView>> {
        self.call(|state| state.tenants(from.as_ref(), limits))
    }

    async fn why(&self, group: &GroupId) -> Result<Option<Why>> {
        Ok(self.call(|state| state.why(group)))
    }

    async fn why_job(&self, tenant: &TenantId, job: JobId) -> Result<Option<Why>> {
        Ok(self.call(|state| state.why_job(tenant, job)))
    }

    async fn groups(
        &self,
        filter: &GroupFilter,
        from: Option<Cursor>,
        limits: Limits,
    ) -> Result<Page<GroupLine>> {
        self.call(|state| state.groups(filter, from.as_ref(), limits))
    }

    async fn jobs(&self, group: &GroupId, from: Option<Cursor>, limits: Limits) -> Result<Page<JobView>> {
        self.call(|state| state.jobs(group, from.as_ref(), limits))
    }

    async fn job(&self, tenant: &TenantId, job: JobId) -> Result<Option<JobView>> {
        Ok(self.call(|state| state.job(tenant, job)))
    }

    async fn sweep(
        &self,
        verb: Verb,
        filter: &GroupFilter,
        dry_run: bool,
        from: Option<Cursor>,
        groups: usize,
    ) -> Result<Swept> {
        self.call(|state| state.sweep(verb, filter, dry_run, from.as_ref(), groups))
    }

    async fn requeue_all(&self, tenant: Option<&TenantId>, letters: usize) -> Result<Swept> {
        Ok(self.call(|state| state.requeue_all(tenant, letters)))
    }

    async fn workers(&self) -> Result<Vec<WorkerView>> {
        Ok(self.call(|state| state.workers()))
    }

    async fn check(&self, from: Option<Cursor>, groups: usize) -> Result<Checked> {
        self.call(|state| state.prove(from.as_ref(), groups))
    }

    async fn recount(&self) -> Result<Vec<Drift>> {
        Ok(self.call(State::recount))
    }
}
