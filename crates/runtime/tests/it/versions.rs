//! Two builds of a service on one store.
use crate::support::{
    All, Bench, Ear, Endings, Faults, Finish, Finished, Heard, Note, Op, Run, RunEvent, Total, Totals, What,
    at, finish, idle, note, tenant,
};
use foldwright_domain::{Commutative, Dispatch, Fold, Recorded};
use foldwright_ports::{GroupId, Kind, StateKey};
use foldwright_runtime::Pipeline;
use std::{sync::Arc, time::Duration};

/// Version 2 of the fold: it counts endings as 100.
enum Totals2 {}

impl Fold for Totals2 {
    type On = RunEvent;
    type State = Total;
    type Order = Commutative;
    const NAME: &'static str = Totals::NAME;
    const VERSION: u32 = 2;

    fn init() -> Total {
        Total::default()
    }

    fn apply(total: Total, event: &Recorded<RunEvent>) -> Total {
        let n = match &event.data {
            RunEvent::Noted(noted) => noted.n,
            RunEvent::Finished(_) => 100,
        };
        Total {
            events: total.events + 1,
            sum: total.sum + n,
        }
    }
}

/// Version 3: it reads endings alone, with another state.
enum Totals3 {}

impl Fold for Totals3 {
    type On = Endings;
    type State = u64;
    type Order = Commutative;
    const NAME: &'static str = Totals::NAME;
    const VERSION: u32 = 3;

    fn init() -> u64 {
        0
    }

    fn apply(ends: u64, event: &Recorded<Endings>) -> u64 {
        match &event.data {
            Endings::Finished(Finished { .. }) => ends + 1,
        }
    }
}

fn with<F>(heard: Option<&Arc<Heard<Total>>>) -> Pipeline<Run>
where
    F: Fold<On = RunEvent, State = Total>,
{
    Pipeline::define("runs")
        .declares::<Note>()
        .command::<Finish>()
        .fold::<F>(|f| match heard {
            Some(heard) => f.subscriber(Ear::<_, _, All>::new(heard), Dispatch::each()),
            None => f,
        })
        .build()
        .unwrap()
}

fn third() -> Pipeline<Run> {
    Pipeline::define("runs")
        .declares::<Note>()
        .command::<Finish>()
        .fold::<Totals3>(|f| f)
        .build()
        .unwrap()
}

/// X-11
#[tokio::test(start_paused = true)]
async fn a_row_of_an_older_version_is_rebuilt_and_read_straight_back() {
    let bench = Bench::new();
    let heard = Heard::new();
    let old = bench
        .kernel()
        .pipeline(with::<Totals>(Some(&heard)))
        .start()
        .unwrap();
    finish(&old, "r", 2).await;
    old.send(note("r", 1, 5)).await.unwrap();
    idle(&old).await;
    old.close().await;
    assert_eq!(
        bench.state::<Totals>("r").await,
        Some(Total { events: 3, sum: 5 })
    );
    let new = bench
        .kernel()
        .pipeline(with::<Totals2>(Some(&heard)))
        .start()
        .unwrap();
    new.send(note("r", 2, 6)).await.unwrap();
    idle(&new).await;
    let row = bench.row::<Totals2>("r").await.unwrap();
    assert_eq!((row.state, row.fold_version), (Total { events: 4, sum: 211 }, 2));
    assert_eq!(new.counters().refolds.get(), 1);
    new.send(note("r", 3, 7)).await.unwrap();
    idle(&new).await;
    assert_eq!(
        bench.state::<Totals2>("r").await,
        Some(Total { events: 5, sum: 218 })
    );
    assert_eq!(new.counters().refolds.get(), 1);
    // What version 1 had applied is not decided again.
    assert_eq!(heard.numbers(), [0, 0, 5, 6, 7]);
}

/// X-11
#[tokio::test(start_paused = true)]
async fn a_newer_row_is_left_to_a_worker_that_knows_its_version() {
    let bench = Bench::new();
    let new = bench.kernel().pipeline(with::<Totals2>(None)).start().unwrap();
    finish(&new, "r", 1).await;
    idle(&new).await;
    new.close().await;
    let row = bench.stored::<Totals2>("r").await.unwrap();
    let old = bench.kernel().pipeline(with::<Totals>(None)).start().unwrap();
    old.send_all([note("r", 1, 5), note("other", 1, 9)])
        .await
        .unwrap();
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert_eq!(bench.stored::<Totals2>("r").await.unwrap(), row);
    assert_eq!(
        old.counters().released.get(),
        1,
        "released once, then not handed out to it any more"
    );
    assert_eq!(
        bench.state::<Totals>("other").await,
        Some(Total { events: 1, sum: 9 })
    );
    let group = GroupId {
        tenant: tenant("a"),
        path: "fold/totals".into(),
        key: "run:r".into(),
    };
    let view = bench.ports.queue_admin.group(&group).await.unwrap().unwrap();
    assert_eq!((view.depth, view.failures), (1, 0));
    let new = bench.kernel().pipeline(with::<Totals2>(None)).start().unwrap();
    idle(&new).await;
    assert_eq!(
        bench.state::<Totals2>("r").await,
        Some(Total { events: 2, sum: 105 })
    );
}

