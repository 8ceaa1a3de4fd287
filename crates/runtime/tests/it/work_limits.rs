//! How much a worker takes on, and what a slow part of it holds up.
use crate::support::{
    All, Bench, Ear, Faults, Heard, Note, Noted, Op, Reaction, Run, RunEvent, Story, Total, Totals, What, at,
    bulky, idle, noise, note, tenant, until,
};
use foldwright_domain::{Declared, Dispatch, Intent, Recorded};
use foldwright_ports::{Body, Kind};
use foldwright_runtime::{EffectError, Pipeline, Subscriber, WorkerSettings};
use std::{sync::Arc, time::Duration};
use tokio::time::Instant;

fn pipeline(heard: &Arc<Heard<Total>>) -> Pipeline<Run> {
    Pipeline::define("runs")
        .declares::<Note>()
        .fold::<Totals>(|f| f.subscriber(Ear::<RunEvent, _, All>::new(heard), Dispatch::each()))
        .fold::<Story>(|f| f)
        .build()
        .unwrap()
}

/// A slow store of one fold does not hold up the other one that was claimed with it.
#[tokio::test(start_paused = true)]
async fn a_slow_route_holds_up_itself_alone() {
    let bench = Bench::new();
    let heard = Heard::new();
    let faults = Arc::new(Faults::new());
    faults.always(Op::StoreRows, "totals", What::Hang);
    let alone = WorkerSettings {
        bulk_lanes: 1,
        ..WorkerSettings::default()
    };
    let kernel = bench
        .faulty(&faults)
        .pipeline(pipeline(&heard))
        .worker(alone)
        .start()
        .unwrap();
    for n in 1..=3 {
        kernel.send(note("r", n as i64, n)).await.unwrap();
        until(async || bench.row::<Story>("r").await.is_some_and(|row| row.events == n)).await;
        assert_eq!(bench.row::<Totals>("r").await, None);
    }
    faults.let_go();
    idle(&kernel).await;
    assert_eq!(bench.row::<Totals>("r").await.unwrap().events, 3);
}

/// F-11, G6: one tenant's effects hang. They leave the lanes once they are seen to be slow, and begin no further ones.
#[tokio::test(start_paused = true)]
async fn effects_that_hang_hold_up_no_other_tenant() {
    let bench = Bench::new();
    let heard = Heard::new();
    // Eight hold the lanes; while these leave them one by one, seven more begin.
    heard.react([Reaction::Slow(Duration::from_secs(200)); 15]);
    let kernel = bench.kernel().pipeline(pipeline(&heard)).start().unwrap();
    kernel
        .send_all((1..=100).map(|n| note(&format!("r{n}"), 0, n)))
        .await
        .unwrap();
    tokio::time::sleep(Duration::from_secs(21)).await;
    assert_eq!(heard.calls(), 15);
    let sent = Instant::now();
    let other = Noted {
        run: "r".into(),
        n: 1_000,
        key: None,
    };
    kernel
        .send(Intent::new(tenant("b"), at(0), Declared::<Note>(other)))
        .await
        .unwrap();
    until(async || heard.numbers().contains(&1_000)).await;
    assert!(sent.elapsed() < Duration::from_secs(1), "{:?}", sent.elapsed());
    assert_eq!(heard.calls(), 16, "the hanging tenant has no more than its share");
    assert!(kernel.counters().effects_deferred.get() > 0);
    idle(&kernel).await;
    assert_eq!(heard.runs().len(), 101);
}

/// F-16
#[tokio::test(start_paused = true)]
async fn no_more_bodies_are_in_memory_than_the_budget_says() {
    let bench = Bench::new();
    let heard = Heard::new();
    heard.react([Reaction::Slow(Duration::from_secs(1)); 20]);
    let settings = WorkerSettings {
        body_bytes: 64 << 10,
        ..WorkerSettings::default()
    };
    let kernel = bench
        .kernel()
        .pipeline(pipeline(&heard))
        .worker(settings)
        .start()
        .unwrap();
    kernel
        .send_all((1..=20).map(|n| bulky(n as i64, n, 9 << 10)))
        .await
        .unwrap();
    let mut most = 0;
    until(async || {
        most = most.max(heard.calls() - heard.runs().len());
        heard.runs().len() == 20
    })
    .await;
    assert_eq!(most, 3);
    idle(&kernel).await;
    // A job that is larger than the whole budget goes alone.
    kernel.send(bulky(99, 99, 200 << 10)).await.unwrap();
    idle(&kernel).await;
    assert_eq!(heard.runs().len(), 21);
}

/// R-14
#[tokio::test(start_paused = true)]
async fn a_body_that_bypassed_the_encoder_is_quarantined_unread() {
    let bench = Bench::new();
    let heard = Heard::new();
    let route = "runs/command/note";
    let small = bench.job_of(pipeline(&heard), route, note("r", 0, 1)).await;
    let mut large = bench.job_of(pipeline(&heard), route, bulky(1, 2, 20_000)).await;
    let behind = bench.job_of(pipeline(&heard), route, note("r", 2, 3)).await;
    let Body::Blob { bytes, .. } = &mut large.body else {
        panic!("the body is inline")
    };
    *bytes = 200 << 20;
    for job in [&small, &large, &behind] {
        bench.stage(job.clone()).await;
    }
    let faults = Arc::new(Faults::new());
    let kernel = bench.faulty(&faults).pipeline(pipeline(&heard)).start().unwrap();
    idle(&kernel).await;
    assert_eq!(heard.numbers(), [1]);
    let blocked = bench.blocked().await;
    assert_eq!((blocked.len(), blocked[0].job), (1, large.id));
    let error = &blocked[0].error;
    assert!(
        error.contains("209715199 bytes") && error.contains("at most 52428800"),
        "{error}"
    );
    assert_eq!(faults.count(Op::Get, ""), 0, "nothing of it was read");
    assert_eq!(kernel.backlog().await.unwrap().commands.blocked, 2);
}

