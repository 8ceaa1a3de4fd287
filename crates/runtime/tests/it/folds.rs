//! Folds in ordinary service.
use crate::support::{
    Bench, Blank, Ends, Faults, Finish, Note, Noted, Op, Run, RunEvent, Spread, Story, Total, Totals, at,
    finish, idle, note, tenant,
};
use foldwright_domain::{Commutative, Declared, Fold, Intent, KeyedFold, Millis, Recorded};
use foldwright_ports::Clock;
use foldwright_runtime::{Kernel, Pipeline, Role, WorkerSettings};
use std::sync::{
    Arc,
    atomic::{AtomicI64, Ordering},
};

fn pipeline() -> Pipeline<Run> {
    Pipeline::define("runs")
        .declares::<Note>()
        .command::<Finish>()
        .fold::<Totals>(|f| f)
        .fold::<Story>(|f| f)
        .fold::<Ends>(|f| f)
        .fold::<Blank>(|f| f)
        .build()
        .unwrap()
}

fn in_batches_of(max_jobs_per_group: usize) -> WorkerSettings {
    WorkerSettings {
        max_jobs_per_group,
        ..WorkerSettings::default()
    }
}

/// Accepts so many numbers for one run, to be worked on later.
async fn accept(bench: &Bench, run: &str, numbers: std::ops::RangeInclusive<u64>) {
    let web = bench.with_role(Role::Web).pipeline(pipeline()).start().unwrap();
    web.send_all(numbers.map(|n| note(run, n as i64, n)))
        .await
        .unwrap();
}

/// X-01, X-02
#[tokio::test(start_paused = true)]
async fn no_batch_is_over_the_limit_and_a_batch_is_one_load_and_one_store() {
    for (limit, batches) in [(3, 3), (1, 9), (500, 1)] {
        let bench = Bench::new();
        accept(&bench, "r", 1..=9).await;
        // The commands run in one go first, so that all nine events wait for the folds.
        let commands_only = Pipeline::<Run>::define("runs")
            .declares::<Note>()
            .fold::<Totals>(|f| f)
            .build()
            .unwrap();
        let faults = Arc::new(Faults::new());
        faults.once(Op::LoadRows, "totals", crate::support::What::Hang);
        let first = bench.faulty(&faults).pipeline(commands_only).start().unwrap();
        faults.hung(1).await;
        drop(first);
        let faults = Arc::new(Faults::new());
        let kernel = bench
            .faulty(&faults)
            .pipeline(pipeline())
            .worker(in_batches_of(limit))
            .start()
            .unwrap();
        idle(&kernel).await;
        assert_eq!(
            bench.state::<Totals>("r").await,
            Some(Total { events: 9, sum: 45 }),
            "{limit}"
        );
        assert_eq!(faults.count(Op::LoadRows, "totals/r"), batches, "{limit}");
        assert_eq!(faults.count(Op::StoreRows, "totals/r"), batches, "{limit}");
        let settled = faults.items(Op::Settle, "fold/totals/run:r");
        assert_eq!(settled.len(), batches);
        assert!(
            settled
                .iter()
                .all(|item| item.ends_with(&format!("done {}", 9 / batches))),
            "{settled:?}"
        );
    }
    assert_eq!(WorkerSettings::default().max_jobs_per_group, 500);
}

/// X-06
#[tokio::test(start_paused = true)]
async fn a_late_event_of_a_commutative_fold_is_counted_without_reading_the_log() {
    let bench = Bench::new();
    let faults = Arc::new(Faults::new());
    let commutative = Pipeline::<Run>::define("runs")
        .declares::<Note>()
        .fold::<Totals>(|f| f)
        .build()
        .unwrap();
    let kernel = bench.faulty(&faults).pipeline(commutative).start().unwrap();
    kernel.send(note("r", 100, 1)).await.unwrap();
    idle(&kernel).await;
    let before = bench.row::<Totals>("r").await.unwrap();
    kernel.send(note("r", 50, 2)).await.unwrap();
    idle(&kernel).await;
    let after = bench.row::<Totals>("r").await.unwrap();
    assert_eq!(after.state, Total { events: 2, sum: 3 });
    assert_eq!(after.last_applied, before.last_applied);
    assert_eq!(after.last_applied.unwrap().occurred_at, at(100));
    assert_eq!(faults.count(Op::LoadEvents, ""), 0);
    assert_eq!(kernel.counters().refolds.get(), 0);
}

