//! What becomes of leases and of those who held them is counted.
use super::{
    pipeline,
    shown::{Shown, labels},
};
use crate::support::{
    Bench, Faults, Heard, Op, Reaction, Run, Totals, What, finish, idle, note, tenant, until,
};
use foldwright_domain::Dispatch;
use foldwright_ports::{Capabilities, Capability, Kind, Nonce, Route, TenantLimits, Want, WorkerId};
use foldwright_runtime::{Pipeline, Role, Shutdown, ShutdownBudget, WorkerSettings};
use metrics::set_default_local_recorder;
use metrics_util::debugging::DebuggingRecorder;
use std::{sync::Arc, time::Duration};

const ENDED: &str = "foldwright_leases_not_completed_total";

fn seconds(n: u64) -> Duration {
    Duration::from_secs(n)
}

fn effects() -> Route {
    Route::parse("runs/fold/totals/subscriber/all").unwrap()
}

/// G-02: heartbeats fail, and the outcome comes a second after the lease has lapsed.
#[tokio::test(start_paused = true)]
async fn an_outcome_that_comes_after_its_lease_is_a_lost_lease() {
    let recorder = DebuggingRecorder::new();
    let _recording = set_default_local_recorder(&recorder);
    let (bench, heard, faults) = (Bench::new(), Heard::new(), Arc::new(Faults::new()));
    faults.always(Op::Extend, "", What::Fail(Kind::Unavailable));
    faults.once(Op::Settle, "", What::Slow(seconds(31)));
    let kernel = bench
        .faulty(&faults)
        .pipeline(pipeline(&heard, Dispatch::each()))
        .start()
        .unwrap();
    kernel.send(note("r", 0, 1)).await.unwrap();
    idle(&kernel).await;
    // It lapsed at 30 s and was done again at once; what was late comes a second later.
    tokio::time::sleep(seconds(2)).await;
    assert_eq!(heard.numbers(), [1]);
    let shown = Shown::take(&recorder);
    let lost = [
        ("foldwright_leases_lapsed_total", 1),
        ("foldwright_leases_lost_total", 1),
    ];
    assert_eq!(shown.troubles(), lost.into());
    let note = Route::parse("runs/command/note").unwrap();
    assert_eq!(shown.by(ENDED, &labels(&note), "reason"), [("lost", 1)].into());
}

/// G-02: an outcome whose reply never came is given back when the worker stops, and has been settled long since.
#[tokio::test(start_paused = true)]
async fn an_outcome_that_was_settled_before_is_a_late_one() {
    let recorder = DebuggingRecorder::new();
    let _recording = set_default_local_recorder(&recorder);
    let (bench, heard, faults) = (Bench::new(), Heard::new(), Arc::new(Faults::new()));
    faults.once(Op::Settle, "", What::HangAfter);
    let kernel = bench
        .faulty(&faults)
        .pipeline(pipeline(&heard, Dispatch::each()))
        .start()
        .unwrap();
    kernel.send(note("r", 0, 1)).await.unwrap();
    faults.hung(1).await;
    let stop = Shutdown::new(ShutdownBudget::development());
    let stopped = kernel.shutdown(stop).await.unwrap();
    assert_eq!(stopped.given_back, 0);
    let late = [("foldwright_late_acks_total", 1)];
    assert_eq!(Shown::take(&recorder).troubles(), late.into());
}

/// G-02: what a stop cuts off goes back, and says of which route it was.
#[tokio::test(start_paused = true)]
async fn a_lease_that_is_given_back_is_counted() {
    let recorder = DebuggingRecorder::new();
    let _recording = set_default_local_recorder(&recorder);
    let (bench, heard) = (Bench::new(), Heard::new());
    heard.react([Reaction::Slow(seconds(100))]);
    let kernel = bench
        .kernel()
        .pipeline(pipeline(&heard, Dispatch::each()))
        .start()
        .unwrap();
    kernel.send(note("r", 0, 1)).await.unwrap();
    until(async || heard.calls() == 1).await;
    let stop = Shutdown::new(ShutdownBudget::development());
    assert_eq!(kernel.shutdown(stop).await.unwrap().given_back, 1);
    let shown = Shown::take(&recorder);
    let back = [("foldwright_leases_given_back_total", 1)];
    assert_eq!(shown.troubles(), back.into());
    let reasons = shown.by(ENDED, &labels(&effects()), "reason");
    assert_eq!(reasons, [("given_back", 1)].into());
}

