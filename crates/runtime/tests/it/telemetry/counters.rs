//! What is refused, merged, found wrong or swallowed is counted, and nothing else is.
use super::{pipeline, shown::Shown};
use crate::support::{
    All, Bench, Ear, Faults, Heard, Hook, Hooked, Note, Op, Run, Total, Totals, What, at, bulky, idle,
    keyed_note, note, tenant,
};
use foldwright_domain::{Dispatch, Intent};
use foldwright_ports::{Kind, QueueSettings, TenantLimits};
use foldwright_runtime::{Pipeline, Role};
use metrics::set_default_local_recorder;
use metrics_util::debugging::DebuggingRecorder;
use std::{sync::Arc, time::Duration};

/// G-02: work that goes well moves none of these counters.
#[tokio::test(start_paused = true)]
async fn work_that_goes_well_counts_no_trouble() {
    let recorder = DebuggingRecorder::new();
    let _recording = set_default_local_recorder(&recorder);
    let (bench, heard) = (Bench::new(), Heard::new());
    let kernel = bench
        .kernel()
        .pipeline(pipeline(&heard, Dispatch::each()))
        .start()
        .unwrap();
    kernel
        .send_all((0..50).map(|n| note(&format!("r{}", n % 7), n as i64, n)))
        .await
        .unwrap();
    idle(&kernel).await;
    kernel.close().await;
    assert_eq!(Shown::take(&recorder).troubles(), [].into());
}

/// G-02: each call that is refused for want of room, not what follows from a command that was accepted.
#[tokio::test(start_paused = true)]
async fn a_call_that_finds_no_room_is_counted() {
    let recorder = DebuggingRecorder::new();
    let _recording = set_default_local_recorder(&recorder);
    let (bench, heard) = (Bench::new(), Heard::new());
    let start = |role| {
        let kernel = bench.with_role(role);
        kernel
            .pipeline(pipeline(&heard, Dispatch::each()))
            .start()
            .unwrap()
    };
    let web = start(Role::Web);
    let two = TenantLimits {
        jobs: Some(2),
        ..TenantLimits::default()
    };
    web.operator().limit(&tenant("a"), Some(two)).await.unwrap();
    for n in [1, 2] {
        web.send(note("r", n, 1)).await.unwrap();
    }
    assert_eq!(Shown::take(&recorder).troubles(), [].into());
    web.send(note("r", 3, 1)).await.unwrap_err();
    web.send_all([note("r", 3, 1), note("r", 4, 1)])
        .await
        .unwrap_err();
    let full = [("foldwright_sends_refused_full_total", 2)];
    assert_eq!(Shown::take(&recorder).troubles(), full.into());
    let worker = start(Role::Worker);
    idle(&worker).await;
    assert_eq!(heard.runs().len(), 2);
    assert_eq!(Shown::take(&recorder).troubles(), [].into());
}

/// G-02: by the window in which this queue orders, both of its ends belong to it.
#[tokio::test(start_paused = true)]
async fn a_business_time_outside_of_the_queues_window_is_counted() {
    let recorder = DebuggingRecorder::new();
    let _recording = set_default_local_recorder(&recorder);
    let narrow = QueueSettings {
        score_past: Duration::from_secs(3_600),
        score_future: Duration::from_secs(60),
        ..QueueSettings::default()
    };
    for settings in [QueueSettings::default(), narrow] {
        let bench = Bench::with(&settings, 7);
        let web = bench
            .with_role(Role::Web)
            .pipeline(pipeline(&Heard::new(), Dispatch::each()))
            .start()
            .unwrap();
        let past = i64::try_from(settings.score_past.as_millis()).unwrap();
        let future = i64::try_from(settings.score_future.as_millis()).unwrap();
        for (ms, wild) in [(0, 0), (-past, 0), (future, 0), (-past - 1, 1), (future + 1, 1)] {
            let now = bench.ports.clock.now().0 - at(0).0;
            web.send(note("r", now + ms, 1)).await.unwrap();
            let counted = Shown::take(&recorder).count("foldwright_wild_scores_total", &[]);
            assert_eq!(counted, wild, "{ms}");
        }
    }
}

