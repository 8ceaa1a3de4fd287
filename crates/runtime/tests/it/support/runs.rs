//! Test runs that are queued, log numbers and finish.
use foldwright_domain::{
    Aggregate, AggregateId, AggregateType, ByOccurrence, Command, Commutative, Declares, Fold, Handler,
    Intent, InvalidId, KeyedFold, Map, Millis, Recorded, Rejected,
};
use foldwright_macros::{Event, Subset};
use serde::{Deserialize, Serialize};
use std::{collections::BTreeMap, ops::Range, sync::Mutex};

pub(crate) enum Run {}

impl Aggregate for Run {
    const TYPE: AggregateType = AggregateType::new("run");
    type Event = RunEvent;
}

#[derive(Event)]
#[event(aggregate = Run, prefix = "test.sim.run", crate = foldwright_domain)]
pub(crate) enum RunEvent {
    #[event(name = "noted", version = "2026-01-01")]
    Noted(Noted),
    #[event(name = "finished", version = "2026-01-01")]
    Finished(Finished),
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Noted {
    pub(crate) run: String,
    pub(crate) n: u64,
    pub(crate) key: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Finished {
    pub(crate) run: String,
}

#[derive(Subset)]
#[subset(of = RunEvent, crate = foldwright_domain)]
pub(crate) enum Endings {
    Finished(Finished),
}

pub(crate) enum Note {}

impl Declares for Note {
    type Of = Run;
    type Data = Noted;
    const NAME: &'static str = "note";

    fn aggregate_id(data: &Noted) -> Result<AggregateId, InvalidId> {
        AggregateId::parse(data.run.as_str())
    }

    fn idempotency_key(data: &Noted) -> Option<String> {
        data.key.clone()
    }
}

/// Finishes a run; a run named `no` is refused.
#[derive(Serialize, Deserialize)]
pub(crate) struct Finish {
    pub(crate) run: String,
    pub(crate) times: usize,
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
        let Self { run, times } = &intent.payload;
        if run == "no" {
            return Err(Rejected::new("not_this_one", "a run named no does not finish"));
        }
        Ok((0..*times)
            .map(|_| RunEvent::Finished(Finished { run: run.clone() }))
            .collect())
    }
}

/// A number for a run, its commands spread over eight groups.
pub(crate) enum Spread {}

impl Declares for Spread {
    type Of = Run;
    type Data = Noted;
    const NAME: &'static str = "spread";

    fn aggregate_id(data: &Noted) -> Result<AggregateId, InvalidId> {
        AggregateId::parse(data.run.as_str())
    }

    fn group_key(data: &Noted) -> Option<String> {
        Some((data.n % 8).to_string())
    }
}

/// A command with a hook, which counts its runs in [`HOOKS`].
#[derive(Serialize, Deserialize)]
pub(crate) struct Hooked {
    pub(crate) run: String,
    pub(crate) then: Hook,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) enum Hook {
    Reject,
    Nothing,
    Event,
    EventAndPanic,
    PanicInHandle,
    PanicInKey,
}

/// How often the hook of each run was called.
pub(crate) static HOOKS: Mutex<BTreeMap<String, u32>> = Mutex::new(BTreeMap::new());

impl Command for Hooked {
    type Of = Run;
    const NAME: &'static str = "hooked";

    fn aggregate_id(&self) -> Result<AggregateId, InvalidId> {
        AggregateId::parse(self.run.as_str())
    }

    fn idempotency_key(&self) -> Option<String> {
        assert!(self.then != Hook::PanicInKey, "the key panics");
        None
    }