/// G-02: a run of 25 s is slow from 10 s on; its tenant's next one asks at 10 s and at 20 s, and runs at 30 s.
#[tokio::test(start_paused = true)]
async fn a_run_that_is_put_off_is_counted_each_time() {
    let recorder = DebuggingRecorder::new();
    let _recording = set_default_local_recorder(&recorder);
    let (bench, heard) = (Bench::new(), Heard::new());
    heard.react([Reaction::Slow(seconds(25))]);
    let one_lane = WorkerSettings {
        effect_lanes: 1,
        effect_slow: seconds(10),
        ..WorkerSettings::default()
    };
    let kernel = bench
        .kernel()
        .pipeline(pipeline(&heard, Dispatch::each()))
        .worker(one_lane)
        .start()
        .unwrap();
    kernel.send(note("r", 0, 1)).await.unwrap();
    until(async || heard.calls() == 1).await;
    kernel.send(note("s", 0, 2)).await.unwrap();
    idle(&kernel).await;
    assert_eq!(heard.numbers(), [1, 2]);
    assert_eq!(heard.called_at()[1] / 1_000, 30);
    let shown = Shown::take(&recorder);
    let deferred = [("foldwright_effects_deferred_total", 2)];
    assert_eq!(shown.troubles(), deferred.into());
    let reasons = shown.by(ENDED, &labels(&effects()), "reason");
    assert_eq!(reasons, [("deferred", 2)].into());
}

/// G-02, G-03: what a tenant's cap parks is shown, and not completed.
#[tokio::test(start_paused = true)]
async fn a_group_that_is_parked_is_shown() {
    let recorder = DebuggingRecorder::new();
    let _recording = set_default_local_recorder(&recorder);
    let (bench, heard) = (Bench::new(), Heard::new());
    heard.react([Reaction::Slow(seconds(60))]);
    let kernel = bench
        .kernel()
        .pipeline(pipeline(&heard, Dispatch::each()))
        .start()
        .unwrap();
    let one = TenantLimits {
        cap: Some(1),
        ..TenantLimits::default()
    };
    kernel.operator().limit(&tenant("a"), Some(one)).await.unwrap();
    kernel.send(note("r", 0, 1)).await.unwrap();
    until(async || heard.calls() == 1).await;
    kernel.send(note("s", 0, 2)).await.unwrap();
    tokio::time::sleep(seconds(30)).await;
    let parked = Route::parse("runs/command/note").unwrap();
    let waiting = [&labels(&parked)[..], &[("state", "waiting")]].concat();
    let look = || {
        let shown = Shown::take(&recorder);
        let capped = shown.gauge("foldwright_queue_capped_tenants", &[]);
        let waiting = shown.gauge("foldwright_queue_jobs", &waiting);
        let completed = shown.count("foldwright_jobs_completed_total", &labels(&parked));
        (capped, waiting, completed)
    };
    assert_eq!(look(), (Some(1.0), Some(1.0), 1));
    idle(&kernel).await;
    tokio::time::sleep(seconds(30)).await;
    assert_eq!(look(), (Some(0.0), Some(0.0), 1));
}

/// G-02: three workers die of a group.
#[tokio::test(start_paused = true)]
async fn deaths_and_poison_are_counted() {
    let recorder = DebuggingRecorder::new();
    let _recording = set_default_local_recorder(&recorder);
    let bench = Bench::new();
    let web = bench
        .with_role(Role::Web)
        .pipeline(pipeline(&Heard::new(), Dispatch::each()))
        .start()
        .unwrap();
    let other = Pipeline::<Run>::define("others")
        .fold::<Totals>(|f| f)
        .build()
        .unwrap();
    let kernel = bench.with_role(Role::Worker).pipeline(other).start().unwrap();
    finish(&web, "r", 1).await;
    let route = Route::parse("runs/command/finish").unwrap();
    let capabilities = Capabilities {
        routes: [(route, Capability { version: 1 })].into(),
        format: 1,
    };
    let want = Want {
        capabilities: Arc::new(capabilities.clone()),
        max_groups: 1,
        max_jobs_per_group: 1,
        max_bytes: u64::MAX,
        lease: seconds(30),
    };
    for n in 1..=3 {
        let (queue, worker) = (&bench.ports.queue, WorkerId(1_000 + n));
        queue.beat(worker, &capabilities, seconds(15)).await.unwrap();
        let leases = queue.claim(Nonce(n), worker, &want).await.unwrap();
        assert_eq!(leases.len(), 1, "life {n}");
        until(async || kernel.counters().deaths_confirmed.get() == n as u64).await;
    }
    let counted = [
        ("foldwright_deaths_confirmed_total", 3),
        ("foldwright_groups_poisoned_total", 1),
        ("foldwright_leases_lapsed_total", 3),
    ];
    assert_eq!(Shown::take(&recorder).troubles(), counted.into());
    let blocked = bench.blocked().await;
    assert_eq!(
        blocked[0].error,
        "its workers died 3 times while they held it: it is quarantined unread"
    );
}
