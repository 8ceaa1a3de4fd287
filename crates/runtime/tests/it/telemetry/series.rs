//! How many series there are.
use super::shown::Shown;
use crate::support::{Bench, Note, Noted, Run, Totals, at, idle, note, tenant};
use foldwright_domain::{Declared, Intent};
use foldwright_runtime::Pipeline;
use metrics::set_default_local_recorder;
use metrics_util::debugging::DebuggingRecorder;
use std::time::Duration;

/// G-05: however many aggregates and tenants, there are as many series as routes make.
#[tokio::test(start_paused = true)]
async fn series_do_not_grow_with_aggregates_and_tenants() {
    let recorder = DebuggingRecorder::new();
    let _recording = set_default_local_recorder(&recorder);
    let bench = Bench::new();
    let totals = || {
        Pipeline::<Run>::define("runs")
            .declares::<Note>()
            .fold::<Totals>(|f| f)
            .build()
            .unwrap()
    };
    let kernel = bench.kernel().pipeline(totals()).start().unwrap();
    kernel.send(note("r", 0, 1)).await.unwrap();
    idle(&kernel).await;
    tokio::time::sleep(Duration::from_secs(30)).await;
    let before = Shown::take(&recorder).len();
    let of = |n: u64| {
        let noted = Noted {
            run: format!("r{n}"),
            n: 1,
            key: None,
        };
        Intent::new(tenant(&format!("t{}", n % 1_000)), at(0), Declared::<Note>(noted))
    };
    kernel.send_all((0..10_000).map(of)).await.unwrap();
    idle(&kernel).await;
    tokio::time::sleep(Duration::from_secs(30)).await;
    assert_eq!(Shown::take(&recorder).len(), before);
    kernel.close().await;
}
