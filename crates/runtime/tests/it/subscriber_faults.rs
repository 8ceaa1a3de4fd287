//! Subscribers while processes die and ports fail.
use crate::support::{
    All, Bench, Ear, Evens, Faults, Heard, Note, Odds, Op, Run, RunEvent, Total, Totals, What, idle, note,
    until,
};
use foldwright_domain::Dispatch;
use foldwright_ports::Kind;
use foldwright_runtime::Pipeline;
use std::{sync::Arc, time::Duration};

fn pipeline(heard: &Arc<Heard<Total>>, dispatch: Dispatch) -> Pipeline<Run> {
    Pipeline::define("runs")
        .declares::<Note>()
        .fold::<Totals>(|f| f.subscriber(Ear::<RunEvent, _, Evens>::new(heard), dispatch))
        .build()
        .unwrap()
}

const QUIET: Dispatch = Dispatch::debounce(Duration::from_millis(500));

/// S-04, G7: killed at each point between the state and the settle.
#[tokio::test(start_paused = true)]
async fn what_was_decided_is_staged_after_the_process_died() {
    let points = [
        (Op::StoreRows, "totals", What::HangAfter),
        (Op::Settle, "fold/", What::Hang),
        (Op::Settle, "fold/", What::HangAfter),
    ];
    for dispatch in [Dispatch::each(), QUIET] {
        for (op, about, what) in points {
            let bench = Bench::new();
            let heard = Heard::new();
            let faults = Arc::new(Faults::new());
            faults.once(op, about, what);
            let first = bench
                .faulty(&faults)
                .pipeline(pipeline(&heard, dispatch))
                .start()
                .unwrap();
            let receipt = first.send(note("r", 5, 8)).await.unwrap();
            faults.hung(1).await;
            assert_eq!(
                bench.state::<Totals>("r").await,
                Some(Total { events: 1, sum: 8 })
            );
            drop(first);
            let second = bench
                .kernel()
                .pipeline(pipeline(&heard, dispatch))
                .start()
                .unwrap();
            idle(&second).await;
            let runs = heard.runs();
            assert_eq!(runs.len(), 1, "{dispatch:?} {op:?} {what:?}");
            assert_eq!(runs[0].event, receipt.command.event(0).unwrap());
            assert_eq!(runs[0].state, Total { events: 1, sum: 8 });
            let counters = second.counters();
            let asked = counters.runs_decided.get() + counters.runs_declined.get();
            assert_eq!(asked, 0, "`when` is not asked again");
            assert_eq!(bench.row::<Totals>("r").await.unwrap().events, 1);
        }
    }
}

/// S-04: more arrives before the successor takes over; the earlier decision goes out with its own state.
#[tokio::test(start_paused = true)]
async fn a_left_over_decision_goes_out_ahead_of_new_ones() {
    let bench = Bench::new();
    let heard = Heard::new();
    let faults = Arc::new(Faults::new());
    faults.once(Op::StoreRows, "totals", What::HangAfter);
    let first = bench
        .faulty(&faults)
        .pipeline(pipeline(&heard, Dispatch::each()))
        .start()
        .unwrap();
    first.send(note("r", 5, 8)).await.unwrap();
    faults.hung(1).await;
    drop(first);
    let second = bench
        .kernel()
        .pipeline(pipeline(&heard, Dispatch::each()))
        .start()
        .unwrap();
    second.send(note("r", 6, 10)).await.unwrap();
    idle(&second).await;
    let runs: Vec<_> = heard
        .runs()
        .into_iter()
        .map(|run| (run.n, run.state.events))
        .collect();
    assert_eq!(runs, [(8, 1), (10, 2)]);
}

