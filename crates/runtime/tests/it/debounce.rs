//! Runs that wait until nothing happens.
use crate::support::{All, Bench, Ear, Heard, Note, Reaction, Run, Story, Total, Totals, idle, note, tenant};
use foldwright_domain::{Dispatch, Fold};
use foldwright_runtime::{Kernel, Pipeline, Role};
use std::{sync::Arc, time::Duration};

fn with<F: Fold<On = crate::support::RunEvent>>(
    heard: &Arc<Heard<F::State>>,
    quiet_ms: u64,
) -> Pipeline<Run> {
    let debounce = Dispatch::debounce(Duration::from_millis(quiet_ms));
    Pipeline::define("runs")
        .declares::<Note>()
        .fold::<F>(|f| f.subscriber(Ear::<_, _, All>::new(heard), debounce))
        .build()
        .unwrap()
}

async fn wait(ms: u64) {
    tokio::time::sleep(Duration::from_millis(ms)).await;
}

/// S-11
#[tokio::test(start_paused = true)]
async fn many_events_of_one_aggregate_make_one_run_with_the_newest() {
    let bench = Bench::new();
    let heard = Heard::new();
    let web = bench
        .with_role(Role::Web)
        .pipeline(with::<Totals>(&heard, 500))
        .start()
        .unwrap();
    web.send_all((1..=300).map(|n| note("r", (n * 11 % 301) as i64, n % 100)))
        .await
        .unwrap();
    let kernel = bench
        .kernel()
        .pipeline(with::<Totals>(&heard, 500))
        .start()
        .unwrap();
    idle(&kernel).await;
    let runs = heard.runs();
    assert_eq!(runs.len(), 1);
    assert_eq!((runs[0].occurred_at, runs[0].state.events), (300, 300));
}

/// S-11: they arrive one by one, newest first.
#[tokio::test(start_paused = true)]
async fn a_merged_run_has_the_canonically_newest_event_whatever_came_last() {
    let bench = Bench::new();
    let heard = Heard::new();
    let kernel = bench
        .kernel()
        .pipeline(with::<Totals>(&heard, 500))
        .start()
        .unwrap();
    for n in (1..=20).rev() {
        kernel.send(note("r", n, n as u64)).await.unwrap();
        wait(100).await;
    }
    idle(&kernel).await;
    let runs = heard.runs();
    assert_eq!(runs.iter().map(|run| run.n).collect::<Vec<_>>(), [20]);
    assert_eq!(
        bench.state::<Totals>("r").await,
        Some(Total { events: 20, sum: 210 })
    );
}

/// S-05, S-11: what arrived late is in the state that the run sees.
#[tokio::test(start_paused = true)]
async fn a_merged_run_has_the_final_state_whatever_came_last() {
    let bench = Bench::new();
    let heard = Heard::new();
    let kernel = bench
        .kernel()
        .pipeline(with::<Story>(&heard, 500))
        .start()
        .unwrap();
    for (ms, n) in [(30, 3), (10, 1), (20, 2)] {
        kernel.send(note("r", ms, n)).await.unwrap();
        wait(100).await;
    }
    idle(&kernel).await;
    let runs = heard.runs();
    assert_eq!(runs.iter().map(|run| run.n).collect::<Vec<_>>(), [3]);
    assert_eq!(runs[0].state, [1, 2, 3]);
}

/// D-03
#[tokio::test(start_paused = true)]
async fn each_event_starts_the_wait_anew() {
    let bench = Bench::new();
    let heard = Heard::new();
    let kernel = bench
        .kernel()
        .pipeline(with::<Totals>(&heard, 200))
        .start()
        .unwrap();
    for (pause, n) in [(100, 1), (150, 2), (0, 3)] {
        kernel.send(note("r", n, n as u64)).await.unwrap();
        wait(pause).await;
    }
    idle(&kernel).await;
    assert_eq!(heard.called_at(), [450]);
    assert_eq!(heard.numbers(), [3]);
}

/// D-04
#[tokio::test(start_paused = true)]
async fn an_event_while_the_run_goes_on_makes_another_run_after_it() {
    let bench = Bench::new();
    let heard = Heard::new();
    heard.react([Reaction::Slow(Duration::from_secs(2))]);
    let kernel = bench
        .kernel()
        .pipeline(with::<Totals>(&heard, 200))
        .start()
        .unwrap();
    kernel.send(note("r", 1, 1)).await.unwrap();
    wait(1_000).await;
    assert_eq!((heard.calls(), heard.runs().len()), (1, 0));
    kernel.send(note("r", 2, 2)).await.unwrap();
    idle(&kernel).await;
    assert_eq!(heard.numbers(), [1, 2]);
    assert_eq!(heard.called_at(), [200, 2_200]);
    assert_eq!(heard.runs()[1].state, Total { events: 2, sum: 3 });
}

/// D-06
#[tokio::test(start_paused = true)]
async fn runs_of_two_tenants_and_of_two_aggregates_never_merge() {
    let bench = Bench::new();
    let heard = Heard::new();
    let kernel = bench
        .kernel()
        .pipeline(with::<Totals>(&heard, 200))
        .start()
        .unwrap();
    send_to(&kernel, "a", "r", 1).await;
    send_to(&kernel, "b", "r", 2).await;
    send_to(&kernel, "a", "s", 3).await;
    idle(&kernel).await;
    let mut numbers = heard.numbers();
    numbers.sort_unstable();
    assert_eq!(numbers, [1, 2, 3]);
}

async fn send_to(kernel: &Kernel, owner: &str, run: &str, n: u64) {
    let mut intent = note(run, 0, n);
    intent.tenant = tenant(owner);
    kernel.send(intent).await.unwrap();
}

/// S-05, S-11: a run that failed and waits is passed by one that a late event led to. Whichever comes last, it sees all
/// that was stored before it.
#[tokio::test(start_paused = true)]
async fn a_run_that_failed_and_was_passed_sees_the_newest_state() {
    let bench = Bench::new();
    let heard = Heard::new();
    heard.react([Reaction::RetryAfter(Duration::from_secs(5))]);
    let kernel = bench
        .kernel()
        .pipeline(with::<Totals>(&heard, 100))
        .start()
        .unwrap();
    kernel.send(note("r", 60_000, 1)).await.unwrap();
    wait(1_000).await;
    assert_eq!(heard.calls(), 1, "it has failed and waits");
    kernel.send(note("r", 0, 2)).await.unwrap();
    idle(&kernel).await;
    let seen: Vec<_> = heard.runs().iter().map(|run| run.state.events).collect();
    assert!(
        !seen.is_empty() && seen.iter().all(|events| *events == 2),
        "{seen:?}"
    );
}
