//! Commands that decide on the state of their aggregate.
use crate::support::{
    Bench, Double, End, Faults, Finish, Note, Op, Parity, Run, Story, Suite, Take, Total, Totals, Unguarded,
    What, decide_group, double, end, finish, idle, key, keyed_take, note, take, tenant,
};
use foldwright_domain::{Command, EventId, Handler, Intent, RawEvent};
use foldwright_ports::{Kind, Limits, Ports};
use foldwright_runtime::{Answered, Kernel, Pipeline, RefoldBudget, Role, StoredEvents};
use std::{sync::Arc, time::Duration};

pub(crate) fn pipeline() -> Pipeline<Run> {
    Pipeline::define("runs")
        .decider::<Take>()
        .decider::<Double>()
        .decider::<End>()
        .declares::<Note>()
        .command::<Finish>()
        .fold::<Totals>(|f| f)
        .fold::<Story>(|f| f)
        .keyed::<Parity>(|f| f)
        .build()
        .unwrap()
}

async fn events(bench: &Bench, run: &str) -> Vec<RawEvent> {
    let stream = key::<Run>("a", run).erase();
    let page = bench.ports.log.load(&stream, None, Limits::items(100_000)).await;
    page.unwrap().items
}

async fn ids(bench: &Bench, run: &str) -> Vec<EventId> {
    events(bench, run)
        .await
        .iter()
        .map(|event| event.meta.id)
        .collect()
}

/// C-05: on `init` without events, and on everything that happened before, by whatever command.
#[tokio::test(start_paused = true)]
async fn a_decision_sees_every_event_of_its_aggregate() {
    let bench = Bench::new();
    let kernel = bench.kernel().pipeline(pipeline()).start().unwrap();
    let second = Duration::from_secs(1);
    let first = kernel.ask(take("r", 1, 2)).await.unwrap();
    assert!(matches!(
        first.decided(second).await.unwrap(),
        Answered::Events(_)
    ));
    kernel.send(note("r", 2, 2)).await.unwrap();
    idle(&kernel).await;
    let refused = kernel.ask(take("r", 3, 2)).await.unwrap();
    let Answered::Rejected(rejected) = refused.decided(second).await.unwrap() else {
        panic!("it was not refused");
    };
    assert_eq!(rejected.code, "full");
    assert_eq!(
        bench.state::<Totals>("r").await,
        Some(Total { events: 2, sum: 3 })
    );
    // Another aggregate, and another tenant's aggregate of the same name, have their own.
    assert!(
        kernel
            .ask(take("s", 4, 1))
            .await
            .unwrap()
            .decided(second)
            .await
            .is_ok()
    );
    let mut foreign = take("r", 5, 1);
    foreign.tenant = tenant("b");
    let foreign = kernel.ask(foreign).await.unwrap();
    assert!(matches!(
        foreign.decided(second).await.unwrap(),
        Answered::Events(_)
    ));
    idle(&kernel).await;
    assert_eq!(kernel.counters().rejected.get(), 1);
}

/// C-05: of one lease, each command sees the events of those before it, and the log is not read for it.
#[tokio::test(start_paused = true)]
async fn decisions_of_one_lease_see_each_other() {
    let bench = Bench::new();
    let web = bench.with_role(Role::Web).pipeline(pipeline()).start().unwrap();
    web.send_all((0..12).map(|n| double("r", n, 1 << 10)))
        .await
        .unwrap();
    web.send_all((20..28).map(|n| take("r", n, 14))).await.unwrap();
    let view = bench.ports.queue_admin.group(&decide_group("r")).await.unwrap();
    assert_eq!(view.unwrap().depth, 20, "all deciders of a run share its group");
    let faults = Arc::new(Faults::new());
    faults.always(Op::StoreRows, "totals", What::Fail(Kind::Unavailable));
    let kernel = bench.faulty(&faults).pipeline(pipeline()).start().unwrap();
    until_decided(&kernel).await;
    // 1, 1, 2, 4 ... 512: eleven numbers double the sum up to 1024, the twelfth has nothing left to do.
    let sum = |events: &[RawEvent]| -> u64 {
        let n = |event: &RawEvent| {
            serde_json::from_slice::<serde_json::Value>(&event.data).unwrap()["n"].as_u64()
        };
        events.iter().filter_map(n).sum()
    };
    let stored = events(&bench, "r").await;
    assert_eq!(stored.len(), 14);
    assert_eq!(sum(&stored[..11]), 1 << 10);
    assert_eq!(kernel.counters().rejected.get(), 5);
    assert_eq!(
        faults.count(Op::LoadEvents, "run:r"),
        1,
        "once for the second route"
    );
    assert_eq!(kernel.counters().decisions_repeated.get(), 0);
}

