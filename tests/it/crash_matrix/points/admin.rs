//! The operator's effects.
use super::Points;
use async_trait::async_trait;
use foldwright::{
    domain::TenantId,
    ports::{
        BlockedGroup, Checked, Cursor, DeadLetter, Depth, Drift, GroupFilter, GroupId, GroupLine, GroupView,
        JobId, JobView, Limits, Page, Pause, QueueAdmin, Result, Route, Scope, Swept, TenantLimits,
        TenantView, Verb, Why, WorkerView,
    },
};
use std::{collections::BTreeMap, sync::Arc};

pub(super) struct Admin {
    pub(super) inner: Arc<dyn QueueAdmin>,
    pub(super) points: Arc<Points>,
}

#[async_trait]
impl QueueAdmin for Admin {
    async fn depth(&self) -> Result<BTreeMap<Route, Depth>> {
        self.points.quiet(self.inner.depth()).await
    }

    async fn group(&self, group: &GroupId) -> Result<Option<GroupView>> {
        self.points.quiet(self.inner.group(group)).await
    }

    async fn blocked(
        &self,
        tenant: Option<&TenantId>,
        from: Option<Cursor>,
        limits: Limits,
    ) -> Result<Page<BlockedGroup>> {
        self.points.quiet(self.inner.blocked(tenant, from, limits)).await
    }

    async fn unblock(&self, group: &GroupId) -> Result<bool> {
        self.points
            .effect("unblock".into(), self.inner.unblock(group))
            .await
    }

    async fn drain(&self, group: &GroupId, limit: usize) -> Result<usize> {
        self.points
            .effect("drain".into(), self.inner.drain(group, limit))
            .await
    }

    async fn dead_letters(
        &self,
        tenant: Option<&TenantId>,
        from: Option<Cursor>,
        limits: Limits,
    ) -> Result<Page<DeadLetter>> {
        self.points
            .quiet(self.inner.dead_letters(tenant, from, limits))
            .await
    }

    async fn requeue(&self, tenant: &TenantId, job: JobId) -> Result<bool> {
        self.points
            .effect("requeue".into(), self.inner.requeue(tenant, job))
            .await
    }

    async fn discard(&self, tenant: &TenantId, job: JobId) -> Result<bool> {
        self.points
            .effect("discard".into(), self.inner.discard(tenant, job))
            .await
    }

    async fn bury(&self, group: &GroupId, reason: &str, limit: usize) -> Result<usize> {
        self.points
            .effect("bury".into(), self.inner.bury(group, reason, limit))
            .await
    }

    async fn pause(&self, scope: &Scope, reason: &str) -> Result<bool> {
        self.points
            .effect("pause".into(), self.inner.pause(scope, reason))
            .await
    }

    async fn resume(&self, scope: &Scope) -> Result<bool> {
        self.points
            .effect("resume".into(), self.inner.resume(scope))
            .await
    }

    async fn pauses(&self) -> Result<Vec<Pause>> {
        self.points.quiet(self.inner.pauses()).await
    }

    async fn limit(&self, tenant: &TenantId, limits: Option<TenantLimits>) -> Result<()> {
        self.points
            .effect("limit".into(), self.inner.limit(tenant, limits))
            .await
    }

    async fn tenant(&self, tenant: &TenantId) -> Result<TenantView> {
        self.points.quiet(self.inner.tenant(tenant)).await
    }

    async fn tenants(&self, from: Option<Cursor>, limits: Limits) -> Result<Page<TenantView>> {
        self.points.quiet(self.inner.tenants(from, limits)).await
    }

    async fn why(&self, group: &GroupId) -> Result<Option<Why>> {
        self.points.quiet(self.inner.why(group)).await
    }

    async fn why_job(&self, tenant: &TenantId, job: JobId) -> Result<Option<Why>> {
        self.points.quiet(self.inner.why_job(tenant, job)).await
    }

    async fn groups(
        &self,
        filter: &GroupFilter,
        from: Option<Cursor>,
        limits: Limits,
    ) -> Result<Page<GroupLine>> {
        self.points.quiet(self.inner.groups(filter, from, limits)).await
    }

    async fn jobs(&self, group: &GroupId, from: Option<Cursor>, limits: Limits) -> Result<Page<JobView>> {
        self.points.quiet(self.inner.jobs(group, from, limits)).await
    }

    async fn job(&self, tenant: &TenantId, job: JobId) -> Result<Option<JobView>> {
        self.points.quiet(self.inner.job(tenant, job)).await
    }

    async fn sweep(
        &self,
        verb: Verb,
        filter: &GroupFilter,
        dry_run: bool,
        from: Option<Cursor>,
        groups: usize,
    ) -> Result<Swept> {
        self.points
            .effect(
                "sweep".into(),
                self.inner.sweep(verb, filter, dry_run, from, groups),
            )
            .await
    }

    async fn requeue_all(&self, tenant: Option<&TenantId>, letters: usize) -> Result<Swept> {
        self.points
            .effect("requeue_all".into(), self.inner.requeue_all(tenant, letters))
            .await
    }

    async fn workers(&self) -> Result<Vec<WorkerView>> {
        self.points.quiet(self.inner.workers()).await
    }

    async fn check(&self, from: Option<Cursor>, groups: usize) -> Result<Checked> {
        self.points.quiet(self.inner.check(from, groups)).await
    }

    async fn recount(&self) -> Result<Vec<Drift>> {
        self.points.quiet(self.inner.recount()).await
    }
}
