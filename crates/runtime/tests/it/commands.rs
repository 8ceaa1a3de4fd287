//! What becomes of commands.
use crate::support::{
    Bench, Ends, Finish, HOOKS, Hook, Hooked, Note, Noted, Run, Spread, Story, Total, Totals, at, finish,
    idle, key, keyed_note, note, tenant,
};
use foldwright_domain::{Command, CommandId, Declared, Event, EventId, Identity, Intent, Origin, RawEvent};
use foldwright_ports::{GroupId, IdSource, Limits};
use foldwright_runtime::{Answered, Kernel, Pipeline, Role, SeededIds, SystemIds};
use std::time::Duration;

fn pipeline() -> Pipeline<Run> {
    Pipeline::define("runs")
        .declares::<Note>()
        .declares::<Spread>()
        .command::<Finish>()
        .command::<Hooked>()
        .fold::<Totals>(|f| f)
        .fold::<Story>(|f| f)
        .fold::<Ends>(|f| f)
        .build()
        .unwrap()
}

async fn events(bench: &Bench, run: &str) -> Vec<RawEvent> {
    let stream = key::<Run>("a", run).erase();
    bench
        .ports
        .log
        .load(&stream, None, Limits::items(1_000))
        .await
        .unwrap()
        .items
}

async fn hook(kernel: &Kernel, run: &str, then: Hook) -> foldwright_runtime::Receipt {
    kernel
        .send(Intent::new(
            tenant("a"),
            at(0),
            Hooked {
                run: run.into(),
                then,
            },
        ))
        .await
        .unwrap()
}

fn hooks(run: &str) -> u32 {
    HOOKS.lock().unwrap().get(run).copied().unwrap_or(0)
}

/// C-01
#[tokio::test(start_paused = true)]
async fn a_sender_waits_for_staging_alone_and_gets_the_ids_of_its_events() {
    let bench = Bench::new();
    let web = bench.with_role(Role::Web).pipeline(pipeline()).start().unwrap();
    let receipt = finish(&web, "r", 2).await;
    assert_eq!(web.backlog().await.unwrap().commands.waiting, 1);
    assert!(events(&bench, "r").await.is_empty());
    let worker = bench
        .with_role(Role::Worker)
        .pipeline(pipeline())
        .start()
        .unwrap();
    idle(&worker).await;
    let ids: Vec<_> = events(&bench, "r")
        .await
        .iter()
        .map(|event| event.meta.id)
        .collect();
    assert_eq!(
        ids,
        [
            receipt.command.event(0).unwrap(),
            receipt.command.event(1).unwrap()
        ]
    );
    assert_eq!(bench.state::<Ends>("r").await, Some(2));
}

/// C-13
#[tokio::test(start_paused = true)]
async fn a_web_process_sends_and_takes_no_work() {
    let bench = Bench::new();
    let web = bench.with_role(Role::Web).pipeline(pipeline()).start().unwrap();
    web.send(note("r", 0, 1)).await.unwrap();
    tokio::time::sleep(Duration::from_secs(3_600)).await;
    assert_eq!(web.backlog().await.unwrap().commands.waiting, 1);
    web.close().await;
}

/// C-04
#[tokio::test(start_paused = true)]
async fn a_rejection_is_an_answer_and_no_retry() {
    let bench = Bench::new();
    let kernel = bench.kernel().pipeline(pipeline()).start().unwrap();
    let receipt = finish(&kernel, "no", 1).await;
    idle(&kernel).await;
    let Some(Answered::Rejected(rejected)) = kernel.answer(&receipt).await.unwrap() else {
        panic!("no answer");
    };
    assert_eq!(
        (rejected.code.as_ref(), kernel.counters().rejected.get()),
        ("not_this_one", 1)
    );
    assert!(events(&bench, "no").await.is_empty());
    assert!(bench.blocked().await.is_empty());
    tokio::time::sleep(Duration::from_secs(61)).await;
    assert_eq!(kernel.answer(&receipt).await.unwrap(), None);
}

