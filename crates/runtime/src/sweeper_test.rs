//! Which bodies are swept, and when.
use crate::sweeper::{BACKSTOP, GRACE, Sweeper, Swept};
use async_trait::async_trait;
use bytes::Bytes;
use foldwright_adapter_memory::{Memory, VirtualClock};
use foldwright_domain::{CommandId, EventId, Millis, Position, TenantId};
use foldwright_ports::{
    BlobEntry, BlobHash, BlobRef, BlobStore, Body, Capabilities, Capability, Cursor, Dedup, Error, GroupId,
    JobId, Kind, Limits, MergeWindow, NewJob, Nonce, Outcome, Page, Ports, QueueSettings, Rest, Result, Room,
    Route, Settlement, Staged, Want, WorkerId,
};
use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

const INSTANT: Duration = Duration::from_millis(1);
const MINUTE: Duration = Duration::from_secs(60);
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

struct Bench {
    ports: Ports,
    nonces: AtomicU64,
}

impl Bench {
    fn new() -> Self {
        let clock = Arc::new(VirtualClock::new(Millis(1_764_500_000_000)));
        let ports = Memory::new(clock, QueueSettings::default()).ports();
        Self {
            ports,
            nonces: AtomicU64::new(0),
        }
    }

    fn nonce(&self) -> Nonce {
        Nonce(self.nonces.fetch_add(1, Ordering::Relaxed).into())
    }

    /// A body that job `n` carries, put right before it is staged.
    async fn stage(&self, n: u128, blob: &BlobRef) {
        self.stage_as(n, blob, None).await;
    }

    async fn stage_as(&self, n: u128, blob: &BlobRef, dedup: Option<Dedup>) -> Staged {
        self.ports
            .hot_blobs
            .put(blob, Bytes::from_static(b"body"))
            .await
            .unwrap();
        let route = route();
        let job = NewJob {
            id: JobId::of_command(CommandId::from_u128(n << 12), &route),
            group: GroupId {
                tenant: blob.tenant.clone(),
                path: route.path().into(),
                key: if dedup.is_some() {
                    "one".into()
                } else {
                    n.to_string().into()
                },
            },
            route,
            position: Some(Position {
                occurred_at: self.ports.clock.now(),
                id: EventId::from_u128(n),
            }),
            delay: Duration::ZERO,
            replace: false,
            dedup,
            format: 1,
            header: Bytes::new(),
            body: Body::Blob {
                hash: blob.hash,
                bytes: 5_000,
            },
            context: None,
        };
        self.ports
            .queue
            .stage(self.nonce(), vec![job], Room::Sender)
            .await
            .unwrap()
            .remove(0)
    }

    /// Completes so many jobs.
    async fn complete(&self, jobs: usize) {
        let want = Want {
            capabilities: Arc::new(Capabilities {
                routes: BTreeMap::from([(route(), Capability { version: 0 })]),
                format: 1,
            }),
            max_groups: jobs,
            max_jobs_per_group: 1,
            max_bytes: u64::MAX,
            lease: MINUTE,
        };
        let leases = self
            .ports
            .queue
            .claim(self.nonce(), WorkerId(1), &want)
            .await
            .unwrap();
        assert_eq!(leases.len(), jobs);
        let done = |lease: &foldwright_ports::Lease| Settlement {
            lease: lease.reference(),
            outcome: Outcome {
                done: 1,
                rest: Rest::Back,
            },
            answers: Vec::new(),
            then: Vec::new(),
        };
        let settlements = leases.iter().map(done).collect();
        self.ports
            .queue
            .settle(self.nonce(), WorkerId(1), settlements, None)
            .await
            .unwrap();
    }

    async fn sweep(&self) -> Swept {
        Sweeper::default().sweep(&self.ports).await.unwrap()
    }

    async fn is_there(&self, blob: &BlobRef) -> bool {
        self.ports.hot_blobs.get(blob).await.unwrap().is_some()
    }
}

/// Lets so much time pass, but for a little.
async fn almost(time: Duration, little: Duration) {
    tokio::time::sleep(time.checked_sub(little).unwrap()).await;
}

fn route() -> Route {
    Route::parse("runs/command/note").unwrap()
}