/// G-02: runs that are merged with the outcome of their fold, each once although the reply of one is lost.
#[tokio::test(start_paused = true)]
async fn a_run_that_is_merged_into_one_that_waits_is_counted() {
    let recorder = DebuggingRecorder::new();
    let _recording = set_default_local_recorder(&recorder);
    let (bench, heard, faults) = (Bench::new(), Heard::new(), Arc::new(Faults::new()));
    let kernel = bench
        .faulty(&faults)
        .pipeline(pipeline(&heard, Dispatch::debounce(Duration::from_secs(5))))
        .start()
        .unwrap();
    for n in 1..=5 {
        if n == 3 {
            faults.always(Op::Settle, "", What::LoseReply(Kind::Timeout));
        }
        kernel.send(note("r", n, 1)).await.unwrap();
        tokio::time::sleep(Duration::from_millis(50)).await;
        faults.clear();
        tokio::time::sleep(Duration::from_millis(450)).await;
    }
    idle(&kernel).await;
    let runs = heard.runs();
    assert_eq!((runs.len(), runs[0].state.events), (1, 5));
    let merged = [("foldwright_jobs_squashed_total", 4)];
    assert_eq!(Shown::take(&recorder).troubles(), merged.into());
}

/// G-02: the same key with other content, not the same command once more.
#[tokio::test(start_paused = true)]
async fn one_identity_with_two_contents_is_counted() {
    let recorder = DebuggingRecorder::new();
    let _recording = set_default_local_recorder(&recorder);
    let (bench, heard) = (Bench::new(), Heard::new());
    let kernel = bench
        .kernel()
        .pipeline(pipeline(&heard, Dispatch::each()))
        .start()
        .unwrap();
    for n in [7, 7, 8, 9] {
        kernel.send(keyed_note("r", 5, n, "k")).await.unwrap();
        idle(&kernel).await;
    }
    let conflicts = [("foldwright_events_conflicting_total", 2)];
    assert_eq!(Shown::take(&recorder).troubles(), conflicts.into());
}

/// G-02: a hook that panics, not one that returns.
#[tokio::test(start_paused = true)]
async fn a_hook_that_panics_is_counted() {
    let recorder = DebuggingRecorder::new();
    let _recording = set_default_local_recorder(&recorder);
    let bench = Bench::new();
    let hooked = Pipeline::<Run>::define("runs")
        .command::<Hooked>()
        .build()
        .unwrap();
    let kernel = bench.kernel().pipeline(hooked).start().unwrap();
    for (run, then) in [
        ("counted-event", Hook::Event),
        ("counted-panic", Hook::EventAndPanic),
    ] {
        let run = run.to_owned();
        let intent = Intent::new(tenant("a"), at(0), Hooked { run, then });
        kernel.send(intent).await.unwrap();
    }
    idle(&kernel).await;
    let swallowed = [("foldwright_hooks_swallowed_total", 1)];
    assert_eq!(Shown::take(&recorder).troubles(), swallowed.into());
}

/// G-02: of two runs with bodies of their own, the one whose body is gone.
#[tokio::test(start_paused = true)]
async fn a_body_that_is_gone_is_counted() {
    let recorder = DebuggingRecorder::new();
    let _recording = set_default_local_recorder(&recorder);
    let bench = Bench::new();
    let heard: Arc<Heard<Total>> = Heard::new();
    let later = Dispatch::delayed(Duration::from_secs(60));
    let delayed = Pipeline::<Run>::define("runs")
        .declares::<Note>()
        .fold::<Totals>(|f| f.subscriber(Ear::<_, _, All>::new(&heard), later))
        .build()
        .unwrap();
    let kernel = bench.kernel().pipeline(delayed).start().unwrap();
    for (n, purged) in [(7, false), (8, true)] {
        kernel.send(bulky(0, n, 20_000)).await.unwrap();
        kernel.caught_up(|_| {}).await.unwrap();
        if purged {
            bench.purge_bodies().await;
        }
        idle(&kernel).await;
    }
    assert_eq!(heard.numbers(), [7, 8]);
    let missing = [("foldwright_bodies_missing_total", 1)];
    assert_eq!(Shown::take(&recorder).troubles(), missing.into());
}
