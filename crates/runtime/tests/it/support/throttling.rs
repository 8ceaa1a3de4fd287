//! The memory queue with the window of a throttle, made of the two that it has.
use async_trait::async_trait;
use bytes::Bytes;
use foldwright_domain::{Millis, TenantId};
use foldwright_ports::{
    BlobRef, Capabilities, Clock, Dedup, GroupId, GroupQueue, Held, JobId, Lease, LeaseRef, MergeWindow,
    NewJob, Nonce, Reaped, Result, Room, Route, Settled, Settlement, StageRefused, Staged, Verdict, Want,
    WorkerId,
};
use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
    time::Duration,
};

/// An open window: when it ends, and when the run that waits in it is due.
#[derive(Clone, Copy)]
struct Open {
    until: Millis,
    waits: Option<Millis>,
}

pub(crate) struct Throttling {
    pub(crate) inner: Arc<dyn GroupQueue>,
    pub(crate) clock: Arc<dyn Clock>,
    open: Mutex<BTreeMap<(GroupId, Route), Open>>,
}

impl Throttling {
    pub(crate) fn new(inner: Arc<dyn GroupQueue>, clock: Arc<dyn Clock>) -> Arc<Self> {
        Arc::new(Self {
            inner,
            clock,
            open: Mutex::default(),
        })
    }

    fn translate(&self, mut job: NewJob) -> NewJob {
        let Some(dedup) = job.dedup.filter(|dedup| dedup.window == MergeWindow::Throttled) else {
            return job;
        };
        let now = self.clock.now();
        let mut windows = self.open.lock().unwrap();
        let key = (job.group.clone(), job.route.clone());
        let until = |at: Millis| Duration::from_millis(u64::try_from(at.since(now).as_millis()).unwrap());
        let window = windows.get(&key).copied().filter(|open| now < open.until);
        let (next, delay, ttl) = match window {
            None => {
                let until = now.plus(dedup.ttl);
                (Open { until, waits: None }, job.delay, dedup.ttl)
            }
            Some(open) => match open.waits.filter(|due| now < *due) {
                Some(due) => (open, until(due), until(due)),
                None => {
                    let next = Open {
                        until: open.until.plus(dedup.ttl),
                        waits: Some(open.until),
                    };
                    (next, until(open.until), until(open.until))
                }
            },
        };
        windows.insert(key, next);
        job.delay = delay;
        job.dedup = Some(Dedup {
            ttl,
            window: MergeWindow::Fixed,
            ..dedup
        });
        job
    }
}

#[async_trait]
impl GroupQueue for Throttling {
    async fn stage(&self, nonce: Nonce, jobs: Vec<NewJob>, room: Room) -> Result<Vec<Staged>, StageRefused> {
        let jobs = jobs.into_iter().map(|job| self.translate(job)).collect();
        self.inner.stage(nonce, jobs, room).await
    }

    async fn claim(&self, nonce: Nonce, worker: WorkerId, want: &Want) -> Result<Vec<Lease>> {
        self.inner.claim(nonce, worker, want).await
    }

    async fn settle(
        &self,
        nonce: Nonce,
        worker: WorkerId,
        mut settlements: Vec<Settlement>,
        next: Option<&Want>,
    ) -> Result<Settled> {
        for settlement in &mut settlements {
            let then = std::mem::take(&mut settlement.then);
            settlement.then = then.into_iter().map(|job| self.translate(job)).collect();
        }
        self.inner.settle(nonce, worker, settlements, next).await
    }

    async fn extend(&self, leases: &[LeaseRef], lease: Duration) -> Result<Vec<Verdict>> {
        self.inner.extend(leases, lease).await
    }

    async fn reap(&self, limit: usize) -> Result<Reaped> {
        self.inner.reap(limit).await
    }

    async fn wait(&self, capabilities: &Capabilities, at_most: Duration) -> Result<()> {
        self.inner.wait(capabilities, at_most).await
    }

    async fn answer(&self, tenant: &TenantId, job: JobId) -> Result<Option<Bytes>> {
        self.inner.answer(tenant, job).await
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
