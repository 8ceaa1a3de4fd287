//! The operator's side of the queue.
use super::MemoryQueue;
use async_trait::async_trait;
use foldwright_domain::TenantId;
use foldwright_ports::{
    BlockedGroup, Cursor, DeadLetter, Depth, GroupId, GroupView, JobId, Limits, Page, QueueAdmin, Result,
    Route,
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
}
