//! At most one run per window.
use crate::support::{All, Bench, Ear, Heard, Note, Run, Total, Totals, idle, note};
use foldwright_domain::Dispatch;
use foldwright_runtime::{Kernel, Pipeline, Role};
use std::{sync::Arc, time::Duration};

fn throttled(heard: &Arc<Heard<Total>>) -> Pipeline<Run> {
    let dispatch = Dispatch::throttle(Duration::from_secs(10));
    Pipeline::define("runs")
        .declares::<Note>()
        .fold::<Totals>(|f| f.subscriber(Ear::<_, _, All>::new(heard), dispatch))
        .build()
        .unwrap()
}

async fn each_second(kernel: &Kernel, numbers: std::ops::RangeInclusive<u64>) {
    for n in numbers {
        kernel.send(note("r", n as i64, n)).await.unwrap();
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
}

/// D-05: a trigger each second for half a minute.
#[tokio::test(start_paused = true)]
async fn the_first_runs_at_once_and_each_window_ends_with_one_run_of_the_newest() {
    let bench = Bench::new();
    let heard = Heard::new();
    let kernel = bench.kernel().pipeline(throttled(&heard)).start().unwrap();
    kernel.send(note("r", 1, 1)).await.unwrap();
    tokio::time::sleep(Duration::from_millis(500)).await;
    each_second(&kernel, 2..=30).await;
    idle(&kernel).await;
    let seconds: Vec<_> = heard.called_at().iter().map(|ms| ms / 1_000).collect();
    assert_eq!(seconds, [0, 10, 20, 30]);
    // A run at the end of a window sees what is stored when it starts.
    assert_eq!(heard.numbers(), [1, 11, 21, 30]);
    let seen: Vec<_> = heard.runs().iter().map(|run| run.state.events).collect();
    assert_eq!(seen, [1, 11, 21, 30]);
    // Nothing follows, so the next one runs at once again.
    tokio::time::sleep(Duration::from_secs(60)).await;
    each_second(&kernel, 31..=31).await;
    idle(&kernel).await;
    assert_eq!(heard.numbers(), [1, 11, 21, 30, 31]);
}

/// D-05, S-05: many events in one batch are one run at once.
#[tokio::test(start_paused = true)]
async fn a_batch_makes_one_run_at_once() {
    let bench = Bench::new();
    let heard = Heard::new();
    let web = bench
        .with_role(Role::Web)
        .pipeline(throttled(&heard))
        .start()
        .unwrap();
    web.send_all((1..=5).rev().map(|n| note("r", n, n as u64)))
        .await
        .unwrap();
    let kernel = bench.kernel().pipeline(throttled(&heard)).start().unwrap();
    idle(&kernel).await;
    assert_eq!(heard.numbers(), [5]);
    assert!(heard.called_at()[0] < 1_000);
    let counts: Vec<_> = kernel.subscriber_counts().values().collect();
    let [counts] = counts.as_slice() else {
        panic!("one subscriber")
    };
    assert_eq!(
        (counts.routed.get(), counts.collapsed.get(), counts.staged.get()),
        (5, 4, 1)
    );
}
