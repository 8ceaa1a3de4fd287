//! Where it is not known what became of a write, and where the log was cut: nothing is lost, nothing is decided on less than all.
use crate::{
    deciders::pipeline as deciders,
    support::{
        All, Bench, Ear, Faults, Heard, Note, Op, Run, RunEvent, Story, Total, Totals, What, idle, note,
        take, tenant, until,
    },
};
use async_trait::async_trait;
use foldwright_domain::{Dispatch, Millis};
use foldwright_ports::{
    Error, FoldRow, FoldStore, Kind, Result, Retention, StateKey, StateRow, StateTable, Stored,
};
use foldwright_runtime::{Answered, Kernel, Pipeline, Retained, Role, WithoutBase, WorkerSettings};
use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

fn everything() -> Retention {
    Retention {
        tenant: tenant("a"),
        aggregate_types: Vec::new(),
        accepted_before: Millis(i64::MAX),
    }
}

/// Every step of a retention.
async fn cut(kernel: &Kernel, retention: &Retention) -> Retained {
    let (mut all, mut from) = (Retained::default(), None);
    loop {
        let step = kernel
            .operator()
            .retain(retention, WithoutBase::Stop, from, 1_000)
            .await
            .unwrap();
        all.removed += step.removed;
        match step.next {
            Some(next) => from = Some(next),
            None => return all,
        }
    }
}

/// A command that was accepted before the horizon and is handled between the steps of a retention is not dropped without a
/// word.
///
/// G3
#[tokio::test(start_paused = true)]
async fn an_event_that_a_retention_passed_over_is_not_dropped_silently() {
    let bench = Bench::new();
    let kernel = bench.kernel().pipeline(plain()).start().unwrap();
    kernel
        .send_all((50..=60).map(|n| note("r", n, n as u64)))
        .await
        .unwrap();
    idle(&kernel).await;
    kernel.close().await;
    let web = bench.with_role(Role::Web).pipeline(plain()).start().unwrap();
    web.send(note("r", 10, 10)).await.unwrap();
    tokio::time::sleep(Duration::from_secs(1)).await;
    let horizon = Retention {
        accepted_before: bench.ports.clock.now(),
        ..everything()
    };
    let kept = web
        .operator()
        .retain(&horizon, WithoutBase::Stop, None, 1_000)
        .await
        .unwrap();
    let faults = Arc::new(Faults::new());
    faults.always(Op::StoreRows, "story", What::Fail(Kind::Unavailable));
    faults.always(Op::LoadRows, "story", What::Fail(Kind::Unavailable));
    let kernel = bench.faulty(&faults).pipeline(plain()).start().unwrap();
    until(async || {
        kernel.backlog().await.unwrap().commands.waiting + kernel.backlog().await.unwrap().commands.leased
            == 0
    })
    .await;
    web.operator()
        .retain(&horizon, WithoutBase::Stop, kept.next, 1_000)
        .await
        .unwrap();
    faults.clear();
    idle(&kernel).await;
    let all: Vec<u64> = [10].into_iter().chain(50..=60).collect();
    assert!(
        bench.state::<Story>("r").await == Some(all) || !bench.blocked().await.is_empty(),
        "lost without a word"
    );
}

fn plain() -> Pipeline<Run> {
    Pipeline::define("runs")
        .declares::<Note>()
        .fold::<Story>(|f| f)
        .build()
        .unwrap()
}

/// The count of a log that was cut catches up with that of a lagging row: they are other events.
#[tokio::test(start_paused = true)]
async fn equal_counts_behind_a_cut_are_not_taken_for_equal_events() {
    let bench = Bench::new();
    let faults = Arc::new(Faults::new());
    let kernel = bench.faulty(&faults).pipeline(deciders()).start().unwrap();
    kernel.send_all((1..=3).map(|n| take("r", n, 9))).await.unwrap();
    idle(&kernel).await;
    let done = cut(&kernel, &everything()).await;
    assert_eq!(done.removed, 3);
    faults.always(Op::StoreRows, "totals", What::Fail(Kind::Unavailable));
    let second = Duration::from_secs(1);
    let mut answers = Vec::new();
    for n in 4..=9 {
        let receipt = kernel.ask(take("r", n, 6)).await.unwrap();
        answers.push(receipt.decided(second).await.unwrap());
    }
    faults.clear();
    idle(&kernel).await;
    let taken = bench.state::<Totals>("r").await.unwrap().events;
    assert_eq!(taken, 6, "six seats");
}

/// Without a row that can be read, a decision rests on what was kept where the log was cut.
#[tokio::test(start_paused = true)]
async fn a_decision_without_a_row_begins_at_the_base() {
    let bench = Bench::new();
    let kernel = bench.kernel().pipeline(deciders()).start().unwrap();
    kernel.send_all((1..=3).map(|n| take("r", n, 9))).await.unwrap();
    idle(&kernel).await;
    let done = cut(&kernel, &everything()).await;
    assert_eq!(done.removed, 3);
    let mut row = bench.stored::<Totals>("r").await.unwrap();
    row.revision.write += 1;
    row.fold_version = 0;
    bench.ports.folds.store(vec![row]).await.remove(0).unwrap();
    let receipt = kernel.ask(take("r", 4, 3)).await.unwrap();
    let answered = receipt.decided(Duration::from_secs(1)).await.unwrap();
    assert!(matches!(answered, Answered::Rejected(_)), "{answered:?}");
}

