//! Commands while processes die and ports fail.
use crate::support::{
    Bench, Faults, Hook, Hooked, Note, Odds, Op, Run, Story, Total, Totals, What, at, finish, idle, key,
    note, tenant, until,
};
use foldwright_domain::{Declared, Intent};
use foldwright_ports::{GroupId, Kind, Limits};
use foldwright_runtime::{Pipeline, Role};
use std::{sync::Arc, time::Duration};

fn pipeline() -> Pipeline<Run> {
    Pipeline::define("runs")
        .declares::<Note>()
        .command::<crate::support::Finish>()
        .command::<Hooked>()
        .fold::<Totals>(|f| f)
        .fold::<Story>(|f| f)
        .map::<Odds>(|m| m)
        .build()
        .unwrap()
}

async fn ids(bench: &Bench, run: &str) -> Vec<foldwright_domain::EventId> {
    let stream = key::<Run>("a", run).erase();
    let page = bench
        .ports
        .log
        .load(&stream, None, Limits::items(1_000))
        .await
        .unwrap();
    page.items.iter().map(|event| event.meta.id).collect()
}

/// C-02, G2: killed at each point around the append and the settle.
#[tokio::test(start_paused = true)]
async fn a_command_whose_process_dies_runs_again_and_lands_on_the_same_ids() {
    let points = [
        (Op::Append, What::Hang),
        (Op::Append, What::HangAfter),
        (Op::Settle, What::Hang),
        (Op::Settle, What::HangAfter),
    ];
    for (op, what) in points {
        let bench = Bench::new();
        let faults = Arc::new(Faults::new());
        faults.once(op, if op == Op::Settle { "command/" } else { "" }, what);
        let first = bench.faulty(&faults).pipeline(pipeline()).start().unwrap();
        let receipt = finish(&first, "r", 3).await;
        faults.hung(1).await;
        drop(first);
        let second = bench.kernel().pipeline(pipeline()).start().unwrap();
        idle(&second).await;
        let expected: Vec<_> = (0..3).map(|n| receipt.command.event(n).unwrap()).collect();
        assert_eq!(ids(&bench, "r").await, expected, "{op:?} {what:?}");
        assert_eq!(
            bench.state::<Totals>("r").await,
            Some(Total { events: 3, sum: 0 }),
            "{op:?} {what:?}"
        );
        assert_eq!(
            bench.state::<Story>("r").await,
            Some(vec![0, 0, 0]),
            "{op:?} {what:?}"
        );
    }
}

/// C-03: neither a queue that is away or full for longer than a lease, nor a lost reply, costs an attempt or an event.
#[tokio::test(start_paused = true)]
async fn a_settle_that_fails_is_repeated_until_every_projection_has_its_job() {
    let trouble = [
        (What::Fail(Kind::Unavailable), 100),
        (What::Fail(Kind::Full), 3),
        (What::LoseReply(Kind::Timeout), 1),
        (What::LoseReply(Kind::Unavailable), 100),
        (What::Fail(Kind::Invalid), 2),
    ];
    for (what, times) in trouble {
        let bench = Bench::new();
        let faults = Arc::new(Faults::new());
        faults.times(Op::Settle, "command/", 0, times, what);
        let kernel = bench.faulty(&faults).pipeline(pipeline()).start().unwrap();
        kernel.send(note("r", 0, 7)).await.unwrap();
        idle(&kernel).await;
        assert!(faults.count(Op::Settle, "command/") > times.min(2), "{what:?}");
        assert_eq!(
            bench.state::<Totals>("r").await,
            Some(Total { events: 1, sum: 7 }),
            "{what:?}"
        );
        assert_eq!(ids(&bench, "r").await.len(), 1, "{what:?}");
        assert!(bench.blocked().await.is_empty());
    }
}

/// C-03
#[tokio::test(start_paused = true)]
async fn a_log_that_is_away_costs_no_attempt() {
    let bench = Bench::new();
    let faults = Arc::new(Faults::new());
    faults.times(Op::Append, "", 0, 100, What::Fail(Kind::Unavailable));
    let kernel = bench.faulty(&faults).pipeline(pipeline()).start().unwrap();
    kernel.send(note("r", 0, 7)).await.unwrap();
    faults_seen(&faults, Op::Append, 100).await;
    let group = GroupId {
        tenant: tenant("a"),
        path: "command/note".into(),
        key: "run:r".into(),
    };
    assert_eq!(
        bench
            .ports
            .queue_admin
            .group(&group)
            .await
            .unwrap()
            .unwrap()
            .failures,
        0
    );
    idle(&kernel).await;
    assert_eq!(
        bench.state::<Totals>("r").await,
        Some(Total { events: 1, sum: 7 })
    );
}