/// A worker says that it lives, and says goodbye when it stops in good order.
#[tokio::test(start_paused = true)]
async fn a_worker_renews_its_liveness_record_and_says_goodbye() {
    let bench = Bench::new();
    let heard = Heard::new();
    let faults = Arc::new(Faults::new());
    let kernel = bench.faulty(&faults).pipeline(pipeline(&heard)).start().unwrap();
    tokio::time::sleep(Duration::from_secs(61)).await;
    // Every third of 15 s, the first one at once; it knows commands, folds and subscribers.
    assert_eq!(faults.count(Op::Beat, "runs/command/note"), 13);
    assert_eq!(faults.count(Op::Beat, "runs/fold/totals/subscriber/all"), 13);
    assert_eq!(faults.count(Op::Goodbye, ""), 0);
    faults.once(Op::Beat, "", What::Fail(Kind::Unavailable));
    tokio::time::sleep(Duration::from_secs(10)).await;
    assert_eq!(
        faults.count(Op::Beat, ""),
        15,
        "a beat that fails is followed by the next one"
    );
    kernel.close().await;
    assert_eq!(faults.count(Op::Goodbye, ""), 1);
    let beats = faults.count(Op::Beat, "");
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert_eq!(faults.count(Op::Beat, ""), beats);
}

/// Blocks its thread until the worker has renewed its record a few times meanwhile.
struct Blocks(Arc<Faults>);

impl Subscriber for Blocks {
    type On = RunEvent;
    type State = Total;
    const NAME: &'static str = "blocks";

    async fn run(&self, _event: &Recorded<RunEvent>, _state: &Total) -> Result<(), EffectError> {
        let until = self.0.count(Op::Beat, "") + 3;
        while self.0.count(Op::Beat, "") < until {
            std::thread::yield_now();
        }
        Ok(())
    }
}

/// A handler that blocks every thread of the runtime does not make its worker look dead.
#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_blocked_runtime_does_not_look_dead() {
    let bench = Bench::new();
    let faults = Arc::new(Faults::new());
    let pipeline = Pipeline::<Run>::define("runs")
        .declares::<Note>()
        .fold::<Totals>(|f| f.subscriber(Blocks(faults.clone()), Dispatch::each()))
        .build()
        .unwrap();
    let settings = WorkerSettings {
        liveness: Some(Duration::from_millis(100)),
        ..WorkerSettings::default()
    };
    let kernel = bench
        .faulty(&faults)
        .pipeline(pipeline)
        .worker(settings)
        .start()
        .unwrap();
    kernel.send(note("r", 0, 1)).await.unwrap();
    idle(&kernel).await;
    kernel.close().await;
    assert_eq!(faults.count(Op::Goodbye, ""), 1);
}

/// G-06: one line for each failed attempt, one when the job is done at last, and never the body.
#[tokio::test(start_paused = true)]
async fn a_failed_attempt_is_one_line_and_its_recovery_another() {
    let bench = Bench::new();
    let heard = Heard::new();
    heard.react([Reaction::Retry, Reaction::Panic]);
    // With a single subscriber alive, places that other tests' threads reach first would be taken for silent ones.
    let _second = tracing::Dispatch::new(tracing_subscriber::fmt().with_writer(std::io::sink).finish());
    let log = Log::default();
    let to = log.clone();
    let subscriber = tracing_subscriber::fmt()
        .with_ansi(false)
        .with_max_level(tracing::Level::INFO)
        .with_writer(move || to.clone())
        .finish();
    let _guard = tracing::subscriber::set_default(subscriber);
    let kernel = bench.kernel().pipeline(pipeline(&heard)).start().unwrap();
    kernel.send(bulky(0, 7, 2_000)).await.unwrap();
    idle(&kernel).await;
    let text = log.text();
    let lines: Vec<_> = text
        .lines()
        .filter(|line| line.contains("subscriber/all"))
        .collect();
    assert_eq!(lines.len(), 3, "{text}");
    let job = |line: &str| {
        line.split("job=")
            .nth(1)
            .unwrap()
            .split(' ')
            .next()
            .unwrap()
            .to_owned()
    };
    for (line, (level, attempt)) in lines.iter().zip([("WARN", 1), ("WARN", 2), ("INFO", 3)]) {
        assert!(line.contains(level), "{line}");
        assert!(line.contains("route=runs/fold/totals/subscriber/all"), "{line}");
        assert!(line.contains(&format!("attempt={attempt}")), "{line}");
        assert_eq!(job(line), job(lines[0]));
        assert_eq!(line.contains("error_type=\"retryable\""), attempt < 3, "{line}");
    }
    assert!(!text.contains(&noise(2_000, 7)[..40]), "the body is in the log");
}

/// A log in memory.
#[derive(Clone, Default)]
struct Log(Arc<std::sync::Mutex<Vec<u8>>>);

impl Log {
    fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }
}

impl std::io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
