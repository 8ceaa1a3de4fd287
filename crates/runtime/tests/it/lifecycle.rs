//! Starting, stopping and dying.
use crate::support::{
    All, Bench, Ear, Faults, Heard, InOrder, Manner, Note, Op, Reaction, Run, RunEvent, Total, Totals, What,
    idle, note, until,
};
use foldwright_domain::Dispatch;
use foldwright_ports::Kind;
use foldwright_runtime::{Pipeline, WorkerSettings};
use std::{sync::Arc, time::Duration};
use tokio::{runtime::Handle, time::Instant};

fn with<M: Manner>(heard: &Arc<Heard<Total>>) -> Pipeline<Run> {
    Pipeline::define("runs")
        .declares::<Note>()
        .fold::<Totals>(|f| f.subscriber(Ear::<RunEvent, _, M>::new(heard), Dispatch::each()))
        .build()
        .unwrap()
}

/// H-07, H-09: the run that has begun is finished and settled, those behind it in its lease are claimable at once, and no
/// task remains.
#[tokio::test(start_paused = true)]
async fn a_closed_kernel_leaves_nothing_behind_and_can_be_built_again() {
    let bench = Bench::new();
    let heard = Heard::new();
    heard.react([Reaction::Slow(Duration::from_secs(5))]);
    let before = Handle::current().metrics().num_alive_tasks();
    let kernel = bench.kernel().pipeline(with::<InOrder>(&heard)).start().unwrap();
    kernel
        .send_all([note("r", 1, 1), note("r", 2, 2), note("r", 3, 3)])
        .await
        .unwrap();
    until(async || heard.calls() != 0).await;
    assert!(Handle::current().metrics().num_alive_tasks() > before);
    kernel.close().await;
    assert_eq!(heard.numbers(), [1]);
    assert_eq!(Handle::current().metrics().num_alive_tasks(), before);
    let closed = Instant::now();
    let again = bench.kernel().pipeline(with::<InOrder>(&heard)).start().unwrap();
    idle(&again).await;
    assert!(
        closed.elapsed() < Duration::from_secs(1),
        "nothing waited for a lease: {:?}",
        closed.elapsed()
    );
    assert_eq!(heard.numbers(), [1, 2, 3]);
    again.close().await;
    assert_eq!(Handle::current().metrics().num_alive_tasks(), before);
}

/// H-07: a killed process's groups come back with the lapse of their leases, and not before.
#[tokio::test(start_paused = true)]
async fn a_killed_worker_holds_its_groups_for_a_lease() {
    let bench = Bench::new();
    let heard = Heard::new();
    heard.react([Reaction::Slow(Duration::from_secs(5))]);
    let before = Handle::current().metrics().num_alive_tasks();
    let kernel = bench.kernel().pipeline(with::<All>(&heard)).start().unwrap();
    kernel.send(note("r", 1, 1)).await.unwrap();
    until(async || heard.calls() != 0).await;
    drop(kernel);
    tokio::task::yield_now().await;
    assert_eq!(Handle::current().metrics().num_alive_tasks(), before);
    let killed = Instant::now();
    let again = bench.kernel().pipeline(with::<All>(&heard)).start().unwrap();
    idle(&again).await;
    assert!(killed.elapsed() + Duration::from_secs(1) >= WorkerSettings::default().lease);
    assert_eq!((heard.calls(), heard.numbers()), (2, vec![1]));
}

/// A run that does not end is dropped and tried again, so it holds its lane and a stop for a bounded time.
///
/// S-07, H-09
#[tokio::test(start_paused = true)]
async fn an_effect_that_never_ends_is_dropped_and_tried_again() {
    let bench = Bench::new();
    let heard = Heard::new();
    heard.react([Reaction::Slow(Duration::from_secs(1_000_000))]);
    let kernel = bench.kernel().pipeline(with::<All>(&heard)).start().unwrap();
    kernel.send(note("r", 1, 1)).await.unwrap();
    let begun = Instant::now();
    idle(&kernel).await;
    assert_eq!((heard.calls(), heard.numbers()), (2, vec![1]));
    assert!(begun.elapsed() >= WorkerSettings::default().effect_timeout);
    kernel.close().await;
}

/// A run that takes many leases' time keeps its lease, so that nobody else starts it.
///
/// Q-15
#[tokio::test(start_paused = true)]
async fn a_slow_effect_keeps_its_lease() {
    let bench = Bench::new();
    let heard = Heard::new();
    heard.react([Reaction::Slow(Duration::from_secs(240))]);
    let patient = WorkerSettings {
        effect_timeout: Duration::from_secs(1_000),
        ..WorkerSettings::default()
    };
    let start = || {
        let kernel = bench.kernel().pipeline(with::<All>(&heard));
        kernel.worker(patient).start().unwrap()
    };
    let (first, second) = (start(), start());
    first.send(note("r", 1, 1)).await.unwrap();
    idle(&first).await;
    assert_eq!((heard.calls(), heard.numbers()), (1, vec![1]));
    let lost = first.counters().leases_lost.get() + second.counters().leases_lost.get();
    assert_eq!(lost, 0);
}