/// X-22
#[tokio::test(start_paused = true)]
async fn a_fold_of_some_events_is_given_only_those() {
    let bench = Bench::new();
    let faults = Arc::new(Faults::new());
    let kernel = bench.faulty(&faults).pipeline(pipeline()).start().unwrap();
    kernel.send(note("r", 0, 1)).await.unwrap();
    idle(&kernel).await;
    assert_eq!(bench.state::<Ends>("r").await, None);
    assert_eq!(faults.count(Op::LoadRows, "ends/r"), 0);
    finish(&kernel, "r", 2).await;
    idle(&kernel).await;
    let row = bench.row::<Ends>("r").await.unwrap();
    assert_eq!((row.state, row.events), (2, 2));
}

/// X-13
#[tokio::test(start_paused = true)]
async fn a_state_that_looks_empty_is_stored_too() {
    let bench = Bench::new();
    let kernel = bench.kernel().pipeline(pipeline()).start().unwrap();
    assert_eq!(bench.state::<Blank>("r").await, None);
    kernel.send(note("r", 0, 1)).await.unwrap();
    idle(&kernel).await;
    assert_eq!(bench.row::<Blank>("r").await.map(|row| row.events), Some(1));
}

/// A clock that a test sets back.
struct Skewed {
    clock: Arc<dyn Clock>,
    ms: AtomicI64,
}

impl Clock for Skewed {
    fn now(&self) -> Millis {
        Millis(self.clock.now().0 + self.ms.load(Ordering::Relaxed))
    }
}

fn skewed(bench: &Bench, ms: i64) -> (Arc<Skewed>, foldwright_runtime::KernelBuilder) {
    let clock = Arc::new(Skewed {
        clock: bench.ports.clock.clone(),
        ms: ms.into(),
    });
    let ports = foldwright_ports::Ports {
        clock: clock.clone(),
        ..bench.ports.clone()
    };
    (clock, Kernel::builder(ports, Role::All))
}

/// X-16
#[tokio::test(start_paused = true)]
async fn a_row_always_looks_newer_than_the_one_before() {
    let bench = Bench::new();
    let (clock, kernel) = skewed(&bench, 0);
    let kernel = kernel
        .pipeline(pipeline())
        .worker(in_batches_of(1))
        .start()
        .unwrap();
    // One event a batch, all in one millisecond.
    kernel.send_all((1..=4).map(|n| note("r", 0, n))).await.unwrap();
    idle(&kernel).await;
    let first = bench.row::<Totals>("r").await.unwrap();
    assert_eq!(first.created_at, at(0));
    assert!(first.updated_at >= at(3), "{:?}", first.updated_at);
    clock.ms.store(-3_600_000, Ordering::Relaxed);
    kernel.send(note("r", 0, 5)).await.unwrap();
    idle(&kernel).await;
    let second = bench.row::<Totals>("r").await.unwrap();
    assert_eq!(second.updated_at.0, first.updated_at.0 + 1);
    assert_eq!(second.created_at, first.created_at);
}

/// L-16
#[tokio::test(start_paused = true)]
async fn an_event_older_than_all_others_in_id_and_time_reaches_every_projection() {
    let bench = Bench::new();
    let kernel = bench.kernel().pipeline(pipeline()).start().unwrap();
    kernel
        .send_all((1..=3).map(|n| note("r", n as i64, n)))
        .await
        .unwrap();
    idle(&kernel).await;
    let newest = bench.row::<Story>("r").await.unwrap().last_applied.unwrap();
    let (_, slow) = skewed(&bench, -7_200_000);
    let slow = slow.pipeline(pipeline()).start().unwrap();
    let receipt = slow.send(note("r", -100, 9)).await.unwrap();
    idle(&kernel).await;
    assert!(receipt.command.event(0).unwrap() < newest.id);
    assert_eq!(bench.state::<Story>("r").await, Some(vec![9, 1, 2, 3]));
    assert_eq!(
        bench.state::<Totals>("r").await,
        Some(Total { events: 4, sum: 15 })
    );
    assert_eq!(bench.row::<Story>("r").await.unwrap().last_applied, Some(newest));
}

/// Events older than the window of scores line up by arrival; their state is canonical all the same.
///
/// X-05, Q-17
#[tokio::test(start_paused = true)]
async fn order_beyond_the_window_of_scores_is_canonical_too() {
    const DAY: i64 = 24 * 60 * 60 * 1_000;
    let bench = Bench::new();
    let web = bench.with_role(Role::Web).pipeline(pipeline()).start().unwrap();
    for (days, n) in [(-3, 3), (-9, 1), (-1, 5), (-2, 4), (-5, 2)] {
        web.send(note("r", days * DAY - 1, n)).await.unwrap();
    }
    let kernel = bench.kernel().pipeline(pipeline()).start().unwrap();
    idle(&kernel).await;
    assert_eq!(bench.state::<Story>("r").await, Some(vec![1, 2, 3, 4, 5]));
}

