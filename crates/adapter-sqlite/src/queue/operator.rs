//! The operator's port.
use super::{
    SqliteQueue, admin, check, dead, limits, listing, pauses, recount, sweep, why, work::Work, workers,
};
use crate::error::Outcome;
use async_trait::async_trait;
use foldwright_domain::TenantId;
use foldwright_ports::{
    BlockedGroup, Checked, Cursor, DeadLetter, Depth, Drift, Error, GroupFilter, GroupId, GroupLine,
    GroupView, JobId, JobView, Kind, Limits, Page, Pause, QueueAdmin, Result, Route, Scope, Swept,
    TenantLimits, TenantView, Verb, Why, WorkerView,
};
use std::collections::BTreeMap;

#[async_trait]
impl QueueAdmin for SqliteQueue {
    async fn depth(&self) -> Result<BTreeMap<Route, Depth>> {
        self.store.readers.run("depth", admin::depth).await
    }

    async fn group(&self, group: &GroupId) -> Result<Option<GroupView>> {
        let group = group.clone();
        self.store
            .readers
            .run("group", move |read| admin::view(read, &group))
            .await
    }

    async fn blocked(
        &self,
        tenant: Option<&TenantId>,
        from: Option<Cursor>,
        limits: Limits,
    ) -> Result<Page<BlockedGroup>> {
        let tenant = tenant.cloned();
        self.store
            .readers
            .run("blocked", move |read| {
                admin::blocked(read, tenant.as_ref(), from.as_ref(), limits)
            })
            .await
    }

    async fn unblock(&self, group: &GroupId) -> Result<bool> {
        let group = group.clone();
        self.change("unblock", move |work| admin::unblock(work, &group))
            .await
    }

    async fn drain(&self, group: &GroupId, limit: usize) -> Result<usize> {
        let group = group.clone();
        self.change("drain", move |work| admin::drain(work, &group, limit))
            .await
    }

    async fn dead_letters(
        &self,
        tenant: Option<&TenantId>,
        from: Option<Cursor>,
        limits: Limits,
    ) -> Result<Page<DeadLetter>> {
        let tenant = tenant.cloned();
        self.store
            .readers
            .run("dead letters", move |read| {
                dead::list(read, tenant.as_ref(), from.as_ref(), limits)
            })
            .await
    }

    async fn requeue(&self, tenant: &TenantId, job: JobId) -> Result<bool> {
        let tenant = tenant.clone();
        self.change("requeue", move |work| dead::requeue(work, &tenant, job))
            .await
    }

    async fn discard(&self, tenant: &TenantId, job: JobId) -> Result<bool> {
        let tenant = tenant.clone();
        self.change("discard", move |work| dead::discard(work, &tenant, job))
            .await
    }

    async fn bury(&self, group: &GroupId, reason: &str, limit: usize) -> Result<usize> {
        let (group, reason) = (group.clone(), reason.to_owned());
        self.change("bury", move |work| admin::bury(work, &group, &reason, limit))
            .await
    }

    async fn pause(&self, scope: &Scope, reason: &str) -> Result<bool> {
        let (scope, reason) = (scope.clone(), reason.to_owned());
        self.change("pause", move |work| pauses::pause(work, &scope, &reason))
            .await
    }

    async fn resume(&self, scope: &Scope) -> Result<bool> {
        let scope = scope.clone();
        self.change("resume", move |work| pauses::resume(work, &scope))
            .await
    }

    async fn pauses(&self) -> Result<Vec<Pause>> {
        self.store.readers.run("pauses", pauses::all).await
    }

    async fn limit(&self, tenant: &TenantId, limits: Option<TenantLimits>) -> Result<()> {
        if let Some(fault) = limits.and_then(|limits| limits.fault()) {
            return Err(Error::new(Kind::Invalid, "limit", fault));
        }
        let tenant = tenant.clone();
        self.change("limit", move |work| limits::limit(work, &tenant, limits))
            .await
    }

    async fn tenant(&self, tenant: &TenantId) -> Result<TenantView> {
        let tenant = tenant.clone();
        self.store
            .readers
            .run("tenant", move |read| limits::tenant(read, &tenant))
            .await
    }

    async fn tenants(&self, from: Option<Cursor>, limits: Limits) -> Result<Page<TenantView>> {
        self.store
            .readers
            .run("tenants", move |read| {
                limits::tenants(read, from.as_ref(), limits)
            })
            .await
    }

    async fn why(&self, group: &GroupId) -> Result<Option<Why>> {
        let group = group.clone();
        self.store
            .readers
            .run("why", move |read| why::why(read, &group))
            .await
    }

    async fn why_job(&self, tenant: &TenantId, job: JobId) -> Result<Option<Why>> {
        let tenant = tenant.clone();
        self.store
            .readers
            .run("why job", move |read| why::why_job(read, &tenant, job))
            .await
    }

    async fn groups(
        &self,
        filter: &GroupFilter,
        from: Option<Cursor>,
        limits: Limits,
    ) -> Result<Page<GroupLine>> {
        let filter = filter.clone();
        self.store
            .readers
            .run("groups", move |read| {
                listing::groups(read, &filter, from.as_ref(), limits)
            })
            .await
    }

    async fn jobs(&self, group: &GroupId, from: Option<Cursor>, limits: Limits) -> Result<Page<JobView>> {
        let group = group.clone();
        self.store
            .readers
            .run("jobs", move |read| {
                listing::jobs(read, &group, from.as_ref(), limits)
            })
            .await
    }

    async fn job(&self, tenant: &TenantId, job: JobId) -> Result<Option<JobView>> {
        let tenant = tenant.clone();
        self.store
            .readers
            .run("job", move |read| listing::job(read, &tenant, job))
            .await
    }

    async fn sweep(
        &self,
        verb: Verb,
        filter: &GroupFilter,
        dry_run: bool,
        from: Option<Cursor>,
        groups: usize,
    ) -> Result<Swept> {
        sweep::sweep(self, verb, filter, dry_run, from, groups).await
    }

    async fn requeue_all(&self, tenant: Option<&TenantId>, letters: usize) -> Result<Swept> {
        let tenant = tenant.cloned();
        self.change("requeue all", move |work| {
            sweep::requeue_all(work, tenant.as_ref(), letters)
        })
        .await
    }

    async fn workers(&self) -> Result<Vec<WorkerView>> {
        self.store.readers.run("workers", |read| workers::all(read)).await
    }

    async fn check(&self, from: Option<Cursor>, groups: usize) -> Result<Checked> {
        check::check(self, from, groups).await
    }

    async fn recount(&self) -> Result<Vec<Drift>> {
        recount::recount(self).await
    }
}

impl SqliteQueue {
    pub(super) async fn change<T: Send + 'static>(
        &self,
        operation: &'static str,
        change: impl Fn(&mut Work<'_, '_>) -> Outcome<T> + Send + 'static,
    ) -> Result<T> {
        self.store
            .writer
            .run(operation, 0, move |write| {
                let mut work = Work::new(write)?;
                let value = change(&mut work)?;
                work.save()?;
                Ok(value)
            })
            .await
    }
}
