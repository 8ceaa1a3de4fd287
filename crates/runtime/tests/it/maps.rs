//! Maps and projections over several pipelines.
use crate::support::{
    All, Anything, Bench, Count, Counted, Ear, Faults, Heard, Journal, Note, Odds, Op, Reaction, Run,
    RunEvent, Story, Suite, Total, Totals, Usage, What, at, idle, note, tenant,
};
use foldwright_domain::{Commutative, Declared, Dispatch, Fold, Intent, KeyedFold, Map, Millis, Recorded};
use foldwright_ports::{Kind, Limits};
use foldwright_runtime::{Global, Kernel, Pipeline, Role, WorkerSettings};
use std::{sync::Arc, time::Duration};

fn runs(heard: &Arc<Heard<u64>>) -> Pipeline<Run> {
    Pipeline::define("runs")
        .declares::<Note>()
        .fold::<Story>(|f| f)
        .map::<Odds>(|m| m.subscriber(Ear::<_, _, All>::new(heard), Dispatch::each()))
        .build()
        .unwrap()
}

async fn odds(bench: &Bench) -> Vec<u64> {
    let page = bench
        .reader()
        .records::<Odds>(&tenant("a"), None, None, Limits::items(1_000))
        .await
        .unwrap();
    page.items.iter().map(|row| row.record).collect()
}

fn sorted(mut numbers: Vec<u64>) -> Vec<u64> {
    numbers.sort_unstable();
    numbers
}

/// M-01
#[tokio::test(start_paused = true)]
async fn a_record_is_a_row_and_none_is_nothing() {
    let bench = Bench::new();
    let heard = Heard::new();
    let faults = Arc::new(Faults::new());
    let kernel = bench.faulty(&faults).pipeline(runs(&heard)).start().unwrap();
    kernel
        .send_all((1..=10).map(|n| note("r", n as i64, n)))
        .await
        .unwrap();
    idle(&kernel).await;
    assert_eq!(odds(&bench).await, [1, 3, 5, 7, 9]);
    assert_eq!(sorted(heard.numbers()), [1, 3, 5, 7, 9]);
    assert_eq!(
        faults.items(Op::Settle, "a/map/odds/01").len(),
        10,
        "a group for each event, and each is done"
    );
    assert_eq!(faults.items(Op::AppendRecords, "a/odds/").len(), 5);
    assert_eq!(
        kernel.backlog().await.unwrap(),
        foldwright_runtime::Backlog::default()
    );
}

/// M-01: one event that cannot be mapped holds up no other event of its aggregate.
#[tokio::test(start_paused = true)]
async fn events_of_one_aggregate_do_not_wait_for_each_other() {
    let bench = Bench::new();
    let heard = Heard::new();
    let faults = Arc::new(Faults::new());
    faults.always(Op::AppendRecords, "odds/1", What::FailItems(Kind::Unavailable));
    let kernel = bench.faulty(&faults).pipeline(runs(&heard)).start().unwrap();
    kernel
        .send_all([1, 3, 5].map(|n| note("r", n as i64, n)))
        .await
        .unwrap();
    tokio::time::sleep(Duration::from_secs(10)).await;
    assert_eq!(odds(&bench).await, [3, 5]);
    faults.clear();
    idle(&kernel).await;
    assert_eq!(odds(&bench).await, [1, 3, 5]);
    assert_eq!(sorted(heard.numbers()), [1, 3, 5]);
}

/// Odds tenfold.
enum Odds2 {}

impl Map for Odds2 {
    type On = RunEvent;
    type Record = u64;
    const NAME: &'static str = Odds::NAME;
    const VERSION: u32 = 2;

    fn map(event: &Recorded<RunEvent>) -> Option<u64> {
        Odds::map(event).map(|n| n * 10)
    }
}