/// C-02: the reply of the append is lost.
#[tokio::test(start_paused = true)]
async fn an_append_without_a_reply_is_repeated_and_stored_once() {
    let bench = Bench::new();
    let faults = Arc::new(Faults::new());
    faults.times(Op::Append, "", 0, 3, What::LoseReply(Kind::Timeout));
    let kernel = bench.faulty(&faults).pipeline(pipeline()).start().unwrap();
    let receipt = finish(&kernel, "r", 2).await;
    idle(&kernel).await;
    assert_eq!(
        ids(&bench, "r").await,
        [0, 1].map(|n| receipt.command.event(n).unwrap())
    );
    assert_eq!(bench.state::<Story>("r").await, Some(vec![0, 0]));
    assert_eq!(kernel.counters().events_duplicate.get(), 2);
}

/// L-07, G6: one caller's refused events fail that caller alone.
#[tokio::test(start_paused = true)]
async fn a_refused_append_fails_its_own_command_alone() {
    let bench = Bench::new();
    let faults = Arc::new(Faults::new());
    faults.always(Op::Append, "run:bad", What::FailItems(Kind::Invalid));
    let web = bench.with_role(Role::Web).pipeline(pipeline()).start().unwrap();
    for run in ["good", "bad", "fine"] {
        for n in 1..=3 {
            web.send(note(run, n, n as u64)).await.unwrap();
        }
    }
    let kernel = bench.faulty(&faults).pipeline(pipeline()).start().unwrap();
    idle(&kernel).await;
    for run in ["good", "fine"] {
        assert_eq!(bench.state::<Story>(run).await, Some(vec![1, 2, 3]));
    }
    assert_eq!(ids(&bench, "bad").await, []);
    let blocked = bench.blocked().await;
    assert_eq!(blocked.len(), 1);
    assert_eq!((&*blocked[0].group.key, blocked[0].failures), ("run:bad", 1));
    faults.clear();
    assert!(bench.ports.queue_admin.unblock(&blocked[0].group).await.unwrap());
    idle(&kernel).await;
    assert_eq!(bench.state::<Story>("bad").await, Some(vec![1, 2, 3]));
}

