//! Refolds on the delivery path.
use crate::support::{
    All, Bench, Ear, Faults, Finish, Heard, Note, Op, Parity, Run, Story, Total, What, at, finish, idle,
    note, tenant, until,
};
use foldwright_domain::{Dispatch, Millis};
use foldwright_ports::{GroupId, Kind, Retention};
use foldwright_runtime::{Pipeline, RefoldBudget};
use std::{sync::Arc, time::Duration};

fn pipeline(heard: &Arc<Heard<Vec<u64>>>) -> Pipeline<Run> {
    Pipeline::define("runs")
        .declares::<Note>()
        .command::<Finish>()
        .fold::<Story>(|f| f.subscriber(Ear::<_, _, All>::new(heard), Dispatch::each()))
        .build()
        .unwrap()
}

/// X-05: inside a batch, after it, and at equal times.
#[tokio::test(start_paused = true)]
async fn a_late_event_ends_up_in_its_canonical_place() {
    let bench = Bench::new();
    let heard = Heard::new();
    let kernel = bench.kernel().pipeline(pipeline(&heard)).start().unwrap();
    kernel
        .send_all([note("r", 30, 3), note("r", 10, 1), note("r", 30, 4)])
        .await
        .unwrap();
    idle(&kernel).await;
    assert_eq!(bench.state::<Story>("r").await, Some(vec![1, 3, 4]));
    assert_eq!(kernel.counters().refolds.get(), 0);
    kernel
        .send_all([note("r", 20, 2), note("r", 5, 0), note("r", 30, 5)])
        .await
        .unwrap();
    idle(&kernel).await;
    assert_eq!(bench.state::<Story>("r").await, Some(vec![0, 1, 2, 3, 4, 5]));
    assert_eq!(kernel.counters().refolds.get(), 1);
    // Each event is decided once, and sees the state right after it in canonical order or the stored one.
    let mut numbers = heard.numbers();
    numbers.sort_unstable();
    assert_eq!(numbers, [0, 1, 2, 3, 4, 5]);
    let last_state = |n| heard.runs().iter().find(|run| run.n == n).unwrap().state.clone();
    assert_eq!(last_state(0), [0, 1, 2, 3, 4, 5]);
}

/// X-09
#[tokio::test(start_paused = true)]
async fn a_long_history_is_read_in_pages() {
    let bench = Bench::new();
    let faults = Arc::new(Faults::new());
    let kernel = bench
        .faulty(&faults)
        .pipeline(pipeline(&Heard::new()))
        .start()
        .unwrap();
    for _ in 0..3 {
        finish(&kernel, "r", 900).await;
    }
    idle(&kernel).await;
    kernel.send(note("r", -5, 7)).await.unwrap();
    idle(&kernel).await;
    let mut expected = vec![0; 2_701];
    expected[0] = 7;
    assert_eq!(bench.state::<Story>("r").await, Some(expected));
    assert_eq!(faults.count(Op::LoadEvents, "run:r"), 3);
    assert_eq!(bench.row::<Story>("r").await.unwrap().events, 2_701);
}

/// X-09: a page is empty although more follows, and a log that stops answering half way.
#[tokio::test(start_paused = true)]
async fn a_refold_that_breaks_off_stores_nothing_and_starts_over() {
    let bench = Bench::new();
    let faults = Arc::new(Faults::new());
    let kernel = bench
        .faulty(&faults)
        .pipeline(pipeline(&Heard::new()))
        .start()
        .unwrap();
    for _ in 0..3 {
        finish(&kernel, "r", 900).await;
    }
    idle(&kernel).await;
    let row = bench.stored::<Story>("r").await.unwrap();
    faults.times(Op::LoadEvents, "run:r", 2, 1, What::Fail(Kind::Unavailable));
    kernel.send(note("r", -5, 7)).await.unwrap();
    until(async || faults.count(Op::LoadEvents, "run:r") >= 3).await;
    assert_eq!(bench.stored::<Story>("r").await.unwrap(), row);
    idle(&kernel).await;
    assert_eq!(faults.count(Op::LoadEvents, "run:r"), 6);
    assert_eq!(bench.row::<Story>("r").await.unwrap().events, 2_701);
}

