//! The operator's access.
use crate::support::{
    Admin, All, Bench, Ear, Heard, Note, Odds, Parity, Run, Story, Total, Totals, at, idle, note, tenant,
};
use foldwright_domain::{Dispatch, TenantId};
use foldwright_ports::{
    Capabilities, Capability, GroupFilter, GroupId, GroupLine, GroupState, Kind, Limits, Route, Scope,
    Selection, WorkerId,
};
use foldwright_runtime::{Operator, Pipeline, Restaged, Role};
use std::{sync::Arc, time::Duration};

fn pipeline(heard: &Arc<Heard<Total>>) -> Pipeline<Run> {
    Pipeline::define("runs")
        .declares::<Note>()
        .fold::<Totals>(|f| f.subscriber(Ear::<_, _, All>::new(heard), Dispatch::each()))
        .map::<Odds>(|m| m)
        .build()
        .unwrap()
}

async fn restage_all(operator: &Operator, since: i64, events: usize) -> Restaged {
    let selection = Selection::all(tenant("a"));
    let (mut all, mut from) = (Restaged::default(), None);
    loop {
        let page = operator
            .restage(&selection, at(since), from, events)
            .await
            .unwrap();
        all.read += page.read;
        all.events += page.events;
        all.jobs += page.jobs;
        all.added += page.added;
        match page.next {
            Some(next) => from = Some(next),
            None => return all,
        }
    }
}

/// A group of tenant `owner` that holds nothing.
fn group(owner: &str) -> GroupId {
    GroupId {
        tenant: tenant(owner),
        path: "fold/totals".into(),
        key: "run:r".into(),
    }
}

/// A queue that lost everything gets its projections' work back from the log, whichever page is done twice.
#[tokio::test(start_paused = true)]
async fn jobs_that_the_queue_lost_come_back_from_the_log() {
    let mut bench = Bench::new();
    let heard = Heard::new();
    let web = bench
        .with_role(Role::Web)
        .pipeline(pipeline(&heard))
        .start()
        .unwrap();
    let commands = Pipeline::<Run>::define("runs")
        .declares::<Note>()
        .build()
        .unwrap();
    let only_commands = bench.with_role(Role::Worker).pipeline(commands).start().unwrap();
    for n in 1..=10 {
        web.send(note(&format!("r{}", n % 3), n, n as u64)).await.unwrap();
    }
    idle(&only_commands).await;
    only_commands.close().await;
    // Another queue, and the log as it was.
    let fresh = Bench::new().ports;
    bench.ports.queue = fresh.queue;
    bench.ports.queue_admin = fresh.queue_admin;
    let kernel = bench.kernel().pipeline(pipeline(&heard)).start().unwrap();
    let operator = kernel.operator();
    let first = operator
        .restage(&Selection::all(tenant("a")), at(0), None, 4)
        .await
        .unwrap();
    assert_eq!((first.read, first.events, first.jobs, first.added), (4, 4, 8, 8));
    let all = restage_all(&operator, 0, 4).await;
    assert_eq!((all.read, all.events, all.jobs), (10, 10, 20));
    idle(&kernel).await;
    assert_eq!(sums(&bench).await, 55);
    let before = heard.calls();
    assert_eq!(before, 10);
    // Everything is applied: a further time leads to nothing but the maps' subscribers, of which there are none.
    let again = restage_all(&operator, 0, 100).await;
    assert_eq!(again.added, 20);
    idle(&kernel).await;
    assert_eq!((sums(&bench).await, heard.calls()), (55, before));
    assert_eq!(
        restage_all(&operator, 1_000_000, 100).await.events,
        0,
        "accepted before that"
    );
}

async fn sums(bench: &Bench) -> u64 {
    let mut sum = 0;
    for run in ["r0", "r1", "r2"] {
        sum += bench.state::<Totals>(run).await.map_or(0, |total| total.sum);
    }
    sum
}

/// A projection that is new in a deploy gets what came before it.
#[tokio::test(start_paused = true)]
async fn a_new_projection_is_filled_from_the_log() {
    let bench = Bench::new();
    let heard = Heard::new();
    let old = bench.kernel().pipeline(pipeline(&heard)).start().unwrap();
    old.send_all((1..=6).map(|n| note("r", n, n as u64)))
        .await
        .unwrap();
    idle(&old).await;
    old.close().await;
    let new = Pipeline::<Run>::define("runs")
        .declares::<Note>()
        .fold::<Story>(|f| f)
        .keyed::<Parity>(|f| f)
        .build()
        .unwrap();
    let new = bench.kernel().pipeline(new).start().unwrap();
    restage_all(&new.operator(), 0, 2).await;
    idle(&new).await;
    assert_eq!(bench.state::<Story>("r").await, Some(vec![1, 2, 3, 4, 5, 6]));
    assert_eq!(bench.keyed::<Parity>(&1).await, Some(Total { events: 3, sum: 9 }));
}

fn is_security<T: std::fmt::Debug>(answer: Result<T, foldwright_ports::Error>) -> bool {
    answer.is_err_and(|error| error.kind() == Kind::Security)
}

