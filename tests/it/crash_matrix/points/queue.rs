//! The queue's effects.
use super::Points;
use async_trait::async_trait;
use bytes::Bytes;
use foldwright::{
    domain::TenantId,
    ports::{
        BlobRef, Capabilities, GroupId, GroupQueue, Held, Hold, JobId, Lease, LeaseRef, NewJob, Nonce,
        Reaped, Result, Room, Settled, Settlement, StageRefused, Staged, Verdict, Want, WorkerId,
    },
};
use std::{sync::Arc, time::Duration};

pub(super) struct Queue {
    pub(super) inner: Arc<dyn GroupQueue>,
    pub(super) points: Arc<Points>,
}

#[async_trait]
impl GroupQueue for Queue {
    async fn stage(&self, nonce: Nonce, jobs: Vec<NewJob>, room: Room) -> Result<Vec<Staged>, StageRefused> {
        let first = jobs.first().map(|job| job.route.to_string());
        let name = format!("stage({})", first.unwrap_or_default());
        self.points
            .effect(name, self.inner.stage(nonce, jobs, room))
            .await
    }

    async fn claim(&self, nonce: Nonce, worker: WorkerId, want: &Want) -> Result<Vec<Lease>> {
        let name = |leases: &Result<Vec<Lease>>| {
            let lease = leases.as_ref().ok()?.first()?;
            Some(format!("claim({})", lease.group.path))
        };
        self.points
            .effect_if(self.inner.claim(nonce, worker, want), name)
            .await
    }

    async fn settle(
        &self,
        nonce: Nonce,
        worker: WorkerId,
        settlements: Vec<Settlement>,
        next: Option<&Want>,
    ) -> Result<Settled> {
        let first = settlements.first().map(|one| {
            let then = if one.then.is_empty() { "" } else { ", then" };
            let failed = if one.outcome.done == 0 { ", none done" } else { "" };
            format!("settle({}{failed}{then})", one.lease.group.path)
        });
        let call = self.inner.settle(nonce, worker, settlements, next);
        self.points.effect(first.unwrap_or_default(), call).await
    }

    async fn extend(&self, leases: &[LeaseRef], lease: Duration) -> Result<Vec<Verdict>> {
        self.points
            .effect("extend".into(), self.inner.extend(leases, lease))
            .await
    }

    async fn reap(&self, limit: usize) -> Result<Reaped> {
        let name = |reaped: &Result<Reaped>| {
            let reaped = reaped.as_ref().ok()?;
            (*reaped != Reaped::default()).then(|| "reap".to_owned())
        };
        self.points.effect_if(self.inner.reap(limit), name).await
    }

    async fn wait(&self, capabilities: &Capabilities, at_most: Duration) -> Result<()> {
        // It holds nothing of the store while it waits.
        self.inner.wait(capabilities, at_most).await
    }

    async fn answer(&self, tenant: &TenantId, job: JobId) -> Result<Option<Bytes>> {
        self.points.quiet(self.inner.answer(tenant, job)).await
    }

    async fn hold(
        &self,
        nonce: Nonce,
        worker: WorkerId,
        groups: &[GroupId],
        lease: Duration,
    ) -> Result<Vec<Hold>> {
        self.points
            .effect("hold".into(), self.inner.hold(nonce, worker, groups, lease))
            .await
    }

    async fn beat(&self, worker: WorkerId, capabilities: &Capabilities, ttl: Duration) -> Result<()> {
        self.points
            .effect("beat".into(), self.inner.beat(worker, capabilities, ttl))
            .await
    }

    async fn goodbye(&self, worker: WorkerId) -> Result<()> {
        self.points
            .effect("goodbye".into(), self.inner.goodbye(worker))
            .await
    }

    async fn held(&self, blobs: &[BlobRef]) -> Result<Vec<Held>> {
        self.points.quiet(self.inner.held(blobs)).await
    }

    async fn forget(&self, blobs: &[BlobRef]) -> Result<()> {
        self.points
            .effect("forget".into(), self.inner.forget(blobs))
            .await
    }
}
