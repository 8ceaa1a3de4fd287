//! Subscribers in ordinary service.
use crate::support::{
    All, Bench, ByNumber, Ear, Evens, Faults, Heard, InOrder, Manner, Note, Op, Reaction, Run, RunEvent,
    Sibling, Story, Total, Totals, What, idle, note,
};
use foldwright_domain::Dispatch;
use foldwright_runtime::{Pipeline, Role};
use std::{sync::Arc, time::Duration};

type Heart = Arc<Heard<Total>>;

fn ear<M: Manner>(heard: &Heart) -> Ear<RunEvent, Total, M> {
    Ear::new(heard)
}

fn with<M: Manner>(heard: &Heart, dispatch: Dispatch) -> Pipeline<Run> {
    Pipeline::define("runs")
        .declares::<Note>()
        .fold::<Totals>(|f| f.subscriber(ear::<M>(heard), dispatch))
        .build()
        .unwrap()
}

fn sorted(mut numbers: Vec<u64>) -> Vec<u64> {
    numbers.sort_unstable();
    numbers
}

/// Stages five commands so that their events meet in one batch of the fold.
async fn five_at_once(bench: &Bench, pipeline: Pipeline<Run>) {
    let web = bench.with_role(Role::Web).pipeline(pipeline).start().unwrap();
    web.send_all([(30, 3), (10, 1), (50, 5), (20, 2), (40, 4)].map(|(ms, n)| note("r", ms, n)))
        .await
        .unwrap();
}

/// S-01, G7
#[tokio::test(start_paused = true)]
async fn a_subscriber_runs_after_its_row_is_durable_with_the_event_and_that_state() {
    let bench = Bench::new();
    let heard = Heard::new();
    let faults = Arc::new(Faults::new());
    faults.once(Op::StoreRows, "totals", What::Hang);
    let kernel = bench
        .faulty(&faults)
        .pipeline(with::<All>(&heard, Dispatch::each()))
        .start()
        .unwrap();
    kernel.send(note("r", 5, 7)).await.unwrap();
    faults.hung(1).await;
    tokio::time::sleep(Duration::from_secs(5)).await;
    assert_eq!(
        kernel.backlog().await.unwrap().subscribers,
        foldwright_runtime::Standing::default()
    );
    assert_eq!(bench.state::<Totals>("r").await, None);
    faults.let_go();
    idle(&kernel).await;
    let runs = heard.runs();
    assert_eq!(runs.len(), 1);
    assert_eq!(
        (runs[0].n, runs[0].occurred_at, &runs[0].state),
        (7, 5, &Total { events: 1, sum: 7 })
    );
}

/// S-02
#[tokio::test(start_paused = true)]
async fn an_event_that_is_not_wanted_leads_to_no_job() {
    let bench = Bench::new();
    let heard = Heard::new();
    let kernel = bench
        .kernel()
        .pipeline(with::<Evens>(&heard, Dispatch::each()))
        .start()
        .unwrap();
    kernel
        .send_all((1..=6).map(|n| note("r", n as i64, n)))
        .await
        .unwrap();
    idle(&kernel).await;
    assert_eq!(sorted(heard.numbers()), [2, 4, 6]);
    assert_eq!(heard.calls(), 3);
    assert_eq!(kernel.counters().runs_declined.get(), 3);
    assert_eq!(kernel.counters().runs_decided.get(), 3);
}

/// S-03
#[tokio::test(start_paused = true)]
async fn a_guard_that_panics_means_yes_and_touches_nothing_else() {
    let bench = Bench::new();
    let (evens, all) = (Heard::new(), Heard::new());
    let pipeline = Pipeline::<Run>::define("runs")
        .declares::<Note>()
        .fold::<Totals>(|f| {
            f.subscriber(ear::<Evens>(&evens), Dispatch::each())
                .subscriber(ear::<All>(&all), Dispatch::each())
        })
        .build()
        .unwrap();
    let kernel = bench.kernel().pipeline(pipeline).start().unwrap();
    kernel
        .send_all([note("r", 1, 13), note("r", 2, 15), note("r", 3, 16)])
        .await
        .unwrap();
    idle(&kernel).await;
    assert_eq!(sorted(evens.numbers()), [13, 16]);
    assert_eq!(sorted(all.numbers()), [13, 15, 16]);
    assert_eq!(kernel.counters().guards_failed.get(), 1);
    assert_eq!(
        bench.state::<Totals>("r").await,
        Some(Total { events: 3, sum: 44 })
    );
    assert!(bench.blocked().await.is_empty());
}