async fn until_decided(kernel: &Kernel) {
    crate::support::until(async || {
        let commands = kernel.backlog().await.unwrap().commands;
        commands.waiting + commands.leased == 0
    })
    .await;
}

/// C-05: a fold that lags, however far, does not matter; a late event stands in its canonical place.
#[tokio::test(start_paused = true)]
async fn a_fold_that_lags_is_brought_up_in_memory() {
    let bench = Bench::new();
    let faults = Arc::new(Faults::new());
    faults.always(Op::StoreRows, "", What::Fail(Kind::Unavailable));
    let kernel = bench.faulty(&faults).pipeline(pipeline()).start().unwrap();
    finish(&kernel, "r", 2_500).await;
    kernel.send(note("r", 10, 7)).await.unwrap();
    until_decided(&kernel).await;
    assert_eq!(bench.state::<Totals>("r").await, None);
    let tight = kernel.ask(take("r", 9, 2_501)).await.unwrap();
    let free = kernel.ask(take("r", 10, 2_502)).await.unwrap();
    let second = Duration::from_secs(1);
    assert!(matches!(
        tight.decided(second).await.unwrap(),
        Answered::Rejected(_)
    ));
    assert!(matches!(free.decided(second).await.unwrap(), Answered::Events(_)));
    // The story ends with a number, whatever was stored last.
    finish(&kernel, "r", 1).await;
    let ended = kernel.ask(end("r", 11)).await.unwrap();
    assert!(matches!(
        ended.decided(second).await.unwrap(),
        Answered::Events(_)
    ));
    let again = kernel.ask(end("r", 12)).await.unwrap();
    assert!(matches!(
        again.decided(second).await.unwrap(),
        Answered::Rejected(_)
    ));
    faults.clear();
    idle(&kernel).await;
    assert_eq!(bench.state::<Totals>("r").await.unwrap().events, 2_504);
}

/// C-05, X-08: what is read for a decision is paid from the tenant's budget of refolds.
#[tokio::test(start_paused = true)]
async fn reading_for_a_decision_is_bounded() {
    let bench = Bench::new();
    let faults = Arc::new(Faults::new());
    faults.always(Op::StoreRows, "", What::Fail(Kind::Unavailable));
    let budget = RefoldBudget {
        events_per_second: 1,
        burst: 1,
        defer: Duration::from_secs(3),
    };
    let kernel = bench
        .faulty(&faults)
        .pipeline(pipeline())
        .refold_budget(budget)
        .start()
        .unwrap();
    for run in ["r", "s", "t"] {
        finish(&kernel, run, 10).await;
    }
    until_decided(&kernel).await;
    for run in ["r", "s", "t"] {
        kernel.send(take(run, 1, 11)).await.unwrap();
    }
    until_decided(&kernel).await;
    assert!(kernel.counters().deferred.get() >= 2);
    for run in ["r", "s", "t"] {
        assert_eq!(events(&bench, run).await.len(), 11);
    }
}