/// X-08, G6
#[tokio::test(start_paused = true)]
async fn refolds_over_the_budget_wait_their_turn_and_one_is_always_admitted() {
    let bench = Bench::new();
    let heard = Heard::new();
    let faults = Arc::new(Faults::new());
    let budget = RefoldBudget {
        events_per_second: 1,
        burst: 10,
        defer: Duration::from_millis(500),
    };
    let kernel = bench
        .faulty(&faults)
        .pipeline(pipeline(&heard))
        .refold_budget(budget)
        .start()
        .unwrap();
    for run in ["first", "second"] {
        finish(&kernel, run, 20).await;
    }
    let theirs = |ms, n| {
        let mut intent = note("theirs", ms, n);
        intent.tenant = tenant("b");
        intent
    };
    kernel.send(theirs(10, 1)).await.unwrap();
    idle(&kernel).await;
    // The one that is admitted over the budget takes its time.
    faults.once(Op::LoadEvents, "run:first", What::Hang);
    kernel.send(note("first", -5, 1)).await.unwrap();
    faults.hung(1).await;
    let row = bench.stored::<Story>("second").await.unwrap();
    let second = GroupId {
        tenant: tenant("a"),
        path: "fold/story".into(),
        key: "run:second".into(),
    };
    kernel.send(note("second", -5, 1)).await.unwrap();
    kernel.send(note("second", -6, 2)).await.unwrap();
    until(async || kernel.counters().deferred.get() >= 30).await;
    assert_eq!(bench.stored::<Story>("second").await.unwrap(), row);
    let view = bench.ports.queue_admin.group(&second).await.unwrap().unwrap();
    assert_eq!((view.failures, view.depth), (0, 2));
    // Another tenant's share is its own.
    kernel.send(theirs(5, 2)).await.unwrap();
    let story = async || {
        let key = crate::support::key::<Run>("b", "theirs");
        bench
            .reader()
            .state::<Story, Run>(&key)
            .await
            .unwrap()
            .unwrap()
            .state
    };
    until(async || story().await == [2, 1]).await;
    faults.let_go();
    idle(&kernel).await;
    assert_eq!(bench.row::<Story>("first").await.unwrap().events, 21);
    let second = bench.row::<Story>("second").await.unwrap();
    assert_eq!((second.events, &second.state[..3]), (22, &[2, 1, 0][..]));
    let late: Vec<_> = heard.numbers().into_iter().filter(|n| *n != 0).collect();
    assert_eq!(late.len(), 5, "{late:?}");
}

/// X-05, X-08: within the share nothing is deferred, and the share refills.
#[tokio::test(start_paused = true)]
async fn a_share_refills_with_time() {
    let bench = Bench::new();
    let budget = RefoldBudget {
        events_per_second: 1_000,
        burst: 50,
        defer: Duration::from_millis(500),
    };
    let kernel = bench
        .kernel()
        .pipeline(pipeline(&Heard::new()))
        .refold_budget(budget)
        .start()
        .unwrap();
    finish(&kernel, "r", 20).await;
    idle(&kernel).await;
    for n in 1..=20 {
        kernel.send(note("r", -n, n as u64)).await.unwrap();
        idle(&kernel).await;
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    assert_eq!(kernel.counters().deferred.get(), 0);
    assert_eq!(kernel.counters().refolds.get(), 20);
    assert_eq!(bench.row::<Story>("r").await.unwrap().events, 40);
}

/// A refold never forgets what retention has removed from the log.
///
/// G3
#[tokio::test(start_paused = true)]
async fn a_refold_that_would_forget_is_never_stored() {
    let bench = Bench::new();
    let kernel = bench.kernel().pipeline(pipeline(&Heard::new())).start().unwrap();
    kernel
        .send_all([note("r", 10, 1), note("r", 20, 2)])
        .await
        .unwrap();
    idle(&kernel).await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    let retention = Retention {
        tenant: tenant("a"),
        aggregate_types: Vec::new(),
        accepted_before: Millis(at(0).0 + 500),
    };
    assert_eq!(bench.ports.log.retain(&retention, 10).await.unwrap(), 2);
    let row = bench.stored::<Story>("r").await.unwrap();
    kernel.send(note("r", 15, 3)).await.unwrap();
    tokio::time::sleep(Duration::from_secs(3 * 60 * 60)).await;
    assert_eq!(bench.stored::<Story>("r").await.unwrap(), row);
    let blocked = bench.blocked().await;
    assert_eq!(blocked.len(), 1);
    assert!(
        blocked[0].error.contains("a refold would forget"),
        "{}",
        blocked[0].error
    );
}

/// X-08: a keyed fold whose row is lost reads its key's events alone out of the log.
#[tokio::test(start_paused = true)]
async fn a_keyed_fold_is_rebuilt_from_a_scan() {
    let bench = Bench::new();
    let heard = Heard::new();
    let keyed = |heard: &Arc<Heard<Total>>| {
        Pipeline::<Run>::define("runs")
            .declares::<Note>()
            .keyed::<Parity>(|f| f.subscriber(Ear::<_, _, All>::new(heard), Dispatch::each()))
            .build()
            .unwrap()
    };
    let kernel = bench.kernel().pipeline(keyed(&heard)).start().unwrap();
    kernel
        .send_all((1..=9).map(|n| note(&format!("r{n}"), n as i64, n)))
        .await
        .unwrap();
    idle(&kernel).await;
    let key = foldwright_ports::StateKey {
        tenant: tenant("a"),
        projection: "parity".into(),
        key: "1".into(),
    };
    let mut row = bench.ports.folds.load(&[key]).await.unwrap().remove(0).unwrap();
    row.state = bytes::Bytes::from_static(b"?");
    row.revision.write += 1;
    bench.ports.folds.store(vec![row]).await.remove(0).unwrap();
    kernel.send(note("r11", 11, 11)).await.unwrap();
    idle(&kernel).await;
    assert_eq!(
        bench.keyed::<Parity>(&1).await,
        Some(Total { events: 6, sum: 36 })
    );
    assert_eq!(
        bench.keyed::<Parity>(&0).await,
        Some(Total { events: 4, sum: 20 })
    );
    assert_eq!(kernel.counters().refolds.get(), 1);
    let mut numbers = heard.numbers();
    numbers.sort_unstable();
    assert_eq!(numbers, [1, 2, 3, 4, 5, 6, 7, 8, 9, 11]);
}
