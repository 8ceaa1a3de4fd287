//! Histories beyond what a row knows exactly.
use crate::support::{
    All, Bench, Ear, Faults, Finish, Heard, Note, Op, Run, Total, Totals, finish, idle, keyed_note, note,
};
use foldwright_domain::Dispatch;
use foldwright_runtime::{Pipeline, Role};
use std::sync::Arc;

/// Up to this many identities a row knows exactly.
const EXACT: usize = 4_096;

fn pipeline(heard: &Arc<Heard<Total>>) -> Pipeline<Run> {
    Pipeline::define("runs")
        .declares::<Note>()
        .command::<Finish>()
        .fold::<Totals>(|f| f.subscriber(Ear::<_, _, All>::new(heard), Dispatch::each()))
        .build()
        .unwrap()
}

/// X-03, X-04, S-02, G3
#[tokio::test(start_paused = true)]
async fn an_old_event_that_comes_again_counts_once_and_runs_no_subscriber_again() {
    let bench = Bench::new();
    let heard = Heard::new();
    let faults = Arc::new(Faults::new());
    let kernel = bench.faulty(&faults).pipeline(pipeline(&heard)).start().unwrap();
    for n in 1..=3 {
        kernel
            .send(keyed_note("r", n, n as u64, &n.to_string()))
            .await
            .unwrap();
    }
    idle(&kernel).await;
    finish(&kernel, "r", 3_000).await;
    finish(&kernel, "r", 3_000).await;
    kernel.send(keyed_note("r", 100, 50, "young")).await.unwrap();
    idle(&kernel).await;
    assert_eq!(bench.row::<Totals>("r").await.unwrap().events, 6_004);
    assert_eq!(heard.runs().len(), 6_004);
    // One that is known exactly needs no log.
    kernel.send(keyed_note("r", 100, 50, "young")).await.unwrap();
    idle(&kernel).await;
    assert_eq!((kernel.counters().refolds.get(), heard.runs().len()), (0, 6_004));
    // Two old ones beside two new ones, in one batch.
    let web = bench
        .with_role(Role::Web)
        .pipeline(pipeline(&heard))
        .start()
        .unwrap();
    web.send_all([
        keyed_note("r", 1, 1, "1"),
        note("r", 200, 60),
        keyed_note("r", 3, 3, "3"),
        note("r", 2, 70),
    ])
    .await
    .unwrap();
    idle(&kernel).await;
    let row = bench.row::<Totals>("r").await.unwrap();
    assert_eq!(
        (row.state, row.events),
        (
            Total {
                events: 6_006,
                sum: 6 + 50 + 130
            },
            6_006
        )
    );
    assert_eq!(kernel.counters().refolds.get(), 1);
    assert_eq!(faults.count(Op::LoadEvents, "run:r"), 7);
    let mut new: Vec<_> = heard.numbers().split_off(6_004);
    new.sort_unstable();
    assert_eq!(new, [60, 70]);
    // The refolded row answers like the one it replaced.
    kernel.send(note("r", 300, 80)).await.unwrap();
    kernel.send(keyed_note("r", 2, 2, "2")).await.unwrap();
    idle(&kernel).await;
    assert_eq!(bench.row::<Totals>("r").await.unwrap().events, 6_007);
    assert_eq!(heard.runs().len(), 6_007);
    assert!(row.events as usize > EXACT);
}
