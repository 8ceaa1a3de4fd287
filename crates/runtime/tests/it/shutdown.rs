//! Stopping in phases.
use crate::support::{
    All, Bench, Ear, Faults, Heard, InOrder, Manner, Note, Op, Reaction, Run, RunEvent, Total, Totals, What,
    idle, note, until,
};
use foldwright_domain::Dispatch;
use foldwright_runtime::{Pipeline, Shutdown, ShutdownBudget};
use std::{
    io,
    sync::{Arc, Mutex},
    time::Duration,
};
use tokio::{runtime::Handle, time::Instant};

fn with<M: Manner>(heard: &Arc<Heard<Total>>) -> Pipeline<Run> {
    Pipeline::define("runs")
        .declares::<Note>()
        .fold::<Totals>(|f| f.subscriber(Ear::<RunEvent, _, M>::new(heard), Dispatch::each()))
        .build()
        .unwrap()
}

const BUDGET: ShutdownBudget = ShutdownBudget::development();

/// H-01, H-07: an effect that outlives the drain is cancelled, and its group is claimable at once.
#[tokio::test(start_paused = true)]
async fn what_outlives_the_drain_is_dropped_and_claimable_at_once() {
    let bench = Bench::new();
    let heard = Heard::new();
    heard.react([Reaction::Slow(Duration::from_secs(100))]);
    let before = Handle::current().metrics().num_alive_tasks();
    let kernel = bench.kernel().pipeline(with::<InOrder>(&heard)).start().unwrap();
    kernel.send_all([note("r", 1, 1), note("r", 2, 2)]).await.unwrap();
    until(async || heard.calls() != 0).await;
    let begun = Instant::now();
    let log = Arc::new(Mutex::new(Vec::new()));
    let says = |what: &'static str| {
        let log = log.clone();
        async move {
            log.lock().unwrap().push(what);
            Ok::<_, io::Error>(())
        }
    };
    let shutdown = Shutdown::new(BUDGET)
        .then("stores", says("stores"))
        .then("pool", says("pool"))
        .flush(says("flush"));
    let stopped = kernel.shutdown(shutdown).await.unwrap();
    assert_eq!((stopped.given_back, stopped.troubled), (1, vec!["drain"]));
    assert!(begun.elapsed() < BUDGET.drain() + BUDGET.phase());
    assert_eq!(*log.lock().unwrap(), ["stores", "pool", "flush"]);
    assert_eq!(Handle::current().metrics().num_alive_tasks(), before);
    assert!(heard.runs().is_empty());
    let closed = Instant::now();
    let again = bench.kernel().pipeline(with::<InOrder>(&heard)).start().unwrap();
    idle(&again).await;
    assert!(
        closed.elapsed() < Duration::from_secs(1),
        "{:?}",
        closed.elapsed()
    );
    assert_eq!(heard.numbers(), [1, 2]);
}

/// H-02: what a job in flight leads to is staged while the kernel drains.
#[tokio::test(start_paused = true)]
async fn a_job_in_flight_may_stage_until_the_drain_ends() {
    let bench = Bench::new();
    let heard = Heard::new();
    let faults = Arc::new(Faults::new());
    faults.once(Op::StoreRows, "totals", What::Hang);
    let kernel = bench
        .faulty(&faults)
        .pipeline(with::<All>(&heard))
        .start()
        .unwrap();
    kernel
        .send_all((1..=100).map(|n| note("r", n as i64, n)))
        .await
        .unwrap();
    faults.hung(1).await;
    let closing = async { kernel.shutdown(Shutdown::new(BUDGET)).await.unwrap() };
    let letting_go = async {
        tokio::time::sleep(Duration::from_secs(2)).await;
        faults.let_go();
    };
    let (stopped, ()) = tokio::join!(closing, letting_go);
    assert_eq!((stopped.given_back, stopped.troubled.len()), (0, 0));
    let again = bench.kernel().pipeline(with::<All>(&heard)).start().unwrap();
    idle(&again).await;
    let mut numbers = heard.numbers();
    numbers.sort_unstable();
    assert_eq!(numbers, (1..=100).collect::<Vec<_>>());
}

/// H-04, H-05
#[tokio::test(start_paused = true)]
async fn a_phase_that_fails_or_hangs_is_left_and_the_later_ones_run() {
    let bench = Bench::new();
    let heard = Heard::new();
    let kernel = bench.kernel().pipeline(with::<All>(&heard)).start().unwrap();
    let flushed = Arc::new(Mutex::new(false));
    let flag = flushed.clone();
    let shutdown = Shutdown::new(BUDGET)
        .then("cache", async { Err::<(), _>(io::Error::other("no")) })
        .then("pool", std::future::pending::<Result<(), io::Error>>())
        .then("stores", async { Ok::<_, io::Error>(()) })
        .flush(async move {
            *flag.lock().unwrap() = true;
            Err::<(), _>(io::Error::other("no collector"))
        });
    let stopped = kernel.shutdown(shutdown).await.unwrap();
    assert_eq!(stopped.troubled, ["cache", "pool"]);
    assert!(*flushed.lock().unwrap());
}

/// H-04
#[tokio::test(start_paused = true)]
async fn past_the_whole_time_an_error_names_the_phase() {
    let bench = Bench::new();
    let heard = Heard::new();
    let kernel = bench.kernel().pipeline(with::<All>(&heard)).start().unwrap();
    let hangs = std::future::pending::<Result<(), io::Error>>;
    let mut shutdown = Shutdown::new(BUDGET);
    for name in ["a", "b", "c", "d", "e", "f", "g", "h"] {
        shutdown = shutdown.then(name, hangs());
    }
    let began = Instant::now();
    let error = kernel.shutdown(shutdown).await.unwrap_err();
    assert_eq!(began.elapsed(), BUDGET.total());
    assert_eq!(error.phase, "f");
    assert!(error.to_string().contains("`f`"), "{error}");
}

/// H-04: the queue is away, so nothing can be given back; the rest of the stop goes on.
#[tokio::test(start_paused = true)]
async fn a_queue_that_hangs_holds_up_one_phase_each() {
    let bench = Bench::new();
    let heard = Heard::new();
    heard.react([Reaction::Slow(Duration::from_secs(100))]);
    let faults = Arc::new(Faults::new());
    let kernel = bench
        .faulty(&faults)
        .pipeline(with::<All>(&heard))
        .start()
        .unwrap();
    kernel.send(note("r", 1, 1)).await.unwrap();
    until(async || heard.calls() != 0).await;
    faults.always(Op::Settle, "", What::Hang);
    let stopped = kernel.shutdown(Shutdown::new(BUDGET)).await.unwrap();
    assert_eq!(stopped.troubled, ["drain", "give back"]);
    assert_eq!(stopped.given_back, 0);
}
