//! The operator's port.
use super::{SqliteQueue, admin, dead, work::Work};
use crate::error::Outcome;
use async_trait::async_trait;
use foldwright_domain::TenantId;
use foldwright_ports::{
    BlockedGroup, Cursor, DeadLetter, Depth, GroupId, GroupView, JobId, Limits, Page, QueueAdmin, Result,
    Route,
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
}

impl SqliteQueue {
    async fn change<T: Send + 'static>(
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