fn blob(content: &str) -> BlobRef {
    BlobRef {
        tenant: TenantId::parse("a").unwrap(),
        hash: BlobHash::of(content.as_bytes()),
    }
}

/// B-11, B-12
#[tokio::test(start_paused = true)]
async fn a_body_stays_as_long_as_one_job_holds_it_and_an_hour_longer() {
    let bench = Bench::new();
    let shared = blob("shared");
    for n in 1..=8 {
        bench.stage(n, &shared).await;
    }
    bench.complete(7).await;
    tokio::time::sleep(21 * DAY).await;
    assert_eq!(
        bench.sweep().await,
        Swept {
            judged: 1,
            deleted: 0
        }
    );
    bench.complete(1).await;
    almost(GRACE, INSTANT).await;
    assert_eq!(bench.sweep().await.deleted, 0);
    assert!(bench.is_there(&shared).await);
    tokio::time::sleep(INSTANT).await;
    assert_eq!(bench.sweep().await.deleted, 1);
    assert!(!bench.is_there(&shared).await);
    assert_eq!(bench.sweep().await, Swept::default());
}

/// B-11
#[tokio::test(start_paused = true)]
async fn staging_a_body_again_in_its_grace_restores_full_cover() {
    let bench = Bench::new();
    let body = blob("body");
    bench.stage(1, &body).await;
    bench.complete(1).await;
    almost(GRACE, MINUTE).await;
    bench.stage(2, &body).await;
    tokio::time::sleep(30 * DAY).await;
    assert_eq!(bench.sweep().await.deleted, 0);
    bench.complete(1).await;
    tokio::time::sleep(GRACE).await;
    assert_eq!(bench.sweep().await.deleted, 1);
}

/// B-13
#[tokio::test(start_paused = true)]
async fn a_chain_of_squashes_leaves_one_hold() {
    let bench = Bench::new();
    let dedup = Some(Dedup {
        ttl: 10 * DAY,
        window: MergeWindow::Sliding,
        replace: true,
    });
    let bodies: Vec<_> = (0..5).map(|n| blob(&n.to_string())).collect();
    for (n, body) in bodies.iter().enumerate() {
        tokio::time::sleep(MINUTE).await;
        let staged = bench.stage_as(n as u128 + 1, body, dedup).await;
        assert_eq!(staged, if n == 0 { Staged::New } else { Staged::Squashed });
    }
    tokio::time::sleep(GRACE).await;
    assert_eq!(bench.sweep().await.deleted, 4);
    assert!(bench.is_there(&bodies[4]).await);
}

/// B-14
#[tokio::test(start_paused = true)]
async fn a_body_that_was_never_staged_goes_by_the_backstop() {
    let bench = Bench::new();
    let orphan = blob("orphan");
    bench.ports.hot_blobs.put(&orphan, Bytes::new()).await.unwrap();
    // Within the margin nobody even looks at it: its job may be about to be staged.
    tokio::time::sleep(10 * MINUTE).await;
    assert_eq!(bench.sweep().await, Swept::default());
    almost(BACKSTOP, 10 * MINUTE + INSTANT).await;
    assert_eq!(
        bench.sweep().await,
        Swept {
            judged: 1,
            deleted: 0
        }
    );
    tokio::time::sleep(INSTANT).await;
    assert_eq!(
        bench.sweep().await,
        Swept {
            judged: 1,
            deleted: 1
        }
    );
}

/// B-14: a released body that a writer has just put again waits for that writer's job.
#[tokio::test(start_paused = true)]
async fn a_body_that_was_just_put_again_is_left_alone() {
    let bench = Bench::new();
    let body = blob("body");
    bench.stage(1, &body).await;
    bench.complete(1).await;
    tokio::time::sleep(2 * GRACE).await;
    bench.ports.hot_blobs.put(&body, Bytes::new()).await.unwrap();
    assert_eq!(bench.sweep().await, Swept::default());
    almost(GRACE, MINUTE).await;
    assert_eq!(bench.sweep().await.deleted, 0);
    tokio::time::sleep(MINUTE).await;
    assert_eq!(bench.sweep().await.deleted, 1);
}

