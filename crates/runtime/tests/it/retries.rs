//! Failing effects: floors, quarantine, panics.
use crate::support::{
    All, Bench, Ear, Heard, InOrder, Manner, Note, Reaction, Run, RunEvent, Total, Totals, idle, note,
};
use foldwright_domain::Dispatch;
use foldwright_runtime::Pipeline;
use std::{sync::Arc, time::Duration};

fn with<M: Manner>(heard: &Arc<Heard<Total>>) -> Pipeline<Run> {
    Pipeline::define("runs")
        .declares::<Note>()
        .fold::<Totals>(|f| f.subscriber(Ear::<RunEvent, _, M>::new(heard), Dispatch::each()))
        .build()
        .unwrap()
}

/// R-02
#[tokio::test(start_paused = true)]
async fn an_effect_may_ask_for_a_longer_wait_and_never_for_a_shorter_one() {
    let bench = Bench::new();
    let heard = Heard::new();
    let shortest = Reaction::RetryAfter(Duration::from_millis(1));
    heard.react([Reaction::RetryAfter(Duration::from_secs(30)), shortest, shortest]);
    let kernel = bench.kernel().pipeline(with::<All>(&heard)).start().unwrap();
    kernel.send(note("r", 0, 1)).await.unwrap();
    idle(&kernel).await;
    let called = heard.called_at();
    assert_eq!(called.len(), 4);
    let waits: Vec<_> = called.windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert_eq!(waits[0], 30_000);
    assert!((900..=1_100).contains(&waits[1]), "{waits:?}");
    assert!((1_800..=2_200).contains(&waits[2]), "{waits:?}");
    assert_eq!(heard.numbers(), [1]);
}

/// R-05
#[tokio::test(start_paused = true)]
async fn a_fatal_error_quarantines_after_one_call() {
    let bench = Bench::new();
    let heard = Heard::new();
    heard.react([Reaction::Fatal]);
    let kernel = bench.kernel().pipeline(with::<InOrder>(&heard)).start().unwrap();
    kernel.send_all([note("r", 1, 1), note("r", 2, 2)]).await.unwrap();
    idle(&kernel).await;
    tokio::time::sleep(Duration::from_secs(3_600)).await;
    assert_eq!(heard.calls(), 1);
    let blocked = bench.blocked().await;
    assert_eq!((blocked.len(), blocked[0].failures), (1, 1));
    assert_eq!(blocked[0].error, "as the test says");
    assert_eq!(kernel.backlog().await.unwrap().subscribers.blocked, 2);
    bench.ports.queue_admin.unblock(&blocked[0].group).await.unwrap();
    idle(&kernel).await;
    assert_eq!(heard.numbers(), [1, 2]);
}

/// R-20
#[tokio::test(start_paused = true)]
async fn an_effect_that_panics_is_retried_and_the_worker_lives_on() {
    let bench = Bench::new();
    let heard = Heard::new();
    heard.react([Reaction::Panic, Reaction::Panic]);
    let kernel = bench.kernel().pipeline(with::<All>(&heard)).start().unwrap();
    kernel
        .send_all((1..=20).map(|n| note(&format!("r{n}"), 0, n)))
        .await
        .unwrap();
    idle(&kernel).await;
    let mut numbers = heard.numbers();
    numbers.sort_unstable();
    assert_eq!(numbers, (1..=20).collect::<Vec<_>>());
    assert_eq!(heard.calls(), 22);
    assert!(bench.blocked().await.is_empty());
}

/// R-15: those ahead of the one that fails are done once, those behind wait.
#[tokio::test(start_paused = true)]
async fn in_an_ordered_group_only_the_failing_run_is_repeated() {
    let bench = Bench::new();
    let heard = Heard::new();
    let fine = Reaction::Slow(Duration::ZERO);
    heard.react([fine, fine, Reaction::Retry, Reaction::Retry]);
    let kernel = bench.kernel().pipeline(with::<InOrder>(&heard)).start().unwrap();
    kernel
        .send_all((1..=5).map(|n| note("r", n as i64, n)))
        .await
        .unwrap();
    idle(&kernel).await;
    assert_eq!(heard.numbers(), [1, 2, 3, 4, 5]);
    assert_eq!(heard.calls(), 7);
}
