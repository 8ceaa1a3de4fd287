//! The workers' side of the queue.
use super::{MemoryQueue, state::Outlook};
use async_trait::async_trait;
use bytes::Bytes;
use foldwright_domain::TenantId;
use foldwright_ports::{
    BlobRef, Capabilities, GroupId, GroupQueue, Held, Hold, JobId, Lease, LeaseRef, NewJob, Nonce,
    QueueSettings, Reaped, Result, Room, Settled, Settlement, StageRefused, Staged, Verdict, Want, WorkerId,
};
use std::{pin::pin, time::Duration};
use tokio::time::{Instant, timeout_at};

#[async_trait]
impl GroupQueue for MemoryQueue {
    fn settings(&self) -> QueueSettings {
        self.settings
    }

    async fn stage(&self, nonce: Nonce, jobs: Vec<NewJob>, room: Room) -> Result<Vec<Staged>, StageRefused> {
        self.call(|state| state.stage(nonce, jobs, room))
    }

    async fn claim(&self, nonce: Nonce, worker: WorkerId, want: &Want) -> Result<Vec<Lease>> {
        self.call(|state| state.claim(nonce, worker, want))
    }

    async fn settle(
        &self,
        nonce: Nonce,
        worker: WorkerId,
        settlements: Vec<Settlement>,
        next: Option<&Want>,
    ) -> Result<Settled> {
        self.call(|state| state.settle(nonce, worker, settlements, next))
    }

    async fn extend(&self, leases: &[LeaseRef], lease: Duration) -> Result<Vec<Verdict>> {
        Ok(self.call(|state| state.extend(leases, lease)))
    }

    async fn reap(&self, limit: usize) -> Result<Reaped> {
        Ok(self.call(|state| state.reap(limit)))
    }

    async fn wait(&self, capabilities: &Capabilities, at_most: Duration) -> Result<()> {
        // An end of time that the timer cannot name is no end.
        let end = Instant::now().checked_add(at_most);
        loop {
            // Listens before it looks: whatever rings after the look is heard.
            let mut bell = pin!(self.bell.notified());
            bell.as_mut().enable();
            let now = self.clock.now();
            let wake = match self.call(|state| state.outlook(capabilities)) {
                Outlook::Ready => return Ok(()),
                Outlook::At(at) => Instant::now().checked_add(at.since(now)),
                Outlook::Nothing => None,
            };
            let Some(until) = [wake, end].into_iter().flatten().min() else {
                bell.await;
                continue;
            };
            if timeout_at(until, bell).await.is_err() && end.is_some_and(|end| end <= until) {
                return Ok(());
            }
        }
    }

    async fn answer(&self, tenant: &TenantId, job: JobId) -> Result<Option<Bytes>> {
        Ok(self.call(|state| state.answer(tenant, job)))
    }

    async fn hold(
        &self,
        nonce: Nonce,
        worker: WorkerId,
        groups: &[GroupId],
        lease: Duration,
    ) -> Result<Vec<Hold>> {
        self.call(|state| state.hold(nonce, worker, groups, lease))
    }

    async fn beat(&self, worker: WorkerId, capabilities: &Capabilities, ttl: Duration) -> Result<()> {
        self.call(|state| state.beat(worker, capabilities, ttl));
        Ok(())
    }

    async fn goodbye(&self, worker: WorkerId) -> Result<()> {
        self.call(|state| state.goodbye(worker));
        Ok(())
    }

    async fn held(&self, blobs: &[BlobRef]) -> Result<Vec<Held>> {
        Ok(self.call(|state| state.held(blobs)))
    }

    async fn forget(&self, blobs: &[BlobRef]) -> Result<()> {
        self.call(|state| state.forget(blobs));
        Ok(())
    }
}
