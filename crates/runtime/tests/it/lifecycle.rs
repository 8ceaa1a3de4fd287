//! Starting, stopping and dying.
use crate::support::{
    All, Bench, Ear, Faults, Heard, InOrder, Manner, Note, Op, Reaction, Run, RunEvent, Total, Totals, What, idle, note,
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

/// H-07, H-09: what runs is finished and settled, what waits is claimable at once, and no task remains.
#[tokio::test(start_paused = true)]
async fn a_closed_kernel_leaves_nothing_behind_and_can_be_built_again() {
    let bench = Bench::new();
    let heard = Heard::new();
    heard.react([Reaction::Slow(Duration::from_secs(5))]);
    let before = Handle::current().metrics().num_alive_tasks();
    let single = WorkerSettings { max_jobs_per_group: 1, ..WorkerSettings::default() };
    let kernel = bench.kernel().pipeline(with::<InOrder>(&heard)).worker(single).start().unwrap();
    kernel.send_all([note("r", 1, 1), note("r", 2, 2), note("r", 3, 3)]).await.unwrap();
    while heard.calls() == 0 {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert!(Handle::current().metrics().num_alive_tasks() > before);
    kernel.close().await;
    assert_eq!(heard.numbers(), [1]);
    assert_eq!(Handle::current().metrics().num_alive_tasks(), before);
    let closed = Instant::now();
    let again = bench.kernel().pipeline(with::<InOrder>(&heard)).start().unwrap();
    idle(&again).await;
    assert!(closed.elapsed() < Duration::from_secs(1), "nothing waited for a lease: {:?}", closed.elapsed());
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
    while heard.calls() == 0 {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    drop(kernel);
    tokio::task::yield_now().await;
    assert_eq!(Handle::current().metrics().num_alive_tasks(), before);
    let killed = Instant::now();
    let again = bench.kernel().pipeline(with::<All>(&heard)).start().unwrap();
    idle(&again).await;
    assert!(killed.elapsed() + Duration::from_secs(1) >= WorkerSettings::default().lease);
    assert_eq!((heard.calls(), heard.numbers()), (2, vec![1]));
}

/// A run that takes many leases' time keeps its lease, so that nobody else starts it.
///
/// Q-15
#[tokio::test(start_paused = true)]
async fn a_slow_effect_keeps_its_lease() {
    let bench = Bench::new();
    let heard = Heard::new();
    heard.react([Reaction::Slow(Duration::from_secs(600))]);
    let first = bench.kernel().pipeline(with::<All>(&heard)).start().unwrap();
    let second = bench.kernel().pipeline(with::<All>(&heard)).start().unwrap();
    first.send(note("r", 1, 1)).await.unwrap();
    idle(&first).await;
    assert_eq!((heard.calls(), heard.numbers()), (1, vec![1]));
    assert_eq!(first.counters().leases_lost.get() + second.counters().leases_lost.get(), 0);
}

/// H-08: the queue refuses everything for a while.
#[tokio::test(start_paused = true)]
async fn a_worker_outlives_a_queue_that_is_away() {
    let bench = Bench::new();
    let heard = Heard::new();
    let faults = Arc::new(Faults::new());
    let kernel = bench.faulty(&faults).pipeline(with::<All>(&heard)).start().unwrap();
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
    let kernel = bench.faulty(&faults).pipeline(with::<All>(&heard)).start().unwrap();
    tokio::time::sleep(Duration::from_secs(1)).await;
    faults.times(Op::Claim, "", 0, 4, What::LoseReply(Kind::Timeout));
    let sent = Instant::now();
    kernel.send(note("r", 1, 1)).await.unwrap();
    idle(&kernel).await;
    assert_eq!(heard.numbers(), [1]);
    assert!(sent.elapsed() < Duration::from_secs(10), "it waited for a lease: {:?}", sent.elapsed());
}

/// A store that answers for fewer rows than it was asked loses nothing: the leases without an answer lapse.
#[tokio::test(start_paused = true)]
async fn a_lease_that_nobody_answers_for_is_let_go() {
    let bench = Bench::new();
    let heard = Heard::new();
    let short = Arc::new(Short(bench.ports.folds.clone(), std::sync::atomic::AtomicBool::new(true)));
    let ports = foldwright_ports::Ports { folds: short, ..bench.ports.clone() };
    let kernel = foldwright_runtime::Kernel::builder(ports, foldwright_runtime::Role::All);
    let kernel = kernel.pipeline(with::<All>(&heard)).start().unwrap();
    kernel.send(note("r", 1, 1)).await.unwrap();
    idle(&kernel).await;
    assert!(heard.numbers().contains(&1));
}

/// A fold store that forgets to answer once.
struct Short(Arc<dyn foldwright_ports::FoldStore>, std::sync::atomic::AtomicBool);

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