fn with<A, B>(row: StateRow<A>, state: B) -> StateRow<B> {
    StateRow {
        key: row.key,
        state,
        fold_version: row.fold_version,
        revision: row.revision,
        events: row.events,
        last_applied: row.last_applied,
        created_at: row.created_at,
        updated_at: row.updated_at,
        ledger: row.ledger,
    }
}

/// What the table does at its n-th store and n-th load.
struct Scripted {
    folds: Arc<dyn FoldStore>,
    stores: AtomicUsize,
    loads: AtomicUsize,
    /// The store that lands and whose reply is lost. The first one is always refused.
    lose: Option<usize>,
    /// The load that fails.
    fail_load: Option<usize>,
}

impl Scripted {
    async fn rows(&self, keys: &[StateKey]) -> Result<Vec<Option<FoldRow<Option<Vec<u64>>>>>> {
        let rows = self.folds.load(keys).await?;
        let typed = |row: StateRow| {
            let state = serde_json::from_slice(&row.state).ok();
            with(row, state)
        };
        Ok(rows.into_iter().map(|row| row.map(typed)).collect())
    }
}

#[async_trait]
impl StateTable<Vec<u64>> for Scripted {
    async fn load(&self, keys: &[StateKey]) -> Result<Vec<Option<FoldRow<Option<Vec<u64>>>>>> {
        let n = self.loads.fetch_add(1, Ordering::Relaxed) + 1;
        if Some(n) == self.fail_load {
            return Err(Error::new(Kind::Unavailable, "load", "as the test says"));
        }
        self.rows(keys).await
    }

    async fn store(&self, rows: Vec<FoldRow<Vec<u64>>>) -> Vec<Result<Stored>> {
        let n = self.stores.fetch_add(1, Ordering::Relaxed) + 1;
        let mut answers = Vec::new();
        for row in rows {
            if n == 1 {
                answers.push(Err(Error::new(Kind::Full, "store", "as the test says")));
                continue;
            }
            let json = serde_json::to_vec(&row.state).unwrap().into();
            let stored = self.folds.store(vec![with(row, json)]).await;
            if Some(n) == self.lose {
                answers.push(Err(Error::new(Kind::Unavailable, "store", "the reply is lost")));
            } else {
                answers.extend(stored);
            }
        }
        answers
    }
}

fn stories(heard: &Arc<Heard<Vec<u64>>>) -> Pipeline<Run> {
    Pipeline::define("runs")
        .declares::<Note>()
        .fold::<Story>(|f| f.subscriber(Ear::<RunEvent, _, All>::new(heard), Dispatch::each()))
        .build()
        .unwrap()
}

/// One part of a lease passes, the next one's write lands with its reply lost, and the half of that cannot load: no run of it is
/// lost.
///
/// G7, S-04
#[tokio::test(start_paused = true)]
async fn doubt_about_a_write_outlives_the_next_failure() {
    let bench = Bench::new();
    let heard = Heard::new();
    let web = bench
        .with_role(Role::Web)
        .pipeline(stories(&heard))
        .start()
        .unwrap();
    web.send_all((1..=20).map(|n| note("r", n as i64, n)))
        .await
        .unwrap();
    let table = Arc::new(Scripted {
        folds: bench.ports.folds.clone(),
        stores: AtomicUsize::new(0),
        loads: AtomicUsize::new(0),
        lose: Some(3),
        fail_load: Some(4),
    });
    let kernel = bench
        .kernel()
        .pipeline(stories(&heard))
        .table::<Story>(table.clone())
        .start()
        .unwrap();
    idle(&kernel).await;
    assert_eq!(bench.state::<Story>("r").await, Some((1..=20).collect()));
    let mut numbers = heard.numbers();
    numbers.sort_unstable();
    numbers.dedup();
    assert_eq!(numbers, (1..=20).collect::<Vec<_>>());
}

fn mix(n: u64) -> u64 {
    let mut z = n.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// One part of a lease passes, the next one is stored and the state that its runs are to see cannot be written: no run of it is
/// lost.
///
/// G7, S-08
#[tokio::test(start_paused = true)]
async fn a_part_that_was_stored_in_vain_loses_no_run() {
    let bench = Bench::new();
    let heard = Heard::new();
    let web = bench
        .with_role(Role::Web)
        .pipeline(stories(&heard))
        .start()
        .unwrap();
    let all: Vec<u64> = (1..=560).map(mix).collect();
    web.send_all(all.iter().enumerate().map(|(ms, n)| note("r", ms as i64, *n)))
        .await
        .unwrap();
    let faults = Arc::new(Faults::new());
    faults.times(Op::Put, "", 1, 1, What::Fail(Kind::Unavailable));
    let table = Arc::new(Scripted {
        folds: bench.ports.folds.clone(),
        stores: AtomicUsize::new(0),
        loads: AtomicUsize::new(0),
        lose: None,
        fail_load: None,
    });
    let kernel = bench
        .faulty(&faults)
        .pipeline(stories(&heard))
        .table::<Story>(table.clone())
        .worker(WorkerSettings {
            max_jobs_per_group: 2_000,
            ..WorkerSettings::default()
        })
        .start()
        .unwrap();
    until(async || !bench.blocked().await.is_empty() || kernel.backlog().await.unwrap().open() == 0).await;
    idle(&kernel).await;
    let mut numbers = heard.numbers();
    numbers.sort_unstable();
    numbers.dedup();
    assert_eq!(numbers.len(), 560);
    let _ = Total::default();
}
