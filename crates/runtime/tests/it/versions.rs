//! Two builds of a service on one store.
use crate::support::{
    All, Bench, Ear, Endings, Faults, Finish, Finished, Heard, Note, Op, Run, RunEvent, Story, Total, Totals, What, at,
    finish, idle, note, tenant,
};
use foldwright_domain::{
    AggregateId, Commutative, Declared, Dispatch, Fold, Intent, InvalidId, KeyedFold, Millis, Recorded,
};
use foldwright_ports::{GroupId, Kind, StateKey};
use foldwright_runtime::Pipeline;
use std::{ops::Range, sync::Arc, time::Duration};

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
        Total { events: total.events + 1, sum: total.sum + n }
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
    Pipeline::define("runs").declares::<Note>().command::<Finish>().fold::<Totals3>(|f| f).build().unwrap()
}

/// X-11
#[tokio::test(start_paused = true)]
async fn a_row_of_an_older_version_is_rebuilt_and_read_straight_back() {
    let bench = Bench::new();
    let heard = Heard::new();
    let old = bench.kernel().pipeline(with::<Totals>(Some(&heard))).start().unwrap();
    finish(&old, "r", 2).await;
    old.send(note("r", 1, 5)).await.unwrap();
    idle(&old).await;
    old.close().await;
    assert_eq!(bench.state::<Totals>("r").await, Some(Total { events: 3, sum: 5 }));
    let new = bench.kernel().pipeline(with::<Totals2>(Some(&heard))).start().unwrap();
    new.send(note("r", 2, 6)).await.unwrap();
    idle(&new).await;
    let row = bench.row::<Totals2>("r").await.unwrap();
    assert_eq!((row.state, row.fold_version), (Total { events: 4, sum: 211 }, 2));
    assert_eq!(new.counters().refolds.get(), 1);
    new.send(note("r", 3, 7)).await.unwrap();
    idle(&new).await;
    assert_eq!(bench.state::<Totals2>("r").await, Some(Total { events: 5, sum: 218 }));
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
    old.send_all([note("r", 1, 5), note("other", 1, 9)]).await.unwrap();
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert_eq!(bench.stored::<Totals2>("r").await.unwrap(), row);
    assert_eq!(old.counters().released.get(), 1, "released once, then not handed out to it any more");
    assert_eq!(bench.state::<Totals>("other").await, Some(Total { events: 1, sum: 9 }));
    let group = GroupId { tenant: tenant("a"), path: "fold/totals".into(), key: "run:r".into() };
    let view = bench.ports.queue_admin.group(&group).await.unwrap().unwrap();
    assert_eq!((view.depth, view.failures), (1, 0));
    let new = bench.kernel().pipeline(with::<Totals2>(None)).start().unwrap();
    idle(&new).await;
    assert_eq!(bench.state::<Totals2>("r").await, Some(Total { events: 2, sum: 105 }));
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

/// By the last digit instead of by parity.
enum Digits {}

/// Over all numbers, by parity.
enum Parities {}

impl Fold for Parities {
    type On = RunEvent;
    type State = Total;
    type Order = Commutative;
    const NAME: &'static str = "numbers";
    const VERSION: u32 = 1;

    fn init() -> Total {
        Total::default()
    }

    fn apply(total: Total, event: &Recorded<RunEvent>) -> Total {
        Totals::apply(total, event)
    }
}

impl KeyedFold for Parities {
    type Key = u64;

    fn key(event: &Recorded<RunEvent>) -> u64 {
        number(event) % 2
    }

    fn window(_key: &u64) -> Range<Millis> {
        Millis(i64::MIN)..Millis(i64::MAX)
    }
}

impl Fold for Digits {
    type On = RunEvent;
    type State = Total;
    type Order = Commutative;
    const NAME: &'static str = "numbers";
    const VERSION: u32 = 2;

    fn init() -> Total {
        Total::default()
    }

    fn apply(total: Total, event: &Recorded<RunEvent>) -> Total {
        Totals::apply(total, event)
    }
}

impl KeyedFold for Digits {
    type Key = u64;

    fn key(event: &Recorded<RunEvent>) -> u64 {
        number(event) % 10
    }

    fn window(_key: &u64) -> Range<Millis> {
        Millis(i64::MIN)..Millis(i64::MAX)
    }
}

fn number(event: &Recorded<RunEvent>) -> u64 {
    match &event.data {
        RunEvent::Noted(noted) => noted.n,
        RunEvent::Finished(_) => 0,
    }
}

/// X-11: keys may change with the version; a key then holds other events than before.
#[tokio::test(start_paused = true)]
async fn a_keyed_fold_whose_keys_change_is_rebuilt_under_the_new_keys() {
    let bench = Bench::new();
    let old = Pipeline::<Run>::define("runs").declares::<Note>().keyed::<Parities>(|f| f).build().unwrap();
    let old = bench.kernel().pipeline(old).start().unwrap();
    old.send_all((1..=20).map(|n| note("r", n as i64, n))).await.unwrap();
    idle(&old).await;
    old.close().await;
    assert_eq!(bench.keyed::<Parities>(&1).await, Some(Total { events: 10, sum: 100 }));
    let new = Pipeline::<Run>::define("runs").declares::<Note>().keyed::<Digits>(|f| f).build().unwrap();
    let new = bench.kernel().pipeline(new).start().unwrap();
    new.send_all([note("r", 21, 21), note("r", 22, 33)]).await.unwrap();
    idle(&new).await;
    assert!(bench.blocked().await.is_empty());
    assert_eq!(bench.keyed::<Digits>(&1).await, Some(Total { events: 3, sum: 33 }));
}

/// X-11: the old build dies between store and settle, the new one rebuilds; what was decided is not lost.
#[tokio::test(start_paused = true)]
async fn what_an_older_version_decided_and_never_staged_is_carried_over() {
    let bench = Bench::new();
    let heard = Heard::new();
    let faults = Arc::new(Faults::new());
    faults.once(Op::StoreRows, "totals", What::HangAfter);
    let old = bench.faulty(&faults).pipeline(with::<Totals>(Some(&heard))).start().unwrap();
    old.send(note("r", 1, 5)).await.unwrap();
    faults.hung(1).await;
    drop(old);
    assert!(heard.runs().is_empty());
    let new = bench.kernel().pipeline(with::<Totals2>(Some(&heard))).start().unwrap();
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
    let new = bench.faulty(&faults).pipeline(with::<Totals2>(None)).start().unwrap();
    new.send(note("r", 2, 6)).await.unwrap();
    idle(&new).await;
    assert_eq!(faults.count(Op::LoadEvents, ""), 6);
    assert_eq!(bench.state::<Totals2>("r").await, Some(Total { events: 2, sum: 11 }));
    let key = StateKey { tenant: tenant("a"), projection: "totals".into(), key: "r".into() };
    assert_eq!(bench.ports.folds.load(&[key]).await.unwrap()[0].as_ref().unwrap().events, 2);
}

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
        Pipeline::define("runs").declares::<Note>().fold::<Story>(|f| f).build().unwrap()
    }
}

/// L-11: an event that this build does not know is an error that names it, in its own job and in a refold.
#[tokio::test(start_paused = true)]
async fn an_event_of_a_newer_build_is_named_and_never_skipped() {
    let bench = Bench::new();
    let story = || Pipeline::<Run>::define("runs").declares::<Note>().fold::<Story>(|f| f).build().unwrap();
    let faults = Arc::new(Faults::new());
    faults.once(Op::LoadRows, "", What::Hang);
    let new = bench.faulty(&faults).pipeline(newer::pipeline()).start().unwrap();
    let noted = newer::Noted { run: "r".into(), n: 5, unit: "ms".into() };
    new.send(Intent::new(tenant("a"), at(5), Declared::<newer::Note>(noted))).await.unwrap();
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
    assert_eq!(bench.ports.queue_admin.drain(&blocked[0].group, 1).await.unwrap(), 1);
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
