//! Bodies of jobs, small and large, present and gone.
use crate::support::{
    All, Bench, ByNumber, Ear, Evens, Faults, Heard, InOrder, Manner, Note, Noted, Odds, Op, Reaction, Run, RunEvent, Sibling,
    Story, Total, Totals, What, as_new, at, blob_of, idle, noise, note, tenant,
};
use bytes::Bytes;
use foldwright_domain::{Commutative, Declared, Dispatch, Fold, Intent, Recorded};
use foldwright_ports::{GroupId, Held, Kind, Limits};
use foldwright_runtime::{Pipeline, Role, SendRefused};
use std::{sync::Arc, time::Duration};

/// The text of the last event.
enum Last {}

impl Fold for Last {
    type On = RunEvent;
    type State = String;
    type Order = Commutative;
    const NAME: &'static str = "last";
    const VERSION: u32 = 1;

    fn init() -> String {
        String::new()
    }

    fn apply(last: String, event: &Recorded<RunEvent>) -> String {
        match &event.data {
            RunEvent::Noted(noted) => noted.key.clone().unwrap_or_default(),
            RunEvent::Finished(_) => last,
        }
    }
}

fn pipeline() -> Pipeline<Run> {
    Pipeline::define("runs")
        .declares::<Note>()
        .fold::<Totals>(|f| f)
        .fold::<Story>(|f| f)
        .fold::<Last>(|f| f)
        .map::<Odds>(|m| m)
        .build()
        .unwrap()
}

/// A number with so many bytes beside it.
fn bulky(ms: i64, n: u64, bytes: usize) -> Intent<Declared<Note>> {
    let key = Some(noise(bytes, n));
    Intent::new(tenant("a"), at(ms), Declared(Noted { run: "r".into(), n, key }))
}

/// B-01, B-03
#[tokio::test(start_paused = true)]
async fn a_body_is_inline_hot_or_cold_and_its_reader_sees_no_difference() {
    for (bytes, hot, cold) in [(100, false, false), (20_000, true, false), (600_000, false, true)] {
        let bench = Bench::new();
        let kernel = bench.kernel().pipeline(pipeline()).start().unwrap();
        kernel.send(bulky(0, 7, bytes)).await.unwrap();
        idle(&kernel).await;
        assert_eq!(bench.state::<Last>("r").await, Some(noise(bytes, 7)));
        assert_eq!(bench.state::<Totals>("r").await, Some(Total { events: 1, sum: 7 }));
        let [in_hot, in_cold] = bench.bodies().await.map(|tier| !tier.is_empty());
        // The command's body is half as large as the event's, which has the key in its envelope too.
        assert_eq!((in_hot || cold, in_cold), (hot || cold, cold), "{bytes}");
    }
}

/// B-06
#[tokio::test(start_paused = true)]
async fn jobs_of_one_event_share_its_body_and_subscribers_share_the_state() {
    fn ear<M: Manner>(heard: &Arc<Heard<String>>) -> Ear<RunEvent, String, M> {
        Ear::new(heard)
    }
    let bench = Bench::new();
    let heard = Heard::new();
    let pipeline = Pipeline::<Run>::define("runs")
        .declares::<Note>()
        .fold::<Totals>(|f| f)
        .fold::<Story>(|f| f)
        .map::<Odds>(|m| m)
        .fold::<Last>(|f| {
            f.subscriber(ear::<All>(&heard), Dispatch::each())
                .subscriber(ear::<Sibling>(&heard), Dispatch::each())
                .subscriber(ear::<Evens>(&heard), Dispatch::each())
                .subscriber(ear::<InOrder>(&heard), Dispatch::each())
                .subscriber(ear::<ByNumber>(&heard), Dispatch::debounce(Duration::from_secs(1)))
        })
        .build()
        .unwrap();
    let kernel = bench.kernel().pipeline(pipeline).start().unwrap();
    kernel.send(bulky(0, 8, 20_000)).await.unwrap();
    idle(&kernel).await;
    assert_eq!(heard.numbers(), [8; 5]);
    assert!(heard.runs().iter().all(|run| run.state == noise(20_000, 8)));
    let [hot, cold] = bench.bodies().await;
    assert_eq!((hot.len(), cold.len()), (3, 0), "the command, the event and the state");
}

