//! Bodies and states of jobs that are gone, or in a tier that is away.
use crate::support::{
    All, Bench, Ear, Faults, Heard, Last, Note, Odds, Op, Run, Story, Total, Totals, What, bulky, idle,
    noise, note, tenant,
};
use foldwright_domain::Dispatch;
use foldwright_ports::{Kind, Limits};
use foldwright_runtime::{Pipeline, Role};
use std::{sync::Arc, time::Duration};

fn pipeline() -> Pipeline<Run> {
    Pipeline::define("runs")
        .declares::<Note>()
        .fold::<Totals>(|f| f)
        .fold::<Story>(|f| f)
        .fold::<Last>(|f| f)
        .map::<Odds>(|m| m)
        .build()
        .unwrap()
}

/// Stages an event for the folds and kills the process that was to run them.
async fn stop_before_the_folds(bench: &Bench) {
    let faults = Arc::new(Faults::new());
    faults.always(Op::LoadRows, "", What::Hang);
    faults.always(Op::AppendRecords, "", What::Hang);
    let kernel = bench.faulty(&faults).pipeline(pipeline()).start().unwrap();
    kernel.send(bulky(0, 7, 20_000)).await.unwrap();
    faults.hung(1).await;
    drop(kernel);
}

/// B-18
#[tokio::test(start_paused = true)]
async fn the_body_of_an_event_that_is_gone_is_read_from_the_log() {
    let bench = Bench::new();
    stop_before_the_folds(&bench).await;
    bench.purge_bodies().await;
    let faults = Arc::new(Faults::new());
    faults.times(Op::Find, "run:r", 0, 10, What::Fail(Kind::Unavailable));
    let kernel = bench.faulty(&faults).pipeline(pipeline()).start().unwrap();
    idle(&kernel).await;
    assert!(faults.count(Op::Find, "run:r") > 10);
    assert_eq!(
        bench.state::<Totals>("r").await,
        Some(Total { events: 1, sum: 7 })
    );
    assert_eq!(bench.state::<Last>("r").await, Some(noise(20_000, 7)));
    let odds = bench
        .reader()
        .records::<Odds>(&tenant("a"), None, None, Limits::items(10))
        .await
        .unwrap();
    assert_eq!(odds.items.len(), 1);
    assert!(kernel.counters().bodies_missing.get() >= 4);
    assert!(bench.blocked().await.is_empty());
}

/// B-18
#[tokio::test(start_paused = true)]
async fn the_body_of_a_subscribers_event_is_read_from_the_log_too() {
    let bench = Bench::new();
    let heard: Arc<Heard<Total>> = Heard::new();
    let pipeline = Pipeline::<Run>::define("runs")
        .declares::<Note>()
        .fold::<Totals>(|f| {
            f.subscriber(
                Ear::<_, _, All>::new(&heard),
                Dispatch::delayed(Duration::from_secs(60)),
            )
        })
        .build()
        .unwrap();
    let kernel = bench.kernel().pipeline(pipeline).start().unwrap();
    kernel.send(bulky(0, 7, 20_000)).await.unwrap();
    kernel.caught_up(|_| {}).await.unwrap();
    bench.purge_bodies().await;
    idle(&kernel).await;
    assert_eq!(heard.numbers(), [7]);
    assert_eq!(kernel.counters().bodies_missing.get(), 1);
}

/// B-18: a command's body is nowhere else.
#[tokio::test(start_paused = true)]
async fn a_command_whose_body_is_gone_is_quarantined_with_that_reason() {
    let bench = Bench::new();
    let web = bench.with_role(Role::Web).pipeline(pipeline()).start().unwrap();
    web.send(bulky(0, 7, 20_000)).await.unwrap();
    bench.purge_bodies().await;
    let kernel = bench.kernel().pipeline(pipeline()).start().unwrap();
    kernel.send(note("other", 0, 1)).await.unwrap();
    tokio::time::sleep(Duration::from_secs(3 * 60 * 60)).await;
    let blocked = bench.blocked().await;
    assert_eq!(blocked.len(), 1);
    assert!(
        blocked[0].error.contains("is gone from its tier"),
        "{}",
        blocked[0].error
    );
    assert_eq!(bench.state::<Story>("other").await, Some(vec![1]));
}

/// B-19
#[tokio::test(start_paused = true)]
async fn a_tier_that_is_away_is_never_taken_for_a_missing_body() {
    let bench = Bench::new();
    stop_before_the_folds(&bench).await;
    let faults = Arc::new(Faults::new());
    faults.always(Op::Get, "", What::Fail(Kind::Unavailable));
    let kernel = bench.faulty(&faults).pipeline(pipeline()).start().unwrap();
    tokio::time::sleep(Duration::from_secs(3 * 60 * 60)).await;
    let blocked = bench.blocked().await;
    assert_eq!(blocked.len(), 4);
    assert!(
        blocked
            .iter()
            .all(|b| b.failures == 25 && b.error.contains("unavailable")),
        "{blocked:?}"
    );
    assert_eq!(kernel.counters().bodies_missing.get(), 0);
    assert_eq!(faults.count(Op::Find, ""), 0);
    faults.clear();
    for group in blocked {
        bench.ports.queue_admin.unblock(&group.group).await.unwrap();
    }
    idle(&kernel).await;
    assert_eq!(bench.state::<Story>("r").await, Some(vec![7]));
}

/// B-18: the state that a run was to see is gone; it sees the current one.
#[tokio::test(start_paused = true)]
async fn a_run_whose_state_is_gone_sees_the_current_one() {
    let bench = Bench::new();
    let heard: Arc<Heard<String>> = Heard::new();
    let odds: Arc<Heard<u64>> = Heard::new();
    let wait = Dispatch::delayed(Duration::from_secs(60));
    let pipeline = Pipeline::<Run>::define("runs")
        .declares::<Note>()
        .fold::<Last>(|f| f.subscriber(Ear::<_, _, All>::new(&heard), wait))
        .map::<Odds>(|m| m.subscriber(Ear::<_, _, All>::new(&odds), wait))
        .build()
        .unwrap();
    let kernel = bench.kernel().pipeline(pipeline).start().unwrap();
    kernel
        .send_all([bulky(0, 7, 20_000), bulky(1, 9, 20_000)])
        .await
        .unwrap();
    kernel.caught_up(|_| {}).await.unwrap();
    bench.purge_bodies().await;
    idle(&kernel).await;
    let mut numbers = heard.numbers();
    numbers.sort_unstable();
    assert_eq!(numbers, [7, 9]);
    assert!(heard.runs().iter().all(|run| run.state == noise(20_000, 9)));
    assert_eq!(odds.runs().len(), 2);
    assert_eq!(kernel.counters().states_missing.get(), 2);
    assert!(bench.blocked().await.is_empty());
}