/// M-02
#[tokio::test(start_paused = true)]
async fn an_event_that_comes_again_is_one_row_of_the_highest_version() {
    let bench = Bench::new();
    let heard = Heard::new();
    for what in [What::HangAfter, What::HangAfter] {
        let faults = Arc::new(Faults::new());
        faults.once(Op::AppendRecords, "", what);
        let kernel = bench.faulty(&faults).pipeline(runs(&heard)).start().unwrap();
        if bench.reader().tenants().await.unwrap().is_empty() {
            kernel.send(note("r", 0, 7)).await.unwrap();
        }
        faults.hung(1).await;
        drop(kernel);
    }
    assert_eq!(odds(&bench).await, [7]);
    // The third delivery runs in a newer build.
    let newer = Pipeline::<Run>::define("runs")
        .declares::<Note>()
        .map::<Odds2>(|m| m)
        .build()
        .unwrap();
    let kernel = bench.kernel().pipeline(newer).start().unwrap();
    tokio::time::sleep(Duration::from_secs(60)).await;
    let page = bench
        .reader()
        .records::<Odds2>(&tenant("a"), None, None, Limits::items(10))
        .await
        .unwrap();
    assert_eq!(
        page.items
            .iter()
            .map(|row| (row.version, row.record))
            .collect::<Vec<_>>(),
        [(2, 70)]
    );
    drop(kernel);
}

/// M-04
#[tokio::test(start_paused = true)]
async fn one_record_that_cannot_be_stored_is_isolated_and_named() {
    let bench = Bench::new();
    let heard = Heard::new();
    let faults = Arc::new(Faults::new());
    faults.always(Op::AppendRecords, "odds/101", What::FailItems(Kind::Invalid));
    let web = bench.with_role(Role::Web).pipeline(runs(&heard)).start().unwrap();
    web.send_all((0..100).map(|n| note("r", n as i64, 2 * n + 1)))
        .await
        .unwrap();
    let kernel = bench.faulty(&faults).pipeline(runs(&heard)).start().unwrap();
    idle(&kernel).await;
    let all: Vec<u64> = (0..100).map(|n| 2 * n + 1).filter(|n| *n != 101).collect();
    assert_eq!(odds(&bench).await, all);
    assert_eq!(sorted(heard.numbers()), all);
    let blocked = bench.blocked().await;
    assert_eq!(blocked.len(), 1);
    assert_eq!(
        (blocked[0].route.as_str(), blocked[0].failures),
        ("runs/map/odds", 1)
    );
    assert_eq!(bench.state::<Story>("r").await.unwrap().len(), 100);
    faults.clear();
    bench.ports.queue_admin.unblock(&blocked[0].group).await.unwrap();
    idle(&kernel).await;
    assert_eq!(odds(&bench).await.len(), 100);
    assert_eq!(heard.runs().len(), 100);
}

fn global(usage: &Arc<Heard<Total>>, journal: &Arc<Heard<u64>>) -> Global {
    Global::define("all")
        .keyed::<Usage>(|f| f.subscriber(Ear::<_, _, All>::new(usage), Dispatch::each()))
        .map::<Journal>(|m| {
            m.subscriber(
                Ear::<Anything, _, All>::new(journal),
                Dispatch::debounce(Duration::from_millis(500)),
            )
        })
        .build()
        .unwrap()
}

fn service(
    bench: &Bench,
    faults: &Arc<Faults>,
    usage: &Arc<Heard<Total>>,
    journal: &Arc<Heard<u64>>,
) -> Kernel {
    let runs = Pipeline::<Run>::define("runs")
        .declares::<Note>()
        .fold::<Totals>(|f| f)
        .build()
        .unwrap();
    let suites = Pipeline::<Suite>::define("suites")
        .declares::<Count>()
        .build()
        .unwrap();
    let kernel = bench
        .faulty(faults)
        .pipeline(runs)
        .pipeline(suites)
        .global(global(usage, journal));
    kernel
        .worker(WorkerSettings {
            bulk_lanes: 1,
            ..WorkerSettings::default()
        })
        .start()
        .unwrap()
}

fn count(suite: &str, n: u64) -> Intent<Declared<Count>> {
    Intent::new(
        tenant("a"),
        at(0),
        Declared(Counted {
            suite: suite.into(),
            n,
        }),
    )
}

/// M-05
#[tokio::test(start_paused = true)]
async fn a_global_projection_is_fed_by_every_pipeline() {
    let bench = Bench::new();
    let (usage, journal) = (Heard::new(), Heard::new());
    let kernel = service(&bench, &Arc::new(Faults::new()), &usage, &journal);
    kernel
        .send_all([note("r", 0, 12), note("s", 0, 22)])
        .await
        .unwrap();
    kernel.send_all([count("r", 32), count("x", 41)]).await.unwrap();
    idle(&kernel).await;
    assert_eq!(bench.keyed::<Usage>(&2).await, Some(Total { events: 3, sum: 66 }));
    assert_eq!(bench.keyed::<Usage>(&1).await, Some(Total { events: 1, sum: 41 }));
    assert_eq!(sorted(usage.numbers()), [12, 22, 32, 41]);
    let page = bench
        .reader()
        .records::<Journal>(&tenant("a"), None, None, Limits::items(10))
        .await
        .unwrap();
    assert_eq!(
        sorted(page.items.iter().map(|row| row.record).collect()),
        [12, 22, 32, 41]
    );
    // A run `r` and a suite `r` are two aggregates, so their runs are two runs.
    assert_eq!(sorted(journal.numbers()), [12, 22, 32, 41]);
}

