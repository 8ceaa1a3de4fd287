//! What another build of the service left behind.
use crate::support::{
    All, Bench, Ear, Faults, Heard, Note, Op, Run, RunEvent, Story, Total, Totals, What, at, idle, note,
    tenant,
};
use foldwright_domain::{AggregateId, Commutative, Declared, Dispatch, Fold, Intent, InvalidId, Recorded};
use foldwright_runtime::Pipeline;
use std::{sync::Arc, time::Duration};

/// The service as a newer build knows it: its numbers have a unit.
mod newer {
    use super::{AggregateId, InvalidId};
    use foldwright_domain::{Aggregate, AggregateType, ByOccurrence, Declares, Fold, Recorded};
    use foldwright_macros::Event;
    use foldwright_runtime::Pipeline;
    use serde::{Deserialize, Serialize};

    pub(super) enum Run {}

    impl Aggregate for Run {
        const TYPE: AggregateType = AggregateType::new("run");
        type Event = RunEvent;
    }

    #[derive(Event)]
    #[event(aggregate = Run, prefix = "test.sim.run", crate = foldwright_domain)]
    pub(super) enum RunEvent {
        #[event(name = "noted", version = "2026-06-01")]
        Noted(Noted),
    }

    #[derive(Clone, Serialize, Deserialize)]
    pub(super) struct Noted {
        pub(super) run: String,
        pub(super) n: u64,
        pub(super) unit: String,
    }

    pub(super) enum Note {}

    impl Declares for Note {
        type Of = Run;
        type Data = Noted;
        const NAME: &'static str = "note_with_unit";

        fn aggregate_id(data: &Noted) -> Result<AggregateId, InvalidId> {
            AggregateId::parse(data.run.as_str())
        }
    }

    pub(super) enum Story {}

    impl Fold for Story {
        type On = RunEvent;
        type State = Vec<u64>;
        type Order = ByOccurrence;
        const NAME: &'static str = "story";
        const VERSION: u32 = 1;

        fn init() -> Vec<u64> {
            Vec::new()
        }

        fn apply(mut story: Vec<u64>, event: &Recorded<RunEvent>) -> Vec<u64> {
            let RunEvent::Noted(noted) = &event.data;
            story.push(noted.n);
            story
        }
    }

    pub(super) fn pipeline() -> Pipeline<Run> {
        Pipeline::define("runs")
            .declares::<Note>()
            .fold::<Story>(|f| f)
            .build()
            .unwrap()
    }
}

/// L-11: an event that this build does not know is an error that names it, in its own job and in a refold.
#[tokio::test(start_paused = true)]
async fn an_event_of_a_newer_build_is_named_and_never_skipped() {
    let bench = Bench::new();
    let story = || {
        Pipeline::<Run>::define("runs")
            .declares::<Note>()
            .fold::<Story>(|f| f)
            .build()
            .unwrap()
    };
    let faults = Arc::new(Faults::new());
    faults.once(Op::LoadRows, "", What::Hang);
    let new = bench.faulty(&faults).pipeline(newer::pipeline()).start().unwrap();
    let noted = newer::Noted {
        run: "r".into(),
        n: 5,
        unit: "ms".into(),
    };
    new.send(Intent::new(tenant("a"), at(5), Declared::<newer::Note>(noted)))
        .await
        .unwrap();
    faults.hung(1).await;
    drop(new);
    let old = bench.kernel().pipeline(story()).start().unwrap();
    old.send_all([note("r", 6, 6), note("fine", 6, 6)]).await.unwrap();
    tokio::time::sleep(Duration::from_secs(3 * 60 * 60)).await;
    let named = "unknown event test.sim.run.noted of 2026-06-01";
    let blocked = bench.blocked().await;
    assert_eq!(blocked.len(), 1);
    assert!(blocked[0].error.contains(named), "{}", blocked[0].error);
    assert_eq!(bench.stored::<Story>("r").await, None);
    assert_eq!(bench.state::<Story>("fine").await, Some(vec![6]));
    // Behind it in line, an event that this build knows finds it in the log.
    assert_eq!(
        bench.ports.queue_admin.drain(&blocked[0].group, 1).await.unwrap(),
        1
    );
    bench.ports.queue_admin.unblock(&blocked[0].group).await.unwrap();
    idle(&old).await;
    assert_eq!(bench.state::<Story>("r").await, Some(vec![6]));
    old.send(note("r", 4, 4)).await.unwrap();
    tokio::time::sleep(Duration::from_secs(3 * 60 * 60)).await;
    let blocked = bench.blocked().await;
    assert!(blocked[0].error.contains(named), "{}", blocked[0].error);
    assert_eq!(bench.state::<Story>("r").await, Some(vec![6]));
}

/// The texts of a run, as version 2 of a fold whose version 1 counted.
enum Texts {}

impl Fold for Texts {
    type On = RunEvent;
    type State = Vec<u64>;
    type Order = Commutative;
    const NAME: &'static str = Totals::NAME;
    const VERSION: u32 = 2;

    fn init() -> Vec<u64> {
        Vec::new()
    }

    fn apply(mut texts: Vec<u64>, event: &Recorded<RunEvent>) -> Vec<u64> {
        texts.push(match &event.data {
            RunEvent::Noted(noted) => noted.n,
            RunEvent::Finished(_) => 0,
        });
        texts
    }
}

/// S-12, X-11, B-18, G7: runs that wait while the state becomes another type are not lost.
#[tokio::test(start_paused = true)]
async fn a_run_whose_state_is_of_an_older_version_sees_the_current_one() {
    let bench = Bench::new();
    let (totals, texts) = (Heard::new(), Heard::new());
    let wait = Dispatch::delayed(Duration::from_secs(60));
    let old = Pipeline::<Run>::define("runs")
        .declares::<Note>()
        .fold::<Totals>(|f| f.subscriber(Ear::<_, Total, All>::new(&totals), wait))
        .build()
        .unwrap();
    let old = bench.kernel().pipeline(old).start().unwrap();
    old.send_all([note("r", 1, 5), note("s", 2, 6)]).await.unwrap();
    old.caught_up(|_| {}).await.unwrap();
    old.close().await;
    let new = Pipeline::<Run>::define("runs")
        .declares::<Note>()
        .fold::<Texts>(|f| f.subscriber(Ear::<_, Vec<u64>, All>::new(&texts), wait))
        .build()
        .unwrap();
    let new = bench.kernel().pipeline(new).start().unwrap();
    // One row is rebuilt before its run, the other is still of version 1 then.
    new.send(note("s", 3, 7)).await.unwrap();
    idle(&new).await;
    assert!(bench.blocked().await.is_empty());
    let mut runs: Vec<_> = texts.runs().into_iter().map(|run| (run.n, run.state)).collect();
    runs.sort_unstable();
    assert_eq!(runs, [(5, vec![5]), (6, vec![6, 7]), (7, vec![6, 7])]);
    assert_eq!(new.counters().states_missing.get(), 2);
    assert!(totals.runs().is_empty());
}