/// S-04: the stage of what is left over fails, again and again, and its reply is lost once.
#[tokio::test(start_paused = true)]
async fn a_left_over_decision_survives_a_queue_that_is_away() {
    for what in [
        What::Fail(Kind::Unavailable),
        What::LoseReply(Kind::Timeout),
        What::Fail(Kind::Full),
    ] {
        let bench = Bench::new();
        let heard = Heard::new();
        let faults = Arc::new(Faults::new());
        faults.once(Op::StoreRows, "totals", What::HangAfter);
        let first = bench
            .faulty(&faults)
            .pipeline(pipeline(&heard, QUIET))
            .start()
            .unwrap();
        first.send(note("r", 5, 8)).await.unwrap();
        faults.hung(1).await;
        drop(first);
        let faults = Arc::new(Faults::new());
        faults.times(Op::Stage, "subscriber", 0, 5, what);
        let second = bench
            .faulty(&faults)
            .pipeline(pipeline(&heard, QUIET))
            .start()
            .unwrap();
        idle(&second).await;
        assert_eq!(faults.count(Op::Stage, "subscriber"), 6, "{what:?}");
        assert!(heard.numbers().contains(&8), "{what:?}");
        assert_eq!(bench.row::<Totals>("r").await.unwrap().events, 1);
        assert!(bench.blocked().await.is_empty());
    }
}

/// S-08
#[tokio::test(start_paused = true)]
async fn a_settle_that_carries_subscribers_is_repeated_until_they_are_staged() {
    let trouble = [
        (What::Fail(Kind::Unavailable), 100),
        (What::Fail(Kind::Full), 3),
        (What::LoseReply(Kind::Timeout), 1),
        (What::LoseReply(Kind::Unavailable), 100),
    ];
    for (what, times) in trouble {
        let bench = Bench::new();
        let heard = Heard::new();
        let faults = Arc::new(Faults::new());
        faults.times(Op::Settle, "fold/", 0, times, what);
        let kernel = bench
            .faulty(&faults)
            .pipeline(pipeline(&heard, Dispatch::each()))
            .start()
            .unwrap();
        kernel.send(note("r", 5, 8)).await.unwrap();
        idle(&kernel).await;
        assert!(heard.numbers().contains(&8), "{what:?}");
        assert_eq!(
            bench.state::<Totals>("r").await,
            Some(Total { events: 1, sum: 8 }),
            "{what:?}"
        );
        assert!(bench.blocked().await.is_empty());
    }
}

/// S-01: the projection fails for a while, and nothing is staged until it succeeds.
#[tokio::test(start_paused = true)]
async fn no_subscriber_is_staged_while_its_projection_fails() {
    let bench = Bench::new();
    let heard = Heard::new();
    let faults = Arc::new(Faults::new());
    faults.times(Op::StoreRows, "totals", 0, 20, What::Fail(Kind::Timeout));
    let kernel = bench
        .faulty(&faults)
        .pipeline(pipeline(&heard, Dispatch::each()))
        .start()
        .unwrap();
    kernel.send(note("r", 5, 8)).await.unwrap();
    until(async || {
        assert_eq!(kernel.backlog().await.unwrap().subscribers.waiting, 0);
        assert!(heard.runs().is_empty());
        faults.count(Op::StoreRows, "totals") >= 20
    })
    .await;
    idle(&kernel).await;
    assert_eq!(heard.numbers(), [8]);
}

/// S-04 for maps: a map decides again after a death, from the same event and record.
#[tokio::test(start_paused = true)]
async fn a_subscriber_of_a_map_is_staged_after_the_process_died() {
    for (op, what) in [(Op::AppendRecords, What::HangAfter), (Op::Settle, What::Hang)] {
        let bench = Bench::new();
        let heard: Arc<Heard<u64>> = Heard::new();
        let pipeline = || {
            Pipeline::<Run>::define("runs")
                .declares::<Note>()
                .map::<Odds>(|m| m.subscriber(Ear::<_, _, All>::new(&heard), Dispatch::each()))
                .build()
                .unwrap()
        };
        let faults = Arc::new(Faults::new());
        faults.once(op, if op == Op::Settle { "map/odds" } else { "odds" }, what);
        let first = bench.faulty(&faults).pipeline(pipeline()).start().unwrap();
        first.send(note("r", 5, 7)).await.unwrap();
        faults.hung(1).await;
        assert!(heard.runs().is_empty());
        drop(first);
        let second = bench.kernel().pipeline(pipeline()).start().unwrap();
        idle(&second).await;
        assert_eq!(
            heard
                .runs()
                .iter()
                .map(|run| (run.n, run.state))
                .collect::<Vec<_>>(),
            [(7, 7)]
        );
    }
}