/// G11
#[tokio::test(start_paused = true)]
async fn a_handle_of_one_tenant_reaches_nothing_of_another() {
    let bench = Bench::new();
    let kernel = bench.kernel().pipeline(pipeline(&Heard::new())).start().unwrap();
    let whole = kernel.operator();
    let mine = whole.of(&tenant("a"));
    assert_eq!(mine.of(&tenant("b")).tenant_id(), Some(&tenant("a")));
    let (own, other): (GroupId, GroupId) = (group("a"), group("b"));
    assert!(!mine.unblock(&own).await.unwrap());
    assert!(is_security(mine.unblock(&other).await));
    assert!(is_security(mine.drain(&other, 1).await));
    assert!(is_security(mine.group(&other).await));
    assert!(is_security(mine.why(&other).await));
    assert!(is_security(mine.jobs(&other, None, Limits::items(1)).await));
    assert!(is_security(mine.bury(&other, "no", 1).await));
    assert!(is_security(
        mine.blocked(Some(&tenant("b")), None, Limits::items(1)).await
    ));
    assert!(
        mine.blocked(None, None, Limits::items(1))
            .await
            .unwrap()
            .items
            .is_empty()
    );
    assert!(is_security(mine.depth().await));
    assert!(is_security(mine.recount().await));
    for scope in [Scope::All, Scope::Tenant(tenant("b")), Scope::Group(other)] {
        assert!(is_security(mine.pause(&scope, "mine").await), "{scope}");
    }
    let foreign = GroupFilter {
        tenant: Some(tenant("b")),
        ..GroupFilter::default()
    };
    assert!(is_security(mine.groups(&foreign, None, Limits::items(1)).await));
    let selection = |owner: TenantId| Selection::all(owner);
    assert!(is_security(
        mine.restage(&selection(tenant("b")), at(0), None, 1).await
    ));
    assert!(is_security(mine.erase(&selection(tenant("b")), 1).await));
    assert_eq!(mine.erase(&selection(tenant("a")), 1).await.unwrap(), 0);
    assert!(whole.depth().await.unwrap().is_empty());
}

/// G11: what a store answers is looked at too.
#[tokio::test(start_paused = true)]
async fn a_row_of_another_tenant_is_refused() {
    let mut bench = Bench::new();
    let foreign = line("b", "runs/fold/totals", GroupState::Due, 1);
    bench.ports.queue_admin = Admin::listing(&bench.ports.queue_admin, vec![foreign]);
    let kernel = bench.kernel().pipeline(pipeline(&Heard::new())).start().unwrap();
    let mine = kernel.operator().of(&tenant("a"));
    assert!(is_security(
        mine.groups(&GroupFilter::default(), None, Limits::items(1)).await
    ));
    let whole = kernel
        .operator()
        .groups(&GroupFilter::default(), None, Limits::items(1))
        .await;
    assert_eq!(whole.unwrap().items.len(), 1);
}

fn line(owner: &str, route: &str, state: GroupState, jobs: u64) -> GroupLine {
    GroupLine {
        group: group(owner),
        state,
        route: Route::parse(route).unwrap(),
        jobs,
        bytes: 0,
        failures: 0,
        error: None,
        at: None,
    }
}

/// C-14: what nobody alive knows is shown as stranded, and a caller does not wait for it.
#[tokio::test(start_paused = true)]
async fn stranded_and_paused_work_is_shown_and_not_waited_for() {
    let bench = Bench::new();
    let web = bench
        .with_role(Role::Web)
        .pipeline(pipeline(&Heard::new()))
        .start()
        .unwrap();
    let commands = Pipeline::<Run>::define("runs")
        .declares::<Note>()
        .build()
        .unwrap();
    let worker = bench.with_role(Role::Worker).pipeline(commands).start().unwrap();
    web.send_all((1..=4).map(|n| note("r", n, n as u64)))
        .await
        .unwrap();
    idle(&web).await;
    restage_all(&web.operator(), 0, 10).await;
    let left = tokio::time::timeout(Duration::from_secs(60), web.caught_up(|_| {})).await;
    let left = left.expect("it returns").unwrap();
    assert_eq!((left.open(), left.moving(), left.stranded()), (8, 0, 8));
    assert_eq!((left.folds.waiting, left.folds.stranded), (4, 4));
    // One comes that knows them, takes nothing yet, and somebody pauses the maps.
    let capability = |route: &str| (Route::parse(route).unwrap(), Capability { version: 1 });
    let capabilities = Capabilities {
        routes: ["runs/fold/totals", "runs/map/odds"].map(capability).into(),
        format: 1,
    };
    let hour = Duration::from_secs(60 * 60);
    bench
        .ports
        .queue
        .beat(WorkerId(1), &capabilities, hour)
        .await
        .unwrap();
    web.operator()
        .pause(&Scope::Kind("map".into()), "ada: full disk")
        .await
        .unwrap();
    let backlog = web.backlog().await.unwrap();
    assert_eq!((backlog.folds.stranded, backlog.maps.paused), (0, 4));
    assert_eq!(backlog.moving(), 4);
    let waits = tokio::time::timeout(Duration::from_secs(60), web.caught_up(|_| {})).await;
    assert!(waits.is_err(), "the folds can run, so it waits for them");
    worker.close().await;
    let rest = Pipeline::<Run>::define("runs")
        .fold::<Totals>(|f| f)
        .build()
        .unwrap();
    let rest = bench.with_role(Role::Worker).pipeline(rest).start().unwrap();
    let left = tokio::time::timeout(Duration::from_secs(60), web.caught_up(|_| {})).await;
    let left = left.expect("only what is paused is left").unwrap();
    assert_eq!((left.open(), left.moving(), left.maps.paused), (4, 0, 4));
    rest.close().await;
}
