use super::Watch;
use async_trait::async_trait;
use bytes::Bytes;
use foldwright_domain::TenantId;
use foldwright_ports::{
    BlobRef, Capabilities, GroupId, GroupQueue, Held, Hold, JobId, Lease, LeaseRef, NewJob, Nonce,
    QueueSettings, Reaped, Result, Room, Settled, Settlement, StageRefused, Staged, Verdict, Want, WorkerId,
};
use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
    time::Duration,
};

/// A queue whose every step is looked at.
pub(in super::super) struct WatchedQueue {
    pub(super) inner: Arc<dyn GroupQueue>,
    pub(super) watch: Arc<Watch>,
    /// The jobs of each lease, for the settlement that counts some of them as done.
    pub(super) jobs: Mutex<BTreeMap<LeaseRef, Vec<JobId>>>,
}

impl WatchedQueue {
    fn granted(&self, leases: &[Lease]) {
        self.watch.granted(leases);
        let mut jobs = self.jobs.lock().unwrap();
        for lease in leases {
            let ids = lease.jobs.iter().map(|job| job.id).collect();
            jobs.insert(lease.reference(), ids);
        }
    }

    fn staged(&self, jobs: impl IntoIterator<Item = (TenantId, JobId)>) {
        let mut seen = self.watch.lock();
        for (tenant, job) in jobs {
            seen.queue.staged(&tenant, job);
        }
    }
}

fn names(jobs: &[NewJob]) -> Vec<(TenantId, JobId)> {
    jobs.iter()
        .map(|job| (job.group.tenant.clone(), job.id))
        .collect()
}

#[async_trait]
impl GroupQueue for WatchedQueue {
    fn settings(&self) -> QueueSettings {
        self.inner.settings()
    }

    async fn stage(&self, nonce: Nonce, jobs: Vec<NewJob>, room: Room) -> Result<Vec<Staged>, StageRefused> {
        let names = names(&jobs);
        let staged = self.inner.stage(nonce, jobs, room).await?;
        let new = names.into_iter().zip(&staged);
        self.staged(
            new.filter(|(_, answer)| **answer != Staged::Known)
                .map(|(name, _)| name),
        );
        self.watch.step().await;
        Ok(staged)
    }

    async fn claim(&self, nonce: Nonce, worker: WorkerId, want: &Want) -> Result<Vec<Lease>> {
        let leases = self.inner.claim(nonce, worker, want).await?;
        self.granted(&leases);
        if !leases.is_empty() {
            self.watch.step().await;
        }
        Ok(leases)
    }

    async fn settle(
        &self,
        nonce: Nonce,
        worker: WorkerId,
        settlements: Vec<Settlement>,
        next: Option<&Want>,
    ) -> Result<Settled> {
        let asked: Vec<_> = settlements
            .iter()
            .map(|one| (one.lease.clone(), one.outcome.done, names(&one.then)))
            .collect();
        let settled = self.inner.settle(nonce, worker, settlements, next).await?;
        for ((lease, done, then), verdict) in asked.iter().zip(&settled.verdicts) {
            // The first answer again, for a call that was repeated: its lease was noted as ended then.
            let jobs = self.jobs.lock().unwrap().remove(lease);
            if let (Verdict::Applied, Some(jobs)) = (verdict, jobs) {
                self.watch.settled(lease, &jobs[..*done]);
                self.staged(then.iter().cloned());
            }
        }
        self.granted(&settled.next);
        self.watch.step().await;
        Ok(settled)
    }

    async fn extend(&self, leases: &[LeaseRef], lease: Duration) -> Result<Vec<Verdict>> {
        let verdicts = self.inner.extend(leases, lease).await?;
        for (one, verdict) in leases.iter().zip(&verdicts) {
            if matches!(verdict, Verdict::Applied) {
                self.watch.extended(one, lease);
            }
        }
        Ok(verdicts)
    }

    async fn reap(&self, limit: usize) -> Result<Reaped> {
        let reaped = self.inner.reap(limit).await?;
        if reaped.lapsed > 0 {
            self.watch.reaped();
            self.watch.step().await;
        }
        Ok(reaped)
    }

    async fn wait(&self, capabilities: &Capabilities, at_most: Duration) -> Result<()> {
        self.inner.wait(capabilities, at_most).await
    }

    async fn answer(&self, tenant: &TenantId, job: JobId) -> Result<Option<Bytes>> {
        self.inner.answer(tenant, job).await
    }

    async fn hold(
        &self,
        nonce: Nonce,
        worker: WorkerId,
        groups: &[GroupId],
        lease: Duration,
    ) -> Result<Vec<Hold>> {
        self.inner.hold(nonce, worker, groups, lease).await
    }

    async fn beat(&self, worker: WorkerId, capabilities: &Capabilities, ttl: Duration) -> Result<()> {
        self.inner.beat(worker, capabilities, ttl).await
    }

    async fn goodbye(&self, worker: WorkerId) -> Result<()> {
        self.inner.goodbye(worker).await
    }

    async fn held(&self, blobs: &[BlobRef]) -> Result<Vec<Held>> {
        self.inner.held(blobs).await
    }

    async fn forget(&self, blobs: &[BlobRef]) -> Result<()> {
        self.inner.forget(blobs).await
    }
}