    fn after_store(intent: &Intent<Self>) {
        *HOOKS
            .lock()
            .unwrap()
            .entry(intent.payload.run.clone())
            .or_default() += 1;
        assert!(intent.payload.then != Hook::EventAndPanic, "the hook panics");
    }
}

impl Handler for Hooked {
    fn handle(intent: &Intent<Self>) -> Result<Vec<RunEvent>, Rejected> {
        let Self { run, then } = &intent.payload;
        match then {
            Hook::Reject => Err(Rejected::new("no", "as the test says")),
            Hook::Nothing => Ok(Vec::new()),
            Hook::Event | Hook::EventAndPanic | Hook::PanicInKey => {
                Ok(vec![RunEvent::Finished(Finished { run: run.clone() })])
            }
            Hook::PanicInHandle => panic!("the handler panics"),
        }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Total {
    pub(crate) events: u64,
    pub(crate) sum: u64,
}

pub(crate) enum Totals {}

impl Fold for Totals {
    type On = RunEvent;
    type State = Total;
    type Order = Commutative;
    const NAME: &'static str = "totals";
    const VERSION: u32 = 1;

    fn init() -> Total {
        Total::default()
    }

    fn apply(mut total: Total, event: &Recorded<RunEvent>) -> Total {
        total.events += 1;
        match &event.data {
            RunEvent::Noted(noted) => {
                assert!(noted.n != 666, "apply refuses 666");
                total.sum += noted.n;
            }
            RunEvent::Finished(_) => {}
        }
        total
    }
}

/// The numbers in canonical order.
pub(crate) enum Story {}

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
        match &event.data {
            RunEvent::Noted(noted) => story.push(noted.n),
            RunEvent::Finished(_) => story.push(0),
        }
        story
    }
}

/// The numbers in canonical order, of which the last four may still change places.
pub(crate) enum Supple {}

impl Fold for Supple {
    type On = RunEvent;
    type State = Vec<u64>;
    type Order = ByOccurrence;
    const NAME: &'static str = "supple";
    const VERSION: u32 = 1;
    const REORDER_WINDOW: usize = 4;

    fn init() -> Vec<u64> {
        Vec::new()
    }

    fn apply(story: Vec<u64>, event: &Recorded<RunEvent>) -> Vec<u64> {
        Story::apply(story, event)
    }
}

/// A state that always looks empty.
pub(crate) enum Blank {}

impl Fold for Blank {
    type On = RunEvent;
    type State = ();
    type Order = Commutative;
    const NAME: &'static str = "blank";
    const VERSION: u32 = 1;

    fn init() {}

    fn apply((): (), _event: &Recorded<RunEvent>) {}
}

/// Endings alone: two kinds of events, one is read.
pub(crate) enum Ends {}

impl Fold for Ends {
    type On = Endings;
    type State = u64;
    type Order = Commutative;
    const NAME: &'static str = "ends";
    const VERSION: u32 = 1;

    fn init() -> u64 {
        0
    }

    fn apply(ends: u64, event: &Recorded<Endings>) -> u64 {
        match &event.data {
            Endings::Finished(_) => ends + 1,
        }
    }
}

/// By parity of the number, over all runs of a tenant.
pub(crate) enum Parity {}

impl Fold for Parity {
    type On = RunEvent;
    type State = Total;
    type Order = Commutative;
    const NAME: &'static str = "parity";
    const VERSION: u32 = 1;

    fn init() -> Total {
        Total::default()
    }

    fn apply(total: Total, event: &Recorded<RunEvent>) -> Total {
        Totals::apply(total, event)
    }
}

impl KeyedFold for Parity {
    type Key = u64;

    fn key(event: &Recorded<RunEvent>) -> u64 {
        match &event.data {
            RunEvent::Noted(noted) => noted.n % 2,
            RunEvent::Finished(_) => 0,
        }
    }

    fn window(_key: &u64) -> Range<Millis> {
        Millis(i64::MIN)..Millis(i64::MAX)
    }
}

/// A row of each odd number.
pub(crate) enum Odds {}

impl Map for Odds {
    type On = RunEvent;
    type Record = u64;
    const NAME: &'static str = "odds";
    const VERSION: u32 = 1;

    fn map(event: &Recorded<RunEvent>) -> Option<u64> {
        match &event.data {
            RunEvent::Noted(noted) => (noted.n % 2 == 1).then_some(noted.n),
            RunEvent::Finished(_) => None,
        }
    }
}