/// F-12
#[tokio::test(start_paused = true)]
async fn a_hot_aggregate_holds_up_no_other() {
    let bench = Bench::new();
    let totals = || {
        Pipeline::<Run>::define("runs")
            .declares::<Note>()
            .fold::<Totals>(|f| f)
            .build()
            .unwrap()
    };
    let web = bench.with_role(Role::Web).pipeline(totals()).start().unwrap();
    web.send_all((0..1_000).map(|n| note("hot", 0, n % 100)))
        .await
        .unwrap();
    for n in 0..20 {
        web.send(note(&format!("cold-{n}"), 0, n)).await.unwrap();
    }
    let faults = Arc::new(Faults::new());
    let kernel = bench
        .faulty(&faults)
        .pipeline(totals())
        .worker(in_batches_of(10))
        .start()
        .unwrap();
    idle(&kernel).await;
    let stored = faults.items(Op::StoreRows, "a/totals/");
    let last_cold = stored.iter().rposition(|row| row.contains("cold")).unwrap();
    let hot_before = stored
        .iter()
        .take(last_cold)
        .filter(|row| row.contains("hot"))
        .count();
    assert!(
        hot_before <= 10,
        "{hot_before} batches of the hot aggregate went before the last cold one"
    );
    assert_eq!(stored.iter().filter(|row| row.contains("hot")).count(), 100);
    assert_eq!(
        bench.state::<Totals>("hot").await,
        Some(Total {
            events: 1_000,
            sum: 49_500
        })
    );
}

/// G11
#[tokio::test(start_paused = true)]
async fn one_run_of_two_tenants_is_two_runs() {
    let bench = Bench::new();
    let kernel = bench.kernel().pipeline(pipeline()).start().unwrap();
    kernel.send(note("r", 0, 1)).await.unwrap();
    let mut theirs = note("r", 0, 2);
    theirs.tenant = tenant("b");
    kernel.send(theirs).await.unwrap();
    idle(&kernel).await;
    assert_eq!(bench.state::<Story>("r").await, Some(vec![1]));
    let row = bench
        .reader()
        .state::<Story, Run>(&crate::support::key("b", "r"))
        .await
        .unwrap()
        .unwrap();
    assert_eq!(row.state, [2]);
}

/// G5, Q-01: jobs that wait line up by business time, so that what came in disorder needs no refold.
#[tokio::test(start_paused = true)]
async fn waiting_events_are_folded_in_canonical_order() {
    let bench = Bench::new();
    let spread = || {
        Pipeline::<Run>::define("runs")
            .declares::<Spread>()
            .fold::<Story>(|f| f)
            .build()
            .unwrap()
    };
    let web = bench.with_role(Role::Web).pipeline(spread()).start().unwrap();
    // Each command in a group of its own, so that they run in the order in which they came.
    for (ms, n) in [(5, 5), (2, 2), (7, 7), (1, 1), (6, 6), (3, 3), (4, 4)] {
        let payload = Declared::<Spread>(Noted {
            run: "r".into(),
            n,
            key: None,
        });
        web.send(Intent::new(tenant("a"), at(ms), payload)).await.unwrap();
    }
    let kernel = bench
        .kernel()
        .pipeline(spread())
        .worker(in_batches_of(1))
        .start()
        .unwrap();
    idle(&kernel).await;
    assert_eq!(bench.state::<Story>("r").await, Some((1..=7).collect()));
    assert_eq!(kernel.counters().refolds.get(), 0);
}

/// Whose window is a second too narrow.
enum Narrow {}

impl Fold for Narrow {
    type On = RunEvent;
    type State = u64;
    type Order = Commutative;
    const NAME: &'static str = "narrow";
    const VERSION: u32 = 1;

    fn init() -> u64 {
        0
    }

    fn apply(count: u64, _: &Recorded<RunEvent>) -> u64 {
        count + 1
    }
}

impl KeyedFold for Narrow {
    type Key = u64;

    fn key(_: &Recorded<RunEvent>) -> u64 {
        0
    }

    fn window(_: &u64) -> std::ops::Range<Millis> {
        at(0)..at(1_000)
    }
}

/// An event that a refold of its key would not find counts, and is not taken silently.
#[tokio::test(start_paused = true)]
async fn an_event_outside_the_window_of_its_key_is_counted() {
    let bench = Bench::new();
    let runs = Pipeline::<Run>::define("runs")
        .declares::<Note>()
        .keyed::<Narrow>(|f| f);
    let kernel = bench.kernel().pipeline(runs.build().unwrap()).start().unwrap();
    for ms in [0, 999, 1_000] {
        kernel.send(note("r", ms, 1)).await.unwrap();
    }
    idle(&kernel).await;
    assert_eq!(bench.keyed::<Narrow>(&0).await, Some(3));
    assert_eq!(kernel.counters().outside_window.get(), 1);
}
