//! The thinnest path: from a command to every kind of projection.
use crate::support::{
    Bench, Ends, Finish, Note, Odds, Parity, Run, Story, Total, Totals, finish, note, tenant,
};
use foldwright_ports::Limits;
use foldwright_runtime::Pipeline;

fn pipeline() -> Pipeline<Run> {
    Pipeline::define("runs")
        .declares::<Note>()
        .command::<Finish>()
        .fold::<Totals>(|f| f)
        .fold::<Story>(|f| f)
        .fold::<Ends>(|f| f)
        .keyed::<Parity>(|f| f)
        .map::<Odds>(|m| m)
        .build()
        .unwrap()
}

/// C-01, M-01, X-22
#[tokio::test(start_paused = true)]
async fn a_command_reaches_every_projection_that_reads_its_event() {
    let bench = Bench::new();
    let kernel = bench.kernel().pipeline(pipeline()).start().unwrap();
    for n in 1..=5 {
        kernel.send(note("r", n, n as u64)).await.unwrap();
    }
    finish(&kernel, "r", 2).await;
    let left = kernel.caught_up(|_| {}).await.unwrap();
    assert_eq!(left.stuck(), 0);
    assert_eq!(
        bench.state::<Totals>("r").await,
        Some(Total { events: 7, sum: 15 })
    );
    assert_eq!(bench.state::<Story>("r").await, Some(vec![0, 0, 1, 2, 3, 4, 5]));
    assert_eq!(bench.state::<Ends>("r").await, Some(2));
    assert_eq!(bench.keyed::<Parity>(&1).await, Some(Total { events: 3, sum: 9 }));
    assert_eq!(bench.keyed::<Parity>(&0).await, Some(Total { events: 4, sum: 6 }));
    let odds = bench
        .reader()
        .records::<Odds>(&tenant("a"), Some("r"), None, Limits::items(10))
        .await
        .unwrap();
    assert_eq!(odds.items.iter().map(|r| r.record).collect::<Vec<_>>(), [1, 3, 5]);
    kernel.close().await;
}