/// C-08, G2: of commands that were claimed together, those behind a failed one wait for it, stored or not.
#[tokio::test(start_paused = true)]
async fn commands_behind_a_failed_one_are_not_done() {
    let bench = Bench::new();
    let faults = Arc::new(Faults::new());
    faults.always(Op::Append, r#"{"run":"r","n":2"#, What::FailItems(Kind::Invalid));
    let web = bench.with_role(Role::Web).pipeline(pipeline()).start().unwrap();
    web.send_all((1..=4).map(|n| note("r", n, n as u64)))
        .await
        .unwrap();
    let kernel = bench.faulty(&faults).pipeline(pipeline()).start().unwrap();
    idle(&kernel).await;
    assert_eq!(bench.state::<Story>("r").await, Some(vec![1]));
    let blocked = bench.blocked().await;
    assert_eq!(
        (blocked.len(), kernel.backlog().await.unwrap().commands.blocked),
        (1, 3)
    );
    faults.clear();
    bench.ports.queue_admin.unblock(&blocked[0].group).await.unwrap();
    idle(&kernel).await;
    assert_eq!(bench.state::<Story>("r").await, Some(vec![1, 2, 3, 4]));
    assert_eq!(ids(&bench, "r").await.len(), 4);
}

/// C-15
#[tokio::test(start_paused = true)]
async fn a_payload_that_no_longer_decodes_climbs_the_ladder_and_is_quarantined() {
    let bench = Bench::new();
    let web = bench
        .with_role(Role::Web)
        .pipeline(old::pipeline())
        .start()
        .unwrap();
    web.send(Intent::new(
        tenant("a"),
        at(0),
        old::Finish {
            run: "r".into(),
            times: "two".into(),
        },
    ))
    .await
    .unwrap();
    let kernel = bench.kernel().pipeline(pipeline()).start().unwrap();
    finish(&kernel, "other", 1).await;
    tokio::time::sleep(Duration::from_secs(3 * 60 * 60)).await;
    let blocked = bench.blocked().await;
    assert_eq!(blocked.len(), 1);
    assert_eq!(blocked[0].failures, 25);
    assert!(
        blocked[0]
            .error
            .contains("the payload of `finish` does not decode"),
        "{}",
        blocked[0].error
    );
    assert_eq!(kernel.backlog().await.unwrap().commands.blocked, 1);
    assert_eq!(bench.state::<Story>("other").await, Some(vec![0]));
}

/// R-20, G6: a command that panics outside its handler fails alone, not with all that were claimed with it.
#[tokio::test(start_paused = true)]
async fn a_panic_fails_its_own_command_alone() {
    for bad in [Hook::PanicInHandle, Hook::PanicInKey] {
        let bench = Bench::new();
        let web = bench.with_role(Role::Web).pipeline(pipeline()).start().unwrap();
        for (run, then) in [("one", Hook::Event), ("bad", bad), ("two", Hook::Event)] {
            web.send(Intent::new(
                tenant("a"),
                at(0),
                Hooked {
                    run: run.into(),
                    then,
                },
            ))
            .await
            .unwrap();
        }
        web.send(Intent::new(
            tenant("a"),
            at(1),
            Hooked {
                run: "bad".into(),
                then: Hook::Event,
            },
        ))
        .await
        .unwrap();
        let kernel = bench.kernel().pipeline(pipeline()).start().unwrap();
        tokio::time::sleep(Duration::from_millis(300)).await;
        for run in ["one", "two"] {
            assert_eq!(bench.state::<Story>(run).await, Some(vec![0]), "{bad:?}");
        }
        let group = |run: &str| GroupId {
            tenant: tenant("a"),
            path: "command/hooked".into(),
            key: format!("run:{run}").into(),
        };
        let admin = &bench.ports.queue_admin;
        assert_eq!(admin.group(&group("one")).await.unwrap(), None, "{bad:?}");
        let view = admin.group(&group("bad")).await.unwrap().unwrap();
        assert_eq!((view.depth, view.failures), (2, 1), "{bad:?}");
        assert!(view.last_error.unwrap().contains("panic"), "{bad:?}");
        drop(kernel);
    }
}

async fn faults_seen(faults: &Faults, op: Op, times: usize) {
    until(async || faults.count(op, "") >= times).await;
}

/// The service as it was before the number became a number.
mod old {
    use super::Run;
    use crate::support::{Finished, RunEvent};
    use foldwright_domain::{AggregateId, Command, Handler, Intent, InvalidId, Rejected};
    use foldwright_runtime::Pipeline;
    use serde::{Deserialize, Serialize};

    #[derive(Serialize, Deserialize)]
    pub(super) struct Finish {
        pub(super) run: String,
        pub(super) times: String,
    }

    impl Command for Finish {
        type Of = Run;
        const NAME: &'static str = "finish";

        fn aggregate_id(&self) -> Result<AggregateId, InvalidId> {
            AggregateId::parse(self.run.as_str())
        }
    }

    impl Handler for Finish {
        fn handle(intent: &Intent<Self>) -> Result<Vec<RunEvent>, Rejected> {
            Ok(vec![RunEvent::Finished(Finished {
                run: intent.payload.run.clone(),
            })])
        }
    }

    pub(super) fn pipeline() -> Pipeline<Run> {
        Pipeline::define("runs").command::<Finish>().build().unwrap()
    }
}

/// B-24, C-03: what the sender is told when nothing could be staged.
#[tokio::test(start_paused = true)]
async fn a_refused_send_gives_the_intent_back_and_says_whether_to_retry() {
    let bench = Bench::new();
    let faults = Arc::new(Faults::new());
    let kernel = bench.faulty(&faults).pipeline(pipeline()).start().unwrap();
    faults.once(Op::Stage, "", What::Fail(Kind::Full));
    let error = kernel.send(note("r", 0, 7)).await.unwrap_err();
    assert!(error.refused.is_retryable());
    let Declared(noted) = &error.intents[0].payload;
    assert_eq!(noted.n, 7);
    for intent in error.intents {
        kernel.send(intent).await.unwrap();
    }
    idle(&kernel).await;
    assert_eq!(bench.state::<Story>("r").await, Some(vec![7]));
}