/// C-04
#[tokio::test(start_paused = true)]
async fn the_hook_runs_after_a_durable_append_alone_and_its_panic_fails_nothing() {
    let bench = Bench::new();
    let kernel = bench.kernel().pipeline(pipeline()).start().unwrap();
    hook(&kernel, "hook-rejected", Hook::Reject).await;
    hook(&kernel, "hook-nothing", Hook::Nothing).await;
    hook(&kernel, "hook-event", Hook::Event).await;
    hook(&kernel, "hook-panic", Hook::EventAndPanic).await;
    idle(&kernel).await;
    assert_eq!(
        ["hook-rejected", "hook-nothing", "hook-event", "hook-panic"].map(hooks),
        [0, 0, 1, 1]
    );
    assert_eq!(kernel.counters().hooks_swallowed.get(), 1);
    assert!(bench.blocked().await.is_empty());
    assert_eq!(bench.state::<Ends>("hook-panic").await, Some(1));
}

/// C-06, L-02
#[tokio::test(start_paused = true)]
async fn a_command_with_a_key_has_its_events_once() {
    let bench = Bench::new();
    let kernel = bench.kernel().pipeline(pipeline()).start().unwrap();
    let first = kernel.send(keyed_note("r", 5, 7, "k")).await.unwrap();
    kernel.send(keyed_note("r", 5, 7, "k")).await.unwrap();
    idle(&kernel).await;
    kernel.send(keyed_note("r", 5, 7, "k")).await.unwrap();
    // Another content under the same key: the stored fact stays.
    kernel.send(keyed_note("r", 9, 8, "k")).await.unwrap();
    kernel.send(keyed_note("other", 5, 7, "k")).await.unwrap();
    idle(&kernel).await;
    let ids: Vec<_> = events(&bench, "r")
        .await
        .iter()
        .map(|event| event.meta.id)
        .collect();
    assert_eq!(ids, [first.command.event(0).unwrap()]);
    assert_eq!(
        bench.state::<Totals>("r").await,
        Some(Total { events: 1, sum: 7 })
    );
    assert_eq!(
        bench.state::<Totals>("other").await,
        Some(Total { events: 1, sum: 7 })
    );
    let counters = kernel.counters();
    assert_eq!(counters.events_fresh.get(), 2);
    assert_eq!(counters.events_duplicate.get(), 2);
    assert_eq!(counters.events_conflicting.get(), 1);
}

/// C-07
#[tokio::test(start_paused = true)]
async fn commands_spread_over_group_keys_and_the_fold_stays_exact() {
    let bench = Bench::new();
    let web = bench.with_role(Role::Web).pipeline(pipeline()).start().unwrap();
    let spread = |n: u64| {
        let payload = Declared::<Spread>(Noted {
            run: "r".into(),
            n,
            key: None,
        });
        Intent::new(tenant("a"), at(n as i64), payload)
    };
    web.send_all((0..80).map(spread)).await.unwrap();
    for n in 0..8 {
        let group = GroupId {
            tenant: tenant("a"),
            path: "command/spread".into(),
            key: format!("run:{n}").into(),
        };
        assert_eq!(
            bench
                .ports
                .queue_admin
                .group(&group)
                .await
                .unwrap()
                .unwrap()
                .depth,
            10
        );
    }
    let worker = bench
        .with_role(Role::Worker)
        .pipeline(pipeline())
        .start()
        .unwrap();
    idle(&worker).await;
    assert_eq!(
        bench.state::<Totals>("r").await,
        Some(Total {
            events: 80,
            sum: 79 * 40
        })
    );
    assert_eq!(bench.state::<Story>("r").await, Some((0..80).collect()));
}

/// C-08
#[tokio::test(start_paused = true)]
async fn commands_of_one_group_keep_their_order() {
    let bench = Bench::new();
    let kernel = bench.kernel().pipeline(pipeline()).start().unwrap();
    for n in 1..=50 {
        kernel.send(note("r", (n / 7) as i64, n)).await.unwrap();
    }
    idle(&kernel).await;
    assert_eq!(bench.state::<Story>("r").await, Some((1..=50).collect()));
    assert_eq!(kernel.counters().refolds.get(), 0);
}