/// B-15
#[tokio::test(start_paused = true)]
async fn sweeps_are_bounded_go_on_where_the_last_one_stopped_and_start_over() {
    let bench = Bench::new();
    for n in 0..2_500 {
        bench
            .ports
            .hot_blobs
            .put(&blob(&n.to_string()), Bytes::new())
            .await
            .unwrap();
    }
    let held: Vec<_> = (0..5).map(|n| blob(&format!("held {n}"))).collect();
    for (n, body) in held.iter().enumerate() {
        bench.stage(n as u128 + 1, body).await;
    }
    let mut sweeper = Sweeper::default();
    tokio::time::sleep(DAY).await;
    let mut judged = Vec::new();
    for _ in 0..4 {
        let swept = sweeper.sweep(&bench.ports).await.unwrap();
        judged.push(swept.judged);
        assert_eq!(swept.deleted, 0);
    }
    assert_eq!(
        judged,
        [1_000, 1_000, 505, 1_000],
        "bounded even where nothing is found"
    );
    tokio::time::sleep(BACKSTOP).await;
    let mut deleted = 0;
    for _ in 0..5 {
        deleted += sweeper.sweep(&bench.ports).await.unwrap().deleted;
    }
    assert_eq!(deleted, 2_500);
    for body in &held {
        assert!(bench.is_there(body).await);
    }
}

/// B-16
#[tokio::test(start_paused = true)]
async fn the_cold_tier_is_swept_too() {
    let bench = Bench::new();
    let body = blob("large");
    bench.stage(1, &body).await;
    bench.ports.cold_blobs.put(&body, Bytes::new()).await.unwrap();
    assert!(
        bench
            .ports
            .hot_blobs
            .delete_untouched(&body, Millis(i64::MAX))
            .await
            .unwrap()
    );
    bench.complete(1).await;
    assert!(
        bench.ports.cold_blobs.get(&body).await.unwrap().is_some(),
        "a release deletes nothing"
    );
    tokio::time::sleep(GRACE).await;
    assert_eq!(
        bench.sweep().await,
        Swept {
            judged: 1,
            deleted: 1
        }
    );
    assert!(bench.ports.cold_blobs.get(&body).await.unwrap().is_none());
}

/// A tier in which one body cannot be deleted.
struct Stubborn {
    blobs: Arc<dyn BlobStore>,
    body: BlobRef,
}

#[async_trait]
impl BlobStore for Stubborn {
    async fn put(&self, blob: &BlobRef, stored: Bytes) -> Result<()> {
        self.blobs.put(blob, stored).await
    }

    async fn get(&self, blob: &BlobRef) -> Result<Option<Bytes>> {
        self.blobs.get(blob).await
    }

    async fn list(&self, before: Millis, from: Option<Cursor>, limits: Limits) -> Result<Page<BlobEntry>> {
        self.blobs.list(before, from, limits).await
    }

    async fn delete_untouched(&self, blob: &BlobRef, before: Millis) -> Result<bool> {
        if *blob == self.body {
            return Err(Error::new(Kind::Unavailable, "delete", "locked"));
        }
        self.blobs.delete_untouched(blob, before).await
    }
}

/// B-15: what cannot be deleted is told, and keeps the sweep from nothing else.
#[tokio::test(start_paused = true)]
async fn one_body_that_cannot_be_deleted_holds_up_no_other() {
    let mut bench = Bench::new();
    for n in 0..1_200 {
        bench
            .ports
            .hot_blobs
            .put(&blob(&n.to_string()), Bytes::new())
            .await
            .unwrap();
    }
    let first = bench
        .ports
        .hot_blobs
        .list(Millis(i64::MAX), None, Limits::items(1))
        .await
        .unwrap()
        .items;
    let body = first[0].blob.clone();
    bench.ports.hot_blobs = Arc::new(Stubborn {
        blobs: bench.ports.hot_blobs.clone(),
        body: body.clone(),
    });
    tokio::time::sleep(BACKSTOP).await;
    let mut sweeper = Sweeper::default();
    assert!(sweeper.sweep(&bench.ports).await.is_err());
    assert_eq!(sweeper.sweep(&bench.ports).await.unwrap().deleted, 200);
    let left = bench
        .ports
        .hot_blobs
        .list(Millis(i64::MAX), None, Limits::items(10))
        .await
        .unwrap()
        .items;
    assert_eq!(left.iter().map(|entry| &entry.blob).collect::<Vec<_>>(), [&body]);
}