/// X-11: a version that reads fewer events has less to remember, which is no loss.
#[tokio::test(start_paused = true)]
async fn a_version_that_reads_fewer_events_is_rebuilt_too() {
    let bench = Bench::new();
    let old = bench.kernel().pipeline(with::<Totals>(None)).start().unwrap();
    finish(&old, "r", 2).await;
    old.send_all([note("r", 1, 5), note("r", 2, 6)]).await.unwrap();
    idle(&old).await;
    old.close().await;
    let new = bench.kernel().pipeline(third()).start().unwrap();
    finish(&new, "r", 1).await;
    idle(&new).await;
    assert!(bench.blocked().await.is_empty());
    let row = bench.row::<Totals3>("r").await.unwrap();
    assert_eq!((row.state, row.events, row.fold_version), (3, 3, 3));
}

/// X-11: but what retention has removed is a loss, whatever the version.
#[tokio::test(start_paused = true)]
async fn a_new_version_forgets_nothing_that_the_log_has_lost() {
    let bench = Bench::new();
    let old = bench.kernel().pipeline(with::<Totals>(None)).start().unwrap();
    finish(&old, "r", 2).await;
    old.send_all([note("r", 1, 5), note("r", 2, 6)]).await.unwrap();
    idle(&old).await;
    old.close().await;
    let mut lost = foldwright_ports::Selection::all(tenant("a"));
    lost.occurred = Some(at(1)..at(2));
    assert_eq!(bench.ports.log.erase(&lost, 10).await.unwrap(), 1);
    let row = bench.stored::<Totals>("r").await.unwrap();
    let new = bench.kernel().pipeline(third()).start().unwrap();
    finish(&new, "r", 1).await;
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert_eq!(bench.stored::<Totals>("r").await.unwrap(), row);
}

/// X-11: the old build dies between store and settle, the new one rebuilds; what was decided is not lost.
#[tokio::test(start_paused = true)]
async fn what_an_older_version_decided_and_never_staged_is_carried_over() {
    let bench = Bench::new();
    let heard = Heard::new();
    let faults = Arc::new(Faults::new());
    faults.once(Op::StoreRows, "totals", What::HangAfter);
    let old = bench
        .faulty(&faults)
        .pipeline(with::<Totals>(Some(&heard)))
        .start()
        .unwrap();
    old.send(note("r", 1, 5)).await.unwrap();
    faults.hung(1).await;
    drop(old);
    assert!(heard.runs().is_empty());
    let new = bench
        .kernel()
        .pipeline(with::<Totals2>(Some(&heard)))
        .start()
        .unwrap();
    idle(&new).await;
    assert_eq!(heard.numbers(), [5]);
    assert_eq!(bench.row::<Totals2>("r").await.unwrap().fold_version, 2);
}

/// X-12: a row of an older version while the log is away.
#[tokio::test(start_paused = true)]
async fn an_older_row_waits_for_the_log() {
    let bench = Bench::new();
    let old = bench.kernel().pipeline(with::<Totals>(None)).start().unwrap();
    old.send(note("r", 1, 5)).await.unwrap();
    idle(&old).await;
    old.close().await;
    let faults = Arc::new(Faults::new());
    faults.times(Op::LoadEvents, "", 0, 5, What::Fail(Kind::Timeout));
    let new = bench
        .faulty(&faults)
        .pipeline(with::<Totals2>(None))
        .start()
        .unwrap();
    new.send(note("r", 2, 6)).await.unwrap();
    idle(&new).await;
    assert_eq!(faults.count(Op::LoadEvents, ""), 6);
    assert_eq!(
        bench.state::<Totals2>("r").await,
        Some(Total { events: 2, sum: 11 })
    );
    let key = StateKey {
        tenant: tenant("a"),
        projection: "totals".into(),
        key: "r".into(),
    };
    assert_eq!(
        bench.ports.folds.load(&[key]).await.unwrap()[0]
            .as_ref()
            .unwrap()
            .events,
        2
    );
}

/// X-11: a list shows each row that this build cannot read in its place, beside those that it can.
#[tokio::test(start_paused = true)]
async fn a_list_shows_what_it_cannot_read_beside_the_others() {
    let bench = Bench::new();
    let old = bench.kernel().pipeline(with::<Totals>(None)).start().unwrap();
    old.send_all([note("r", 1, 1), note("s", 1, 2)]).await.unwrap();
    idle(&old).await;
    old.close().await;
    let new = bench.kernel().pipeline(with::<Totals2>(None)).start().unwrap();
    new.send(note("s", 2, 3)).await.unwrap();
    idle(&new).await;
    let page = new
        .reader()
        .states::<Totals2>(&tenant("a"), None, foldwright_ports::Limits::items(10))
        .await
        .unwrap();
    let [Err(older), Ok(rebuilt)] = page.items.as_slice() else {
        panic!("{:?}", page.items)
    };
    assert_eq!((&*older.key.key, older.version), ("r", 1));
    assert_eq!(rebuilt.state, Total { events: 2, sum: 5 });
}
