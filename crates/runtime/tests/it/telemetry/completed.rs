//! What did not run is not completed, and says what became of it.
use super::{
    pipeline,
    shown::{Shown, labels},
};
use crate::support::{All, Bench, Ear, Heard, Note, Reaction, Run, Totals, finish, idle, note, until};
use foldwright_domain::Dispatch;
use foldwright_ports::Route;
use foldwright_runtime::{Pipeline, Role};
use metrics::set_default_local_recorder;
use metrics_util::debugging::DebuggingRecorder;
use std::time::Duration;

/// Each worker looks at the gauges at least this often.
const LOOK: Duration = Duration::from_secs(30);

/// The jobs of a route that are in a state.
fn jobs(shown: &Shown, route: &Route, state: &str) -> Option<f64> {
    let labels = [&labels(route)[..], &[("state", state)]].concat();
    shown.gauge("foldwright_queue_jobs", &labels)
}

fn completed(shown: &Shown, route: &Route) -> u64 {
    shown.count("foldwright_jobs_completed_total", &labels(route))
}

/// G-03: first quarantined, then a dead letter by an operator's hand, then put back and done.
#[tokio::test(start_paused = true)]
async fn a_job_that_is_quarantined_or_dead_is_not_completed() {
    let recorder = DebuggingRecorder::new();
    let _recording = set_default_local_recorder(&recorder);
    let (bench, heard) = (Bench::new(), Heard::new());
    heard.react([Reaction::Fatal]);
    let kernel = bench
        .kernel()
        .pipeline(pipeline(&heard, Dispatch::each()))
        .start()
        .unwrap();
    kernel.send(note("r", 0, 1)).await.unwrap();
    until(async || !bench.blocked().await.is_empty()).await;
    tokio::time::sleep(LOOK).await;
    let blocked = bench.blocked().await.remove(0);
    let route = &blocked.route;
    let named = [("pipeline", "runs"), ("kind", "subscriber"), ("name", "all")];
    assert_eq!(labels(route), named);
    let shown = Shown::take(&recorder);
    let reasons = shown.by("foldwright_leases_not_completed_total", &labels(route), "reason");
    assert_eq!(reasons, [("quarantined", 1)].into());
    assert_eq!(shown.count("foldwright_attempts_failed_total", &labels(route)), 1);
    let of = |shown: &Shown| {
        let [blocked, dead] = ["blocked", "dead"].map(|state| jobs(shown, route, state));
        (completed(shown, route), blocked, dead)
    };
    assert_eq!(of(&shown), (0, Some(1.0), Some(0.0)));

    let operator = kernel.operator();
    assert_eq!(operator.bury(&blocked.group, "no use", 10).await.unwrap(), 1);
    tokio::time::sleep(LOOK).await;
    assert_eq!(of(&Shown::take(&recorder)), (0, Some(0.0), Some(1.0)));

    let dead = operator
        .dead_letters(None, None, foldwright_ports::Limits::items(10))
        .await
        .unwrap();
    let dead = &dead.items[0];
    assert!(operator.requeue(&dead.group.tenant, dead.job).await.unwrap());
    idle(&kernel).await;
    tokio::time::sleep(LOOK).await;
    assert_eq!(of(&Shown::take(&recorder)), (1, Some(0.0), Some(0.0)));
    assert_eq!(heard.numbers(), [1]);
}

/// G-02, G-03: no worker knows the route, until one comes.
#[tokio::test(start_paused = true)]
async fn a_job_that_is_stranded_is_not_completed() {
    let recorder = DebuggingRecorder::new();
    let _recording = set_default_local_recorder(&recorder);
    let (bench, heard) = (Bench::new(), Heard::new());
    let whole = |role| {
        let kernel = bench.with_role(role);
        kernel
            .pipeline(pipeline(&heard, Dispatch::each()))
            .start()
            .unwrap()
    };
    let web = whole(Role::Web);
    let part = Pipeline::<Run>::define("runs")
        .declares::<Note>()
        .fold::<Totals>(|f| f.subscriber(Ear::<_, _, All>::new(&heard), Dispatch::each()))
        .build()
        .unwrap();
    let old = bench.with_role(Role::Worker).pipeline(part).start().unwrap();
    web.send(note("r", 0, 1)).await.unwrap();
    finish(&web, "r", 1).await;
    tokio::time::sleep(LOOK).await;
    let [known, stranded] = ["runs/command/note", "runs/command/finish"].map(|r| Route::parse(r).unwrap());
    let of = |shown: &Shown, route: &Route| {
        let stranded = shown.gauge("foldwright_queue_stranded_jobs", &labels(route));
        (completed(shown, route), jobs(shown, route, "waiting"), stranded)
    };
    let shown = Shown::take(&recorder);
    assert_eq!(of(&shown, &known).0, 1);
    assert_eq!(of(&shown, &stranded), (0, Some(1.0), Some(1.0)));
    old.close().await;
    let new = whole(Role::Worker);
    idle(&new).await;
    tokio::time::sleep(LOOK).await;
    assert_eq!(of(&Shown::take(&recorder), &stranded), (1, Some(0.0), Some(0.0)));
}