/// M-05
#[tokio::test(start_paused = true)]
async fn what_fails_in_a_global_projection_touches_no_local_one() {
    let bench = Bench::new();
    let (usage, journal) = (Heard::new(), Heard::new());
    usage.react([Reaction::Fatal]);
    let faults = Arc::new(Faults::new());
    faults.always(Op::AppendRecords, "journal", What::Fail(Kind::Unavailable));
    let kernel = service(&bench, &faults, &usage, &journal);
    kernel
        .send_all([note("r", 0, 777), note("r", 1, 2), note("r", 2, 7)])
        .await
        .unwrap();
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert_eq!(
        bench.state::<Totals>("r").await,
        Some(Total { events: 3, sum: 786 })
    );
    let blocked: Vec<_> = bench
        .blocked()
        .await
        .iter()
        .map(|b| b.route.to_string())
        .collect();
    assert_eq!(blocked, ["all/fold/usage", "all/fold/usage/subscriber/all"]);
    assert_eq!(bench.keyed::<Usage>(&2).await, Some(Total { events: 1, sum: 2 }));
    assert_eq!(
        kernel.backlog().await.unwrap().commands,
        foldwright_runtime::Standing::default()
    );
}

/// By the run's name, which is too long for a key of a fold, and impossible for a run called `odd one out`.
enum ByName {}

impl Fold for ByName {
    type On = RunEvent;
    type State = u64;
    type Order = Commutative;
    const NAME: &'static str = "by_name";
    const VERSION: u32 = 1;

    fn init() -> u64 {
        0
    }

    fn apply(count: u64, _event: &Recorded<RunEvent>) -> u64 {
        count + 1
    }
}

impl KeyedFold for ByName {
    type Key = String;

    fn key(event: &Recorded<RunEvent>) -> String {
        let id = event.meta.stream.id.as_str();
        assert!(id != "odd one out", "the key panics");
        id.repeat(3)
    }

    fn window(_key: &String) -> std::ops::Range<Millis> {
        Millis(i64::MIN)..Millis(i64::MAX)
    }
}

/// M-05, G6: where a projection has no key for an event, it fails alone, at that event alone.
#[tokio::test(start_paused = true)]
async fn an_event_without_a_key_fails_its_projection_alone() {
    let bench = Bench::new();
    let runs = Pipeline::<Run>::define("runs")
        .declares::<Note>()
        .fold::<Totals>(|f| f)
        .keyed::<ByName>(|f| f)
        .build()
        .unwrap();
    let kernel = bench.kernel().pipeline(runs).start().unwrap();
    let long = "x".repeat(512);
    for run in ["fine", "odd one out", &long] {
        kernel.send_all([note(run, 0, 1), note(run, 1, 2)]).await.unwrap();
    }
    tokio::time::sleep(Duration::from_secs(3 * 60 * 60)).await;
    for run in ["fine", "odd one out", &long] {
        assert_eq!(
            bench.state::<Totals>(run).await,
            Some(Total { events: 2, sum: 3 })
        );
    }
    assert_eq!(bench.keyed::<ByName>(&"fine".repeat(3)).await, Some(2));
    let blocked = bench.blocked().await;
    assert_eq!(blocked.len(), 4);
    assert!(
        blocked
            .iter()
            .all(|b| b.route.as_str() == "runs/fold/by_name" && b.failures == 25),
        "{blocked:?}"
    );
    assert!(blocked[0].error.contains("repair `key`"), "{}", blocked[0].error);
    assert_eq!(
        kernel.backlog().await.unwrap().commands,
        foldwright_runtime::Standing::default()
    );
    let rows = bench
        .reader()
        .states::<ByName>(&tenant("a"), None, Limits::items(10))
        .await
        .unwrap();
    assert_eq!(rows.items.len(), 1, "nothing is counted under a key that is none");
}
