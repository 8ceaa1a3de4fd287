//! Bodies of jobs, small and large.
use crate::support::{
    All, Bench, ByNumber, Ear, Evens, Faults, Heard, InOrder, Last, Manner, Note, Noted, Odds, Op, Reaction,
    Run, RunEvent, Sibling, Story, Total, Totals, What, at, bulky, idle, noise, tenant, until,
};
use foldwright_domain::{Declared, Dispatch, Intent};
use foldwright_ports::Kind;
use foldwright_runtime::{Pipeline, Role, SendRefused};
use std::{sync::Arc, time::Duration};

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

/// B-01, B-03
#[tokio::test(start_paused = true)]
async fn a_body_is_inline_hot_or_cold_and_its_reader_sees_no_difference() {
    for (bytes, hot, cold) in [(100, false, false), (20_000, true, false), (600_000, false, true)] {
        let bench = Bench::new();
        let kernel = bench.kernel().pipeline(pipeline()).start().unwrap();
        kernel.send(bulky(0, 7, bytes)).await.unwrap();
        idle(&kernel).await;
        assert_eq!(bench.state::<Last>("r").await, Some(noise(bytes, 7)));
        assert_eq!(
            bench.state::<Totals>("r").await,
            Some(Total { events: 1, sum: 7 })
        );
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
                .subscriber(
                    ear::<ByNumber>(&heard),
                    Dispatch::debounce(Duration::from_secs(1)),
                )
        })
        .build()
        .unwrap();
    let kernel = bench.kernel().pipeline(pipeline).start().unwrap();
    kernel.send(bulky(0, 8, 20_000)).await.unwrap();
    idle(&kernel).await;
    assert_eq!(heard.numbers(), [8; 5]);
    assert!(heard.runs().iter().all(|run| run.state == noise(20_000, 8)));
    let [hot, cold] = bench.bodies().await;
    assert_eq!(
        (hot.len(), cold.len()),
        (3, 0),
        "the command, the event and the state"
    );
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
    until(async || heard.calls() >= 1).await;
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
    let intent = Intent::new(
        tenant("a"),
        at(0),
        Declared::<Note>(Noted {
            run: "r".into(),
            n: 1,
            key,
        }),
    );
    let error = kernel.send(intent).await.unwrap_err();
    assert!(
        matches!(error.refused, SendRefused::TooLarge(_)),
        "{}",
        error.refused
    );
    assert!(!error.refused.is_retryable());
    assert_eq!(error.intents.len(), 1);
    assert_eq!(bench.bodies().await, [Vec::new(), Vec::new()]);
    assert_eq!(
        kernel.backlog().await.unwrap(),
        foldwright_runtime::Backlog::default()
    );
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
}

impl foldwright_domain::Handler for Swell {
    fn handle(intent: &Intent<Self>) -> Result<Vec<RunEvent>, foldwright_domain::Rejected> {
        let key = Some("x".repeat(intent.payload.bytes));
        Ok(vec![RunEvent::Noted(Noted {
            run: "r".into(),
            n: 1,
            key,
        })])
    }
}

/// B-04, G2: what could reach no projection is not appended either.
#[tokio::test(start_paused = true)]
async fn an_event_over_fifty_mebibytes_is_quarantined_before_it_is_appended() {
    let bench = Bench::new();
    let pipeline = Pipeline::<Run>::define("runs")
        .command::<Swell>()
        .fold::<Totals>(|f| f)
        .build()
        .unwrap();
    let kernel = bench.kernel().pipeline(pipeline).start().unwrap();
    // The data alone would fit, with its envelope it does not.
    let intent = Intent::new(
        tenant("a"),
        at(0),
        Swell {
            bytes: (50 << 20) - 64,
        },
    );
    kernel.send(intent).await.unwrap();
    idle(&kernel).await;
    let blocked = bench.blocked().await;
    assert_eq!(blocked.len(), 1);
    assert!(
        blocked[0].error.contains("a body has at most"),
        "{}",
        blocked[0].error
    );
    assert!(bench.reader().tenants().await.unwrap().is_empty());
}

/// B-04: of a declared command the event is as large as the payload: what would not fit into its job is refused at once.
#[tokio::test(start_paused = true)]
async fn what_the_event_could_not_carry_is_refused_at_the_sender() {
    let bench = Bench::new();
    let kernel = bench.kernel().pipeline(pipeline()).start().unwrap();
    let intent = |bytes: usize| {
        let run = "x".repeat(bytes);
        // Twice as large as its key, which the envelope repeats.
        let key = Some(run);
        Intent::new(
            tenant("a"),
            at(0),
            Declared::<Note>(Noted {
                run: "r".into(),
                n: 1,
                key,
            }),
        )
    };
    let error = kernel.send(intent(25 << 20)).await.unwrap_err();
    assert!(
        matches!(error.refused, SendRefused::TooLarge(_)),
        "{}",
        error.refused
    );
    assert_eq!(
        kernel.backlog().await.unwrap(),
        foldwright_runtime::Backlog::default()
    );
    kernel.send(intent((25 << 20) - (4 << 10))).await.unwrap();
    idle(&kernel).await;
    assert!(bench.blocked().await.is_empty(), "what is accepted fits");
    assert_eq!(
        bench.state::<Totals>("r").await,
        Some(Total { events: 1, sum: 1 })
    );
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
        assert_eq!(
            kernel.backlog().await.unwrap(),
            foldwright_runtime::Backlog::default()
        );
    }
    // Behind the append it is the command that waits; no job points to a body that is not there.
    faults.times(Op::Put, "", 1, 3, What::Fail(Kind::Timeout));
    kernel.send(bulky(0, 7, 20_000)).await.unwrap();
    idle(&kernel).await;
    assert_eq!(bench.state::<Story>("r").await, Some(vec![7]));
    assert!(bench.blocked().await.is_empty());
}

/// B-17: an hour's grace and a sweep a minute bound what lies in the tiers, however long the load lasts.
#[tokio::test(start_paused = true)]
async fn steady_load_leaves_a_bounded_number_of_bodies() {
    let bench = Bench::new();
    let pipeline = Pipeline::<Run>::define("runs")
        .declares::<Note>()
        .fold::<Totals>(|f| f)
        .build()
        .unwrap();
    let kernel = bench.kernel().pipeline(pipeline).start().unwrap();
    let mut most = 0;
    for minute in 0..180_u32 {
        kernel
            .send(bulky(i64::from(minute) * 60_000, u64::from(minute), 20_000))
            .await
            .unwrap();
        tokio::time::sleep(Duration::from_secs(60)).await;
        let [hot, cold] = bench.bodies().await;
        assert!(cold.is_empty());
        most = most.max(hot.len());
    }
    // Two bodies a minute, the command's and the event's, for an hour and two or three looks of the sweep.
    assert!((120..=128).contains(&most), "{most} bodies at most");
    kernel.close().await;
}
