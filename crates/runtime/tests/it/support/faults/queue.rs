//! The queue behind a script. Settlements are about their groups, as `group done n`, staged jobs about their
//! routes.
use super::{Faults, Op};
use async_trait::async_trait;
use bytes::Bytes;
use foldwright_domain::TenantId;
use foldwright_ports::{
    BlobRef, Capabilities, GroupId, GroupQueue, Held, Hold, JobId, Lease, LeaseRef, NewJob, Nonce,
    QueueSettings, Reaped, Result, Room, Settled, Settlement, StageRefused, Staged, Verdict, Want, WorkerId,
};
use std::{sync::Arc, time::Duration};

pub(crate) struct FaultyQueue {
    pub(super) inner: Arc<dyn GroupQueue>,
    pub(super) faults: Arc<Faults>,
}

#[async_trait]
impl GroupQueue for FaultyQueue {
    fn settings(&self) -> QueueSettings {
        self.inner.settings()
    }

    async fn stage(&self, nonce: Nonce, jobs: Vec<NewJob>, room: Room) -> Result<Vec<Staged>, StageRefused> {
        let about = jobs.iter().map(|job| job.route.to_string()).collect();
        let refuse = |error| {
            Err(StageRefused {
                jobs: Vec::new(),
                error,
            })
        };
        self.faults
            .through(Op::Stage, about, self.inner.stage(nonce, jobs, room), refuse)
            .await
    }

    async fn claim(&self, nonce: Nonce, worker: WorkerId, want: &Want) -> Result<Vec<Lease>> {
        let about = want.capabilities.routes.keys().map(ToString::to_string).collect();
        self.faults
            .through(Op::Claim, about, self.inner.claim(nonce, worker, want), Err)
            .await
    }

    async fn settle(
        &self,
        nonce: Nonce,
        worker: WorkerId,
        settlements: Vec<Settlement>,
        next: Option<&Want>,
    ) -> Result<Settled> {
        let about = settlements
            .iter()
            .map(|s| format!("{} done {}", s.lease.group, s.outcome.done))
            .collect();
        self.faults
            .through(
                Op::Settle,
                about,
                self.inner.settle(nonce, worker, settlements, next),
                Err,
            )
            .await
    }

    async fn extend(&self, leases: &[LeaseRef], lease: Duration) -> Result<Vec<Verdict>> {
        let about = leases.iter().map(|lease| lease.group.to_string()).collect();
        self.faults
            .through(Op::Extend, about, self.inner.extend(leases, lease), Err)
            .await
    }

    async fn reap(&self, limit: usize) -> Result<Reaped> {
        self.faults
            .through(Op::Reap, Vec::new(), self.inner.reap(limit), Err)
            .await
    }

    async fn wait(&self, capabilities: &Capabilities, at_most: Duration) -> Result<()> {
        self.faults
            .through(Op::Wait, Vec::new(), self.inner.wait(capabilities, at_most), Err)
            .await
    }

    async fn answer(&self, tenant: &TenantId, job: JobId) -> Result<Option<Bytes>> {
        self.faults
            .through(Op::Answer, Vec::new(), self.inner.answer(tenant, job), Err)
            .await
    }

    async fn hold(
        &self,
        nonce: Nonce,
        worker: WorkerId,
        groups: &[GroupId],
        lease: Duration,
    ) -> Result<Vec<Hold>> {
        let about = groups.iter().map(ToString::to_string).collect();
        let call = self.inner.hold(nonce, worker, groups, lease);
        self.faults.through(Op::Hold, about, call, Err).await
    }

    async fn beat(&self, worker: WorkerId, capabilities: &Capabilities, ttl: Duration) -> Result<()> {
        let about = capabilities.routes.keys().map(ToString::to_string).collect();
        let call = self.inner.beat(worker, capabilities, ttl);
        self.faults.through(Op::Beat, about, call, Err).await
    }

    async fn goodbye(&self, worker: WorkerId) -> Result<()> {
        self.faults
            .through(Op::Goodbye, Vec::new(), self.inner.goodbye(worker), Err)
            .await
    }

    async fn held(&self, blobs: &[BlobRef]) -> Result<Vec<Held>> {
        self.faults
            .through(Op::Held, Vec::new(), self.inner.held(blobs), Err)
            .await
    }

    async fn forget(&self, blobs: &[BlobRef]) -> Result<()> {
        self.faults
            .through(Op::Forget, Vec::new(), self.inner.forget(blobs), Err)
            .await
    }
}