/// S-05, D-02
#[tokio::test(start_paused = true)]
async fn a_batch_makes_one_merged_run_with_the_last_relevant_event_and_the_final_state() {
    let bench = Bench::new();
    let heard = Heard::new();
    let pipeline = || with::<Evens>(&heard, Dispatch::debounce(Duration::from_millis(500)));
    five_at_once(&bench, pipeline()).await;
    let kernel = bench.kernel().pipeline(pipeline()).start().unwrap();
    idle(&kernel).await;
    let runs = heard.runs();
    assert_eq!(runs.iter().map(|run| run.n).collect::<Vec<_>>(), [4]);
    assert_eq!(runs[0].state, Total { events: 5, sum: 15 });
    assert_eq!(kernel.counters().runs_declined.get(), 3);
}

/// S-06
#[tokio::test(start_paused = true)]
async fn runs_that_carry_their_event_do_not_merge() {
    let debounce = Dispatch::debounce(Duration::from_millis(500));
    let bench = Bench::new();
    let heard = Heard::new();
    five_at_once(&bench, with::<ByNumber>(&heard, debounce)).await;
    let kernel = bench
        .kernel()
        .pipeline(with::<ByNumber>(&heard, debounce))
        .start()
        .unwrap();
    idle(&kernel).await;
    assert_eq!(sorted(heard.numbers()), [1, 2, 3, 4, 5]);

    let bench = Bench::new();
    let heard = Heard::new();
    // Every other run takes long, so that only a group keeps them in order.
    let slow = Reaction::Slow(Duration::from_millis(700));
    heard.react([
        slow,
        Reaction::Slow(Duration::ZERO),
        slow,
        Reaction::Slow(Duration::ZERO),
        slow,
    ]);
    five_at_once(&bench, with::<InOrder>(&heard, Dispatch::each())).await;
    let kernel = bench
        .kernel()
        .pipeline(with::<InOrder>(&heard, Dispatch::each()))
        .start()
        .unwrap();
    idle(&kernel).await;
    assert_eq!(heard.numbers(), [1, 2, 3, 4, 5]);

    let bench = Bench::new();
    let heard = Heard::new();
    heard.react([slow]);
    five_at_once(&bench, with::<All>(&heard, Dispatch::each())).await;
    let kernel = bench
        .kernel()
        .pipeline(with::<All>(&heard, Dispatch::each()))
        .start()
        .unwrap();
    idle(&kernel).await;
    assert_eq!(sorted(heard.numbers()), [1, 2, 3, 4, 5]);
    assert_eq!(
        heard.runs().last().map(|run| run.ms >= 700),
        Some(true),
        "the others do not wait for the slow one"
    );
}

/// S-07
#[tokio::test(start_paused = true)]
async fn a_failing_handler_has_its_own_ladder_and_its_own_quarantine() {
    let bench = Bench::new();
    let (bad, good) = (Heard::new(), Heard::new());
    let pipeline = Pipeline::<Run>::define("runs")
        .declares::<Note>()
        .fold::<Totals>(|f| {
            f.subscriber(ear::<InOrder>(&bad), Dispatch::each())
                .subscriber(ear::<Sibling>(&good), Dispatch::each())
        })
        .fold::<Story>(|f| f)
        .build()
        .unwrap();
    bad.react(vec![Reaction::Retry; 100]);
    let faults = Arc::new(Faults::new());
    let kernel = bench.faulty(&faults).pipeline(pipeline).start().unwrap();
    kernel.send_all([note("r", 1, 1), note("r", 2, 2)]).await.unwrap();
    tokio::time::sleep(Duration::from_secs(3 * 60 * 60)).await;
    assert_eq!(bad.calls(), 25);
    assert_eq!(sorted(good.numbers()), [1, 2]);
    assert_eq!(good.calls(), 2);
    assert_eq!(bench.state::<Story>("r").await, Some(vec![1, 2]));
    let stores = faults.count(Op::StoreRows, "totals");
    let blocked = bench.blocked().await;
    assert_eq!(blocked.len(), 1);
    assert_eq!(blocked[0].route.as_str(), "runs/fold/totals/subscriber/in_order");
    assert_eq!(kernel.backlog().await.unwrap().subscribers.blocked, 2);
    kernel.send(note("r", 3, 3)).await.unwrap();
    idle(&kernel).await;
    assert_eq!(
        bench.state::<Totals>("r").await,
        Some(Total { events: 3, sum: 6 })
    );
    assert_eq!(faults.count(Op::StoreRows, "totals"), stores + 1);
    // An operator opens the group as often as it takes: each time a whole ladder.
    for _ in 0..4 {
        assert!(bad.runs().is_empty());
        for group in bench.blocked().await {
            bench.ports.queue_admin.unblock(&group.group).await.unwrap();
        }
        tokio::time::sleep(Duration::from_secs(3 * 60 * 60)).await;
    }
    idle(&kernel).await;
    assert_eq!(bad.calls(), 100 + 3);
    assert_eq!(bad.numbers(), [1, 2, 3]);
}