/// B-08
#[tokio::test(start_paused = true)]
async fn an_attempt_changes_neither_body_nor_reference() {
    let bench = Bench::new();
    let heard: Arc<Heard<String>> = Heard::new();
    heard.react([Reaction::Retry; 12]);
    let faults = Arc::new(Faults::new());
    let pipeline = Pipeline::<Run>::define("runs")
        .declares::<Note>()
        .fold::<Last>(|f| f.subscriber(Ear::<_, _, All>::new(&heard), Dispatch::each()))
        .build()
        .unwrap();
    let kernel = bench.faulty(&faults).pipeline(pipeline).start().unwrap();
    kernel.send(bulky(0, 8, 20_000)).await.unwrap();
    while heard.calls() < 1 {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let (puts, bodies) = (faults.count(Op::Put, ""), bench.bodies().await);
    idle(&kernel).await;
    assert_eq!((heard.calls(), heard.numbers()), (13, vec![8]));
    assert_eq!(faults.count(Op::Put, ""), puts);
    assert_eq!(bench.bodies().await, bodies);
}

/// B-04
#[tokio::test(start_paused = true)]
async fn a_body_over_fifty_mebibytes_is_refused_at_the_sender() {
    let bench = Bench::new();
    let kernel = bench.with_role(Role::Web).pipeline(pipeline()).start().unwrap();
    let key = Some("x".repeat(50 << 20));
    let intent = Intent::new(tenant("a"), at(0), Declared::<Note>(Noted { run: "r".into(), n: 1, key }));
    let error = kernel.send(intent).await.unwrap_err();
    assert!(matches!(error.refused, SendRefused::TooLarge(_)), "{}", error.refused);
    assert!(!error.refused.is_retryable());
    assert_eq!(error.intents.len(), 1);
    assert_eq!(bench.bodies().await, [Vec::new(), Vec::new()]);
    assert_eq!(kernel.backlog().await.unwrap(), foldwright_runtime::Backlog::default());
}

/// Makes an event that is larger than the command.
#[derive(serde::Serialize, serde::Deserialize)]
struct Swell {
    bytes: usize,
}

impl foldwright_domain::Command for Swell {
    type Of = Run;
    const NAME: &'static str = "swell";

    fn aggregate_id(&self) -> Result<foldwright_domain::AggregateId, foldwright_domain::InvalidId> {
        foldwright_domain::AggregateId::parse("r")
    }

    fn handle(intent: &Intent<Self>) -> Result<Vec<RunEvent>, foldwright_domain::Rejected> {
        let key = Some("x".repeat(intent.payload.bytes));
        Ok(vec![RunEvent::Noted(Noted { run: "r".into(), n: 1, key })])
    }
}

/// B-04, G2: what could reach no projection is not appended either.
#[tokio::test(start_paused = true)]
async fn an_event_over_fifty_mebibytes_is_quarantined_before_it_is_appended() {
    let bench = Bench::new();
    let pipeline = Pipeline::<Run>::define("runs").command::<Swell>().fold::<Totals>(|f| f).build().unwrap();
    let kernel = bench.kernel().pipeline(pipeline).start().unwrap();
    // The data alone would fit, with its envelope it does not.
    let intent = Intent::new(tenant("a"), at(0), Swell { bytes: (50 << 20) - 64 });
    kernel.send(intent).await.unwrap();
    idle(&kernel).await;
    let blocked = bench.blocked().await;
    assert_eq!(blocked.len(), 1);
    assert!(blocked[0].error.contains("a body has at most"), "{}", blocked[0].error);
    assert!(bench.reader().tenants().await.unwrap().is_empty());
}

/// B-24
#[tokio::test(start_paused = true)]
async fn a_tier_that_refuses_a_body_refuses_the_command() {
    let bench = Bench::new();
    let faults = Arc::new(Faults::new());
    faults.times(Op::Put, "", 0, 2, What::Fail(Kind::Unavailable));
    let kernel = bench.faulty(&faults).pipeline(pipeline()).start().unwrap();
    for _ in 0..2 {
        let error = kernel.send(bulky(0, 7, 20_000)).await.unwrap_err();
        assert!(error.refused.is_retryable(), "{}", error.refused);
        assert_eq!(kernel.backlog().await.unwrap(), foldwright_runtime::Backlog::default());
    }
    // Behind the append it is the command that waits; no job points to a body that is not there.
    faults.times(Op::Put, "", 1, 3, What::Fail(Kind::Timeout));
    kernel.send(bulky(0, 7, 20_000)).await.unwrap();
    idle(&kernel).await;
    assert_eq!(bench.state::<Story>("r").await, Some(vec![7]));
    assert!(bench.blocked().await.is_empty());
}

/// Stages an event for the folds and kills the process that was to run them.
async fn stop_before_the_folds(bench: &Bench) {
    let faults = Arc::new(Faults::new());
    faults.always(Op::LoadRows, "", What::Hang);
    faults.always(Op::AppendRecords, "", What::Hang);
    let kernel = bench.faulty(&faults).pipeline(pipeline()).start().unwrap();
    kernel.send(bulky(0, 7, 20_000)).await.unwrap();
    faults.hung(1).await;
    drop(kernel);
}

/// B-18
#[tokio::test(start_paused = true)]
async fn the_body_of_an_event_that_is_gone_is_read_from_the_log() {
    let bench = Bench::new();
    stop_before_the_folds(&bench).await;
    bench.purge_bodies().await;
    let faults = Arc::new(Faults::new());
    faults.times(Op::Find, "run:r", 0, 10, What::Fail(Kind::Unavailable));
    let kernel = bench.faulty(&faults).pipeline(pipeline()).start().unwrap();
    idle(&kernel).await;
    assert!(faults.count(Op::Find, "run:r") > 10);
    assert_eq!(bench.state::<Totals>("r").await, Some(Total { events: 1, sum: 7 }));
    assert_eq!(bench.state::<Last>("r").await, Some(noise(20_000, 7)));
    let odds = bench.reader().records::<Odds>(&tenant("a"), None, None, Limits::items(10)).await.unwrap();
    assert_eq!(odds.items.len(), 1);
    assert!(kernel.counters().bodies_missing.get() >= 4);
    assert!(bench.blocked().await.is_empty());
}

/// B-18
#[tokio::test(start_paused = true)]
async fn the_body_of_a_subscribers_event_is_read_from_the_log_too() {
    let bench = Bench::new();
    let heard: Arc<Heard<Total>> = Heard::new();
    let pipeline = Pipeline::<Run>::define("runs")
        .declares::<Note>()
        .fold::<Totals>(|f| f.subscriber(Ear::<_, _, All>::new(&heard), Dispatch::delayed(Duration::from_secs(60))))
        .build()
        .unwrap();
    let kernel = bench.kernel().pipeline(pipeline).start().unwrap();
    kernel.send(bulky(0, 7, 20_000)).await.unwrap();
    kernel.caught_up(|_| {}).await.unwrap();
    bench.purge_bodies().await;
    idle(&kernel).await;
    assert_eq!(heard.numbers(), [7]);
    assert_eq!(kernel.counters().bodies_missing.get(), 1);
}

/// B-18: a command's body is nowhere else.
#[tokio::test(start_paused = true)]
async fn a_command_whose_body_is_gone_is_quarantined_with_that_reason() {
    let bench = Bench::new();
    let web = bench.with_role(Role::Web).pipeline(pipeline()).start().unwrap();
    web.send(bulky(0, 7, 20_000)).await.unwrap();
    bench.purge_bodies().await;
    let kernel = bench.kernel().pipeline(pipeline()).start().unwrap();
    kernel.send(note("other", 0, 1)).await.unwrap();
    tokio::time::sleep(Duration::from_secs(3 * 60 * 60)).await;
    let blocked = bench.blocked().await;
    assert_eq!(blocked.len(), 1);
    assert!(blocked[0].error.contains("is gone from its tier"), "{}", blocked[0].error);
    assert_eq!(bench.state::<Story>("other").await, Some(vec![1]));
}

/// B-19
#[tokio::test(start_paused = true)]
async fn a_tier_that_is_away_is_never_taken_for_a_missing_body() {
    let bench = Bench::new();
    stop_before_the_folds(&bench).await;
    let faults = Arc::new(Faults::new());
    faults.always(Op::Get, "", What::Fail(Kind::Unavailable));
    let kernel = bench.faulty(&faults).pipeline(pipeline()).start().unwrap();
    tokio::time::sleep(Duration::from_secs(3 * 60 * 60)).await;
    let blocked = bench.blocked().await;
    assert_eq!(blocked.len(), 4);
    assert!(blocked.iter().all(|b| b.failures == 25 && b.error.contains("unavailable")), "{blocked:?}");
    assert_eq!(kernel.counters().bodies_missing.get(), 0);
    assert_eq!(faults.count(Op::Find, ""), 0);
    faults.clear();
    for group in blocked {
        bench.ports.queue_admin.unblock(&group.group).await.unwrap();
    }
    idle(&kernel).await;
    assert_eq!(bench.state::<Story>("r").await, Some(vec![7]));
}

/// B-12, B-14, B-20: what cannot be read is kept with its body, and its error is told.
#[tokio::test(start_paused = true)]
async fn an_unreadable_header_is_retried_and_kept_with_its_body() {
    let bench = Bench::new();
    let job = bench.job_of(pipeline(), "runs/command/note", bulky(0, 7, 20_000)).await;
    let blob = blob_of(&job);
    for (header, error) in [
        (Bytes::new(), "the header is missing"),
        (Bytes::from_static(b"GQ1 what another program wrote"), "does not begin as one of Foldwright"),
        (Bytes::from_static(b"FW\x01\xff\xff\xff"), "the header does not decode"),
        (Bytes::from_static(b"FW\x09from tomorrow"), "is of version 9"),
    ] {
        let mut spoilt = job.clone();
        spoilt.header = header;
        bench.stage(spoilt).await;
        let kernel = bench.kernel().pipeline(pipeline()).start().unwrap();
        tokio::time::sleep(Duration::from_secs(3 * 60 * 60)).await;
        let blocked = bench.blocked().await;
        assert_eq!(blocked.len(), 1);
        assert_eq!(blocked[0].failures, 25);
        assert!(blocked[0].error.contains(error), "{}", blocked[0].error);
        assert_eq!(bench.ports.queue.held(std::slice::from_ref(&blob)).await.unwrap(), [Held::Yes]);
        assert_eq!(bench.ports.queue_admin.drain(&job.group, 10).await.unwrap(), 1);
        kernel.close().await;
    }
}

/// B-21
#[tokio::test(start_paused = true)]
async fn a_newer_envelope_waits_for_a_newer_worker() {
    let bench = Bench::new();
    let mut job = bench.job_of(pipeline(), "runs/command/note", note("r", 0, 7)).await;
    job.format = 2;
    bench.stage(job.clone()).await;
    let kernel = bench.kernel().pipeline(pipeline()).start().unwrap();
    tokio::time::sleep(Duration::from_secs(3_600)).await;
    assert_eq!(kernel.backlog().await.unwrap().commands.waiting, 1);
    assert_eq!(kernel.counters().jobs_completed.get(), 0);
    let view = bench.ports.queue_admin.group(&job.group).await.unwrap().unwrap();
    assert_eq!((view.failures, view.depth, view.leased), (0, 1, false));
    // A newer worker is handed it.
    let leases = bench.take("runs/command/note").await;
    assert_eq!(as_new(&leases[0], &leases[0].jobs[0]), job);
}

/// B-10, T-03, G11: a header or a reference of another tenant gives nothing away.
#[tokio::test(start_paused = true)]
async fn a_forged_job_reads_nothing_of_another_tenant() {
    let bench = Bench::new();
    let mut theirs = bulky(0, 7, 20_000);
    theirs.tenant = tenant("b");
    let secret = bench.job_of(pipeline(), "runs/command/note", theirs).await;
    let mine = bench.job_of(pipeline(), "runs/command/note", note("r", 0, 1)).await;
    let kernel = bench.kernel().pipeline(pipeline()).start().unwrap();

    // The whole job, moved into my group: its header names the other tenant.
    let mut moved = secret.clone();
    moved.group = GroupId { key: "run:moved".into(), ..mine.group.clone() };
    bench.stage(moved.clone()).await;
    idle(&kernel).await;
    let blocked = bench.blocked().await;
    assert_eq!((blocked.len(), blocked[0].failures), (1, 1));
    assert!(blocked[0].error.contains("security: job header belongs to another tenant"), "{}", blocked[0].error);

    // My header, pointing to their body: under my tenant there is no such body.
    let mut forged = mine.clone();
    forged.group.key = "run:forged".into();
    forged.body = secret.body.clone();
    bench.stage(forged.clone()).await;
    tokio::time::sleep(Duration::from_secs(60)).await;
    let view = bench.ports.queue_admin.group(&forged.group).await.unwrap().unwrap();
    assert!(view.last_error.as_deref().is_some_and(|e| e.contains("is gone from its tier")), "{view:?}");
    assert!(bench.reader().tenants().await.unwrap().is_empty());
    kernel.close().await;
}

/// T-03: an event of another tenant in the body of a job.
#[tokio::test(start_paused = true)]
async fn a_foreign_event_in_a_job_is_refused() {
    let bench = Bench::new();
    let folds = || Pipeline::<Run>::define("runs").declares::<Note>().fold::<Totals>(|f| f).build().unwrap();
    let mut jobs = Vec::new();
    for owner in ["a", "b"] {
        let faults = Arc::new(Faults::new());
        faults.always(Op::LoadRows, "", What::Hang);
        let kernel = bench.faulty(&faults).pipeline(folds()).start().unwrap();
        let mut intent = note("r", 0, 7);
        intent.tenant = tenant(owner);
        kernel.send(intent).await.unwrap();
        faults.hung(1).await;
        drop(kernel);
        bench.leases_lapse().await;
        bench.ports.queue.reap(10).await.unwrap();
        let lease = bench.take("runs/fold/totals").await.remove(0);
        bench.done(&lease).await;
        jobs.push(as_new(&lease, &lease.jobs[0]));
    }
    let mut forged = jobs[0].clone();
    forged.body = jobs[1].body.clone();
    bench.stage(forged).await;
    let kernel = bench.kernel().pipeline(folds()).start().unwrap();
    idle(&kernel).await;
    let blocked = bench.blocked().await;
    assert!(blocked[0].error.contains("security: event belongs to another tenant"), "{}", blocked[0].error);
    assert_eq!(bench.state::<Totals>("r").await, None);
}

/// T-05: a reader of one tenant finds nothing of another.
#[tokio::test(start_paused = true)]
async fn nothing_of_one_tenant_is_found_under_another() {
    let bench = Bench::new();
    let kernel = bench.kernel().pipeline(pipeline()).start().unwrap();
    kernel.send(note("r", 0, 7)).await.unwrap();
    idle(&kernel).await;
    let reader = bench.reader();
    let other = tenant("b");
    assert!(reader.state::<Totals, Run>(&crate::support::key("b", "r")).await.unwrap().is_none());
    assert!(reader.states::<Totals>(&other, None, Limits::items(10)).await.unwrap().items.is_empty());
    assert!(reader.records::<Odds>(&other, Some("r"), None, Limits::items(10)).await.unwrap().items.is_empty());
    let mine = tenant("a");
    assert_eq!(reader.states::<Totals>(&mine, None, Limits::items(10)).await.unwrap().items.len(), 1);
    let from = reader.states::<Totals>(&mine, None, Limits::items(1)).await.unwrap().next;
    assert!(from.is_none());
}

/// A trace context that would not fit into the headers of the jobs that follow is left out where it comes in.
///
/// G2
#[tokio::test(start_paused = true)]
async fn no_header_outgrows_its_job_on_the_way() {
    let bench = Bench::new();
    let heard: Arc<Heard<Total>> = Heard::new();
    let pipeline = Pipeline::<Run>::define("runs")
        .declares::<Note>()
        .fold::<Totals>(|f| f.subscriber(Ear::<_, _, All>::new(&heard), Dispatch::each()))
        .build()
        .unwrap();
    let kernel = bench.kernel().pipeline(pipeline).start().unwrap();
    let mut accepted = 0;
    // With and without room for the longer route of a subscriber.
    for length in [55, 256, 257].into_iter().chain((3_300..3_700).step_by(3)) {
        let origin = foldwright_domain::Origin {
            trace_context: Some("t".repeat(length).into()),
            ..foldwright_domain::Origin::default()
        };
        let run = "r".repeat(512);
        accepted += usize::from(kernel.send(note(&run, length as i64, 1).caused_by(origin)).await.is_ok());
    }
    idle(&kernel).await;
    assert_eq!(accepted, 137, "a broken trace context refuses no command");
    assert_eq!(heard.runs().len(), accepted);
    let stream = crate::support::key::<Run>("a", &"r".repeat(512)).erase();
    let events = bench.ports.log.load(&stream, None, Limits::items(1_000)).await.unwrap().items;
    let passed_on: Vec<_> = events.iter().filter_map(|event| event.meta.trace_context.clone()).collect();
    assert_eq!(passed_on.iter().map(|context| context.len()).collect::<Vec<_>>(), [55, 256]);
    assert!(bench.blocked().await.is_empty());
}

/// B-18: the state that a run was to see is gone; it sees the current one.
#[tokio::test(start_paused = true)]
async fn a_run_whose_state_is_gone_sees_the_current_one() {
    let bench = Bench::new();
    let heard: Arc<Heard<String>> = Heard::new();
    let odds: Arc<Heard<u64>> = Heard::new();
    let wait = Dispatch::delayed(Duration::from_secs(60));
    let pipeline = Pipeline::<Run>::define("runs")
        .declares::<Note>()
        .fold::<Last>(|f| f.subscriber(Ear::<_, _, All>::new(&heard), wait))
        .map::<Odds>(|m| m.subscriber(Ear::<_, _, All>::new(&odds), wait))
        .build()
        .unwrap();
    let kernel = bench.kernel().pipeline(pipeline).start().unwrap();
    kernel.send_all([bulky(0, 7, 20_000), bulky(1, 9, 20_000)]).await.unwrap();
    kernel.caught_up(|_| {}).await.unwrap();
    bench.purge_bodies().await;
    idle(&kernel).await;
    let mut numbers = heard.numbers();
    numbers.sort_unstable();
    assert_eq!(numbers, [7, 9]);
    assert!(heard.runs().iter().all(|run| run.state == noise(20_000, 9)));
    assert_eq!(odds.runs().len(), 2);
    assert_eq!(kernel.counters().states_missing.get(), 2);
    assert!(bench.blocked().await.is_empty());
}