/// C-09
#[tokio::test(start_paused = true)]
async fn of_a_declared_command_the_data_alone_is_stored() {
    let bench = Bench::new();
    let kernel = bench.kernel().pipeline(pipeline()).start().unwrap();
    let receipt = kernel.send(keyed_note("r", 5, 7, "k")).await.unwrap();
    idle(&kernel).await;
    let event = events(&bench, "r").await.remove(0);
    assert_eq!(event.data, r#"{"run":"r","n":7,"key":"k"}"#);
    let meta = event.meta;
    assert_eq!(*meta.event_type, *"test.sim.run.noted");
    assert_eq!(*meta.version, *"2026-01-01");
    assert_eq!((meta.occurred_at, meta.accepted_at), (at(5), at(0)));
    assert_eq!(meta.idempotency_key.as_deref(), Some("k"));
    let stream = key::<Run>("a", "r").erase();
    assert_eq!(
        meta.identity,
        Identity::keyed(&stream, Declared::<Note>::NAME, 0, "k")
    );
    assert_eq!(meta.id.command(), receipt.command);
}

/// C-16
#[tokio::test(start_paused = true)]
async fn correlation_and_causation_pass_from_command_to_event() {
    let bench = Bench::new();
    let kernel = bench.kernel().pipeline(pipeline()).start().unwrap();
    let first = kernel.send(note("first", 0, 1)).await.unwrap();
    idle(&kernel).await;
    let cause = events(&bench, "first").await.remove(0).meta;
    assert_eq!(cause.correlation_id, first.command);
    assert_eq!(cause.causation_id, EventId::from_u128(first.command.as_u128()));
    let origin = Origin {
        correlation_id: Some(cause.correlation_id),
        causation_id: Some(cause.id),
        trace_context: Some("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01".into()),
    };
    kernel
        .send(note("second", 0, 2).caused_by(origin.clone()))
        .await
        .unwrap();
    idle(&kernel).await;
    let effect = events(&bench, "second").await.remove(0).meta;
    assert_eq!(effect.correlation_id, first.command);
    assert_eq!(effect.causation_id, cause.id);
    assert_eq!(effect.trace_context, origin.trace_context);
}

/// C-19
#[test]
fn ids_of_one_millisecond_increase_strictly() {
    let sources: [&dyn IdSource; 2] = [&SystemIds::default(), &SeededIds::new(3)];
    for ids in sources {
        let mut last = CommandId::from_u128(0);
        for _ in 0..100_000 {
            let next = ids.command_id(at(0));
            assert!(next > last);
            last = next;
        }
    }
}

/// A re-run in a build whose handler makes something else of the command: what is stored is what projections get.
///
/// C-02, L-03
#[tokio::test(start_paused = true)]
async fn a_conflict_brings_the_stored_event_to_the_projections() {
    let bench = Bench::new();
    let kernel = bench.kernel().pipeline(pipeline()).start().unwrap();
    let web = bench.with_role(Role::Web).pipeline(pipeline()).start().unwrap();
    kernel.close().await;
    let receipt = web.send(note("r", 5, 7)).await.unwrap();
    // The process that ran it first has appended and died; its handler doubled the number.
    let mut stored = foreign_event(&receipt.command, "r", 14).await;
    stored.meta.occurred_at = at(5);
    let batch = foldwright_domain::Batch::new(&stored.meta.stream.clone(), vec![stored]).unwrap();
    let append = foldwright_ports::Append {
        batch,
        expect: foldwright_ports::Expect::Any,
    };
    bench.ports.log.append(vec![append]).await.remove(0).unwrap();
    let kernel = bench.kernel().pipeline(pipeline()).start().unwrap();
    idle(&kernel).await;
    assert_eq!(kernel.counters().events_conflicting.get(), 1);
    assert_eq!(bench.state::<Story>("r").await, Some(vec![14]));
}

/// An event of a run as a process would have stored it for `command`.
async fn foreign_event(command: &CommandId, run: &str, n: u64) -> RawEvent {
    let bench = Bench::new();
    let kernel = bench.kernel().pipeline(pipeline()).start().unwrap();
    kernel.send(note(run, 5, n)).await.unwrap();
    idle(&kernel).await;
    let mut event = events(&bench, run).await.remove(0);
    event.meta.id = command.event(0).unwrap();
    event.meta.identity = Identity::of_id(event.meta.id);
    event
}

/// C-09
#[test]
fn every_event_of_the_test_domain_is_described() {
    let noted = crate::support::RunEvent::from(Noted {
        run: "r".into(),
        n: 1,
        key: None,
    });
    assert_eq!(noted.descriptor().event_type, "test.sim.run.noted");
}
