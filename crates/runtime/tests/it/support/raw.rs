//! Jobs as they lie in the queue, for tests that forge and spoil them.
use super::Bench;
use foldwright_domain::{Intent, Millis};
use foldwright_ports::{
    BlobEntry, BlobRef, Body, Capabilities, Capability, HandedJob, IdSource, Lease, Limits, NewJob, Outcome,
    Rest, Room, Route, Settlement, Want, WorkerId,
};
use foldwright_runtime::{Pipeline, Role};
use std::{collections::BTreeMap, sync::Arc, time::Duration};

impl Bench {
    /// Takes what is due of one route, as a worker would, and keeps it.
    pub(crate) async fn take(&self, route: &str) -> Vec<Lease> {
        let capability = Capability { version: u32::MAX };
        let want = Want {
            capabilities: Arc::new(Capabilities {
                routes: BTreeMap::from([(Route::parse(route).unwrap(), capability)]),
                format: u8::MAX,
            }),
            max_groups: 1_000,
            max_jobs_per_group: 1_000,
            max_bytes: u64::MAX,
            lease: Duration::from_secs(30),
        };
        self.ports
            .queue
            .claim(self.ids.nonce(), WorkerId(1), &want)
            .await
            .unwrap()
    }

    /// The job that a command makes, taken out of the queue again.
    pub(crate) async fn job_of<A: foldwright_domain::Aggregate, C: foldwright_domain::Command<Of = A>>(
        &self,
        pipeline: Pipeline<A>,
        route: &str,
        intent: Intent<C>,
    ) -> NewJob {
        let web = self.with_role(Role::Web).pipeline(pipeline).start().unwrap();
        web.send(intent).await.unwrap();
        let lease = self.take(route).await.remove(0);
        self.done(&lease).await;
        as_new(&lease, &lease.jobs[0])
    }

    /// Completes a lease that was taken by hand.
    pub(crate) async fn done(&self, lease: &Lease) {
        let outcome = Outcome {
            done: lease.jobs.len(),
            rest: Rest::Back,
        };
        let settled = Settlement {
            lease: lease.reference(),
            outcome,
            answers: Vec::new(),
            then: Vec::new(),
        };
        self.ports
            .queue
            .settle(self.ids.nonce(), WorkerId(1), vec![settled], None)
            .await
            .unwrap();
    }

    pub(crate) async fn stage(&self, job: NewJob) {
        self.ports
            .queue
            .stage(self.ids.nonce(), vec![job], Room::Sender)
            .await
            .unwrap();
    }

    /// The bodies in the hot tier, then those in the cold one.
    pub(crate) async fn bodies(&self) -> [Vec<BlobEntry>; 2] {
        let tiers = [&self.ports.hot_blobs, &self.ports.cold_blobs];
        let mut found = [Vec::new(), Vec::new()];
        for (tier, found) in tiers.into_iter().zip(&mut found) {
            *found = tier
                .list(Millis(i64::MAX), None, Limits::items(10_000))
                .await
                .unwrap()
                .items;
        }
        found
    }

    /// Throws every body away that lies outside its job.
    pub(crate) async fn purge_bodies(&self) {
        for (entries, tier) in self
            .bodies()
            .await
            .iter()
            .zip([&self.ports.hot_blobs, &self.ports.cold_blobs])
        {
            for entry in entries {
                assert!(
                    tier.delete_untouched(&entry.blob, Millis(i64::MAX))
                        .await
                        .unwrap()
                );
            }
        }
    }
}

/// A handed out job as it was staged; one that carries no state.
pub(crate) fn as_new(lease: &Lease, job: &HandedJob) -> NewJob {
    assert!(job.context.is_none());
    NewJob {
        id: job.id,
        route: job.route.clone(),
        group: lease.group.clone(),
        position: job.position,
        delay: Duration::ZERO,
        replace: false,
        dedup: None,
        format: job.format,
        header: job.header.clone(),
        body: job.body.clone(),
        context: None,
    }
}

/// The name of the body that a job of `tenant` points to.
pub(crate) fn blob_of(job: &NewJob) -> BlobRef {
    match job.body {
        Body::Blob { hash, .. } => BlobRef {
            tenant: job.group.tenant.clone(),
            hash,
        },
        Body::Inline(_) => panic!("the body is inline"),
    }
}

/// Text of this length that hardly compresses below half of it.
pub(crate) fn noise(length: usize, seed: u64) -> String {
    let mut seeded = super::Seeded::new(seed);
    (0..length)
        .map(|_| char::from_digit((seeded.below(16)) as u32, 16).unwrap())
        .collect()
}