/// An effect that does not return is dropped and tried again; its lane goes on.
///
/// R-20
#[tokio::test(start_paused = true)]
async fn an_effect_that_never_returns_is_given_up() {
    let bench = Bench::new();
    let heard = Heard::new();
    heard.react([Reaction::Slow(Duration::MAX)]);
    let single = WorkerSettings {
        effect_lanes: 1,
        ..WorkerSettings::default()
    };
    let kernel = bench
        .kernel()
        .pipeline(with::<All>(&heard))
        .worker(single)
        .start()
        .unwrap();
    kernel.send_all([note("r", 1, 1), note("s", 2, 2)]).await.unwrap();
    idle(&kernel).await;
    let mut numbers = heard.numbers();
    numbers.sort_unstable();
    assert_eq!((heard.calls(), numbers), (3, vec![1, 2]));
    let limit = WorkerSettings::default().effect_timeout.as_millis() as u64;
    assert!(
        heard.called_at().iter().skip(1).all(|ms| *ms >= limit),
        "{:?}",
        heard.called_at()
    );
}

/// H-08: the queue refuses everything for a while.
#[tokio::test(start_paused = true)]
async fn a_worker_outlives_a_queue_that_is_away() {
    let bench = Bench::new();
    let heard = Heard::new();
    let faults = Arc::new(Faults::new());
    let kernel = bench
        .faulty(&faults)
        .pipeline(with::<All>(&heard))
        .start()
        .unwrap();
    for op in [Op::Claim, Op::Settle, Op::Extend, Op::Reap, Op::Wait] {
        faults.always(op, "", What::Fail(Kind::Unavailable));
    }
    kernel.send(note("r", 1, 1)).await.unwrap();
    tokio::time::sleep(Duration::from_secs(600)).await;
    assert!(heard.runs().is_empty());
    faults.clear();
    idle(&kernel).await;
    assert_eq!(heard.numbers(), [1]);
    assert!(bench.blocked().await.is_empty());
}

/// A claim whose reply was lost is repeated under its nonce: the grants are not left to lapse.
///
/// Q-10
#[tokio::test(start_paused = true)]
async fn a_claim_without_a_reply_is_repeated_and_gets_its_grants() {
    let bench = Bench::new();
    let heard = Heard::new();
    let faults = Arc::new(Faults::new());
    let kernel = bench
        .faulty(&faults)
        .pipeline(with::<All>(&heard))
        .start()
        .unwrap();
    tokio::time::sleep(Duration::from_secs(1)).await;
    faults.times(Op::Claim, "", 0, 4, What::LoseReply(Kind::Timeout));
    let sent = Instant::now();
    kernel.send(note("r", 1, 1)).await.unwrap();
    idle(&kernel).await;
    assert_eq!(heard.numbers(), [1]);
    assert!(
        sent.elapsed() < Duration::from_secs(10),
        "it waited for a lease: {:?}",
        sent.elapsed()
    );
}

/// The same for the work that a settle hands out.
///
/// Q-10, Q-12
#[tokio::test(start_paused = true)]
async fn a_settle_without_a_reply_is_repeated_and_gets_its_grants() {
    let bench = Bench::new();
    let heard = Heard::new();
    let faults = Arc::new(Faults::new());
    faults.times(Op::Settle, "", 1, 3, What::LoseReply(Kind::Unavailable));
    let single = WorkerSettings {
        bulk_lanes: 1,
        max_groups: 1,
        max_jobs_per_group: 1,
        ..WorkerSettings::default()
    };
    let kernel = bench
        .faulty(&faults)
        .pipeline(with::<All>(&heard))
        .worker(single)
        .start()
        .unwrap();
    let sent = Instant::now();
    kernel
        .send_all((1..=5).map(|n| note(&n.to_string(), 0, n)))
        .await
        .unwrap();
    idle(&kernel).await;
    assert_eq!(heard.runs().len(), 5);
    assert!(
        sent.elapsed() < Duration::from_secs(10),
        "it waited for a lease: {:?}",
        sent.elapsed()
    );
    assert_eq!(kernel.counters().leases_lost.get(), 0);
}

/// A store that answers for fewer rows than it was asked loses nothing: the leases without an answer lapse.
#[tokio::test(start_paused = true)]
async fn a_lease_that_nobody_answers_for_is_let_go() {
    let bench = Bench::new();
    let heard = Heard::new();
    let short = Arc::new(Short(
        bench.ports.folds.clone(),
        std::sync::atomic::AtomicBool::new(true),
    ));
    let ports = foldwright_ports::Ports {
        folds: short,
        ..bench.ports.clone()
    };
    let kernel = foldwright_runtime::Kernel::builder(ports, foldwright_runtime::Role::All);
    let kernel = kernel.pipeline(with::<All>(&heard)).start().unwrap();
    kernel.send(note("r", 1, 1)).await.unwrap();
    idle(&kernel).await;
    assert!(heard.numbers().contains(&1));
}

/// A fold store that forgets to answer once.
struct Short(
    Arc<dyn foldwright_ports::FoldStore>,
    std::sync::atomic::AtomicBool,
);

#[async_trait::async_trait]
impl foldwright_ports::FoldStore for Short {
    async fn load(
        &self,
        keys: &[foldwright_ports::StateKey],
    ) -> foldwright_ports::Result<Vec<Option<foldwright_ports::StateRow>>> {
        if self.1.swap(false, std::sync::atomic::Ordering::Relaxed) {
            return Ok(Vec::new());
        }
        self.0.load(keys).await
    }

    async fn store(
        &self,
        rows: Vec<foldwright_ports::StateRow>,
    ) -> Vec<foldwright_ports::Result<foldwright_ports::Stored>> {
        self.0.store(rows).await
    }

    async fn list(
        &self,
        tenant: &foldwright_domain::TenantId,
        projection: &str,
        from: Option<foldwright_ports::Cursor>,
        limits: foldwright_ports::Limits,
    ) -> foldwright_ports::Result<foldwright_ports::Page<foldwright_ports::StateRow>> {
        self.0.list(tenant, projection, from, limits).await
    }
}