/// C-05, X-15: a row of another version, of another state, or without readable notes is not trusted.
#[tokio::test(start_paused = true)]
async fn a_row_that_this_build_did_not_make_is_not_decided_on() {
    for spoil in ["older", "newer", "state", "ledger"] {
        let bench = Bench::new();
        let kernel = bench.kernel().pipeline(pipeline()).start().unwrap();
        kernel
            .send_all((1..=3).map(|n| note("r", n, n as u64)))
            .await
            .unwrap();
        idle(&kernel).await;
        let mut row = bench.stored::<Totals>("r").await.unwrap();
        row.revision.write += 1;
        row.state = r#"{"events":0,"sum":0}"#.into();
        match spoil {
            "older" => row.fold_version = 0,
            "newer" => row.fold_version = 9,
            "state" => row.state = "[]".into(),
            _ => row.ledger = "none".into(),
        }
        bench.ports.folds.store(vec![row]).await.remove(0).unwrap();
        let refused = kernel.ask(take("r", 4, 3)).await.unwrap();
        let answered = refused.decided(Duration::from_secs(1)).await.unwrap();
        assert!(matches!(answered, Answered::Rejected(_)), "{spoil}");
        kernel.send(double("r", 5, 100)).await.unwrap();
        until_decided(&kernel).await;
        let last = events(&bench, "r").await.pop().unwrap();
        assert!(last.data.starts_with(br#"{"run":"r","n":6,"#), "{spoil}");
    }
}

/// C-05: what retention has removed from the log is still in the state, and is decided on.
#[tokio::test(start_paused = true)]
async fn a_decision_does_not_forget_what_retention_removed() {
    let bench = Bench::new();
    let faults = Arc::new(Faults::new());
    let kernel = bench.faulty(&faults).pipeline(pipeline()).start().unwrap();
    kernel.send_all((1..=3).map(|n| take("r", n, 9))).await.unwrap();
    idle(&kernel).await;
    let everything = foldwright_ports::Retention {
        tenant: tenant("a"),
        aggregate_types: Vec::new(),
        accepted_before: foldwright_domain::Millis(i64::MAX),
    };
    assert_eq!(bench.ports.log.retain(&everything, 1_000).await.unwrap(), 3);
    faults.always(Op::StoreRows, "totals", What::Fail(Kind::Unavailable));
    let second = Duration::from_secs(1);
    let mut answers = Vec::new();
    // The row knows the first three, the log the one that is taken now.
    for (n, seats) in [(4, 3), (5, 4), (6, 4)] {
        let receipt = kernel.ask(take("r", n, seats)).await.unwrap();
        answers.push(receipt.decided(second).await.unwrap());
    }
    assert!(matches!(answers[0], Answered::Rejected(_)), "{:?}", answers[0]);
    assert!(matches!(answers[1], Answered::Events(_)), "{:?}", answers[1]);
    assert!(matches!(answers[2], Answered::Rejected(_)), "{:?}", answers[2]);
    faults.clear();
    idle(&kernel).await;
    assert_eq!(
        bench.state::<Totals>("r").await,
        Some(Total { events: 4, sum: 11 })
    );
}

/// C-06: sent again, it is a duplicate of the first and not a second decision, even where that would be refused.
#[tokio::test(start_paused = true)]
async fn a_decision_that_is_sent_again_under_its_key_is_a_duplicate() {
    let bench = Bench::new();
    let kernel = bench.kernel().pipeline(pipeline()).start().unwrap();
    let second = Duration::from_secs(1);
    let first = kernel.ask(keyed_take("r", 1, 1, "k")).await.unwrap();
    let stored = StoredEvents {
        stream: key::<Run>("a", "r").erase(),
        ids: vec![first.command.event(0).unwrap()],
    };
    assert_eq!(
        first.decided(second).await.unwrap(),
        Answered::Events(stored.clone())
    );
    for _ in 0..2 {
        let again = kernel.ask(keyed_take("r", 1, 1, "k")).await.unwrap();
        assert_eq!(
            again.decided(second).await.unwrap(),
            Answered::Duplicate(stored.clone())
        );
        idle(&kernel).await;
    }
    // In one lease with the first, and behind more events than a state knows exactly.
    let web = bench.with_role(Role::Web).pipeline(pipeline()).start().unwrap();
    kernel.close().await;
    web.send_all([keyed_take("s", 1, 1, "k"), keyed_take("s", 1, 1, "k")])
        .await
        .unwrap();
    finish(&web, "r", 4_000).await;
    finish(&web, "r", 4_000).await;
    let kernel = bench.kernel().pipeline(pipeline()).start().unwrap();
    idle(&kernel).await;
    assert_eq!(events(&bench, "s").await.len(), 1);
    let again = kernel.ask(keyed_take("r", 1, 1, "k")).await.unwrap();
    assert_eq!(again.decided(second).await.unwrap(), Answered::Duplicate(stored));
    assert_eq!(kernel.counters().decisions_standing.get(), 2);
    let other = kernel.ask(keyed_take("r", 1, 1, "l")).await.unwrap();
    assert!(matches!(
        other.decided(second).await.unwrap(),
        Answered::Rejected(_)
    ));
    idle(&kernel).await;
    assert_eq!(ids(&bench, "r").await.len(), 8_001);
}

/// C-16
#[tokio::test(start_paused = true)]
async fn what_led_to_a_decision_passes_to_its_events() {
    let bench = Bench::new();
    let kernel = bench.kernel().pipeline(pipeline()).start().unwrap();
    let first = kernel.send(take("r", 1, 9)).await.unwrap();
    idle(&kernel).await;
    let cause = events(&bench, "r").await.remove(0).meta;
    assert_eq!(cause.correlation_id, first.command);
    assert_eq!(cause.causation_id, EventId::from_u128(first.command.as_u128()));
    let origin = foldwright_domain::Origin {
        correlation_id: Some(cause.correlation_id),
        causation_id: Some(cause.id),
        trace_context: None,
    };
    kernel.send(take("s", 2, 9).caused_by(origin)).await.unwrap();
    idle(&kernel).await;
    let effect = events(&bench, "s").await.remove(0).meta;
    assert_eq!(
        (effect.correlation_id, effect.causation_id),
        (first.command, cause.id)
    );
}

/// A command that would share the deciders' path.
#[derive(serde::Serialize, serde::Deserialize)]
struct Decide;

impl Command for Decide {
    type Of = Run;
    const NAME: &'static str = "decide";

    fn aggregate_id(&self) -> Result<foldwright_domain::AggregateId, foldwright_domain::InvalidId> {
        foldwright_domain::AggregateId::parse("r")
    }
}

impl Handler for Decide {
    fn handle(_: &Intent<Self>) -> Result<Vec<crate::support::RunEvent>, foldwright_domain::Rejected> {
        Ok(Vec::new())
    }
}

fn unguarded(bench: &Bench) -> Ports {
    Ports {
        log: Arc::new(Unguarded(bench.ports.log.clone())),
        ..bench.ports.clone()
    }
}

/// C-10, G12
#[tokio::test(start_paused = true)]
async fn a_decider_without_its_fold_or_its_guard_is_a_start_up_fault() {
    let bench = Bench::new();
    let runs = Pipeline::<Run>::define("runs")
        .decider::<Take>()
        .decider::<End>()
        .command::<Decide>()
        .build()
        .unwrap();
    // The fold of another pipeline is not the decider's.
    let others = Pipeline::<Run>::define("others")
        .fold::<Story>(|f| f)
        .build()
        .unwrap();
    let suites = Pipeline::<Suite>::define("suites").build().unwrap();
    let faults = Kernel::builder(unguarded(&bench), Role::All)
        .pipeline(runs)
        .pipeline(others)
        .pipeline(suites)
        .start()
        .unwrap_err();
    let expected = [
        "runs/command/take: a decider needs a log with conditional append",
        "runs/command/take: it decides on fold `totals`, which pipeline runs does not declare",
        "runs/command/end: a decider needs a log with conditional append",
        "runs/command/end: it decides on fold `story`, which pipeline runs does not declare",
        "runs/command/decide: `command/decide` is the path that all deciders share",
    ];
    for text in expected {
        assert!(
            faults.0.iter().any(|fault| fault.contains(text)),
            "{text} is missing in {faults}"
        );
    }
    assert_eq!(faults.0.len(), expected.len(), "{faults}");
}

/// C-05: where the weaker promise was accepted, decisions are taken all the same.
#[tokio::test(start_paused = true)]
async fn an_unguarded_log_can_be_accepted() {
    let bench = Bench::new();
    let kernel = Kernel::builder(unguarded(&bench), Role::All)
        .ids(bench.ids.clone())
        .pipeline(pipeline())
        .accept_unguarded_deciders()
        .start()
        .unwrap();
    kernel.send_all((0..5).map(|n| take("r", n, 3))).await.unwrap();
    idle(&kernel).await;
    assert_eq!(events(&bench, "r").await.len(), 3);
    assert_eq!(kernel.counters().rejected.get(), 2);
}
