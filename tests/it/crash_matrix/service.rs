//! The service that dies: a command of each kind, a fold of each kind, a map.
use foldwright::{
    domain::{Aggregate, AggregateType, Decider},
    prelude::{
        AggregateId, ByOccurrence, Command, Commutative, Declares, Event, Fold, Handler, Intent, InvalidId,
        KeyedFold, Map, Millis, Recorded, Rejected,
    },
};
use serde::{Deserialize, Serialize};
use std::{
    ops::Range,
    sync::atomic::{AtomicBool, Ordering},
};

/// Whether what is broken at first has been mended in this process.
pub(super) static MENDED: AtomicBool = AtomicBool::new(false);

pub(super) fn is_mended() -> bool {
    MENDED.load(Ordering::Relaxed)
}

/// A run of this name cannot be finished until it is mended.
pub(super) const BROKEN: &str = "broken";
/// No subscriber of the numbers takes this one until it is mended.
pub(super) const REFUSED: u64 = 13;
/// A subscriber takes longer over this one than a third of a lease.
pub(super) const SLOW: u64 = 5;
/// How many seats a run has of which they are taken.
pub(super) const SEATS: u64 = 2;

pub(super) enum Run {}

impl Aggregate for Run {
    const TYPE: AggregateType = AggregateType::new("run");
    type Event = RunEvent;
}

#[derive(Event)]
#[event(aggregate = Run, prefix = "test.crash.run")]
pub(super) enum RunEvent {
    #[event(name = "noted", version = "2026-01-01")]
    Noted(Noted),
    #[event(name = "finished", version = "2026-01-01")]
    Finished(Finished),
}

impl RunEvent {
    /// The number that it brings; 0 for an ending.
    pub(super) fn n(&self) -> u64 {
        match self {
            Self::Noted(noted) => noted.n,
            Self::Finished(_) => 0,
        }
    }

    /// The sender's name for its command.
    pub(super) fn by(&self) -> &str {
        match self {
            Self::Noted(noted) => &noted.by,
            Self::Finished(finished) => &finished.by,
        }
    }

    pub(super) fn run(&self) -> &str {
        match self {
            Self::Noted(noted) => &noted.run,
            Self::Finished(finished) => &finished.run,
        }
    }
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) struct Noted {
    pub(super) run: String,
    pub(super) n: u64,
    pub(super) by: String,
    pub(super) text: String,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) struct Finished {
    pub(super) run: String,
    pub(super) by: String,
    pub(super) part: u64,
}

/// A number, without an idempotency key.
pub(super) enum Note {}

impl Declares for Note {
    type Of = Run;
    type Data = Noted;
    const NAME: &'static str = "note";

    fn aggregate_id(data: &Noted) -> Result<AggregateId, InvalidId> {
        AggregateId::parse(data.run.as_str())
    }
}

/// Several events at once, under an idempotency key.
#[derive(Serialize, Deserialize)]
pub(super) struct Finish {
    pub(super) run: String,
    pub(super) by: String,
    pub(super) parts: u64,
}

impl Command for Finish {
    type Of = Run;
    const NAME: &'static str = "finish";

    fn aggregate_id(&self) -> Result<AggregateId, InvalidId> {
        AggregateId::parse(self.run.as_str())
    }

    fn idempotency_key(&self) -> Option<String> {
        Some(self.by.clone())
    }
}

impl Handler for Finish {
    fn handle(intent: &Intent<Self>) -> Result<Vec<RunEvent>, Rejected> {
        let Self { run, by, parts } = &intent.payload;
        assert!(run != BROKEN || is_mended(), "this run cannot be finished yet");
        let part = |part| {
            RunEvent::Finished(Finished {
                run: run.clone(),
                by: by.clone(),
                part,
            })
        };
        Ok((0..*parts).map(part).collect())
    }
}

/// Takes a seat, while there is one.
#[derive(Serialize, Deserialize)]
pub(super) struct Take {
    pub(super) run: String,
    pub(super) n: u64,
    pub(super) by: String,
}

impl Command for Take {
    type Of = Run;
    const NAME: &'static str = "take";

    fn aggregate_id(&self) -> Result<AggregateId, InvalidId> {
        AggregateId::parse(self.run.as_str())
    }

    fn idempotency_key(&self) -> Option<String> {
        Some(self.by.clone())
    }
}

impl Decider for Take {
    type Fold = Totals;

    fn decide(intent: &Intent<Self>, total: &Total) -> Result<Vec<RunEvent>, Rejected> {
        let Self { run, n, by } = &intent.payload;
        if total.events >= SEATS {
            return Err(Rejected::new("full", "no seat is left"));
        }
        Ok(vec![RunEvent::Noted(Noted {
            run: run.clone(),
            n: *n,
            by: by.clone(),
            text: String::new(),
        })])
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Total {
    pub(super) events: u64,
    pub(super) sum: u64,
}

impl Total {
    fn with(self, event: &Recorded<RunEvent>) -> Self {
        Self {
            events: self.events + 1,
            sum: self.sum + event.data.n(),
        }
    }
}

pub(super) enum Totals {}

impl Fold for Totals {
    type On = RunEvent;
    type State = Total;
    type Order = Commutative;
    const NAME: &'static str = "totals";
    const VERSION: u32 = 1;

    fn init() -> Total {
        Total::default()
    }

    fn apply(total: Total, event: &Recorded<RunEvent>) -> Total {
        total.with(event)
    }
}

/// As the totals, in a table of the user's own.
pub(super) enum Shelf {}

impl Fold for Shelf {
    type On = RunEvent;
    type State = Total;
    type Order = Commutative;
    const NAME: &'static str = "shelf";
    const VERSION: u32 = 1;

    fn init() -> Total {
        Total::default()
    }

    fn apply(total: Total, event: &Recorded<RunEvent>) -> Total {
        total.with(event)
    }
}

/// The numbers in canonical order.
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
        story.push(event.data.n());
        story
    }
}

/// By parity of the number, over all runs of a tenant.
pub(super) enum Parity {}

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
        total.with(event)
    }
}

impl KeyedFold for Parity {
    type Key = u64;

    fn key(event: &Recorded<RunEvent>) -> u64 {
        event.data.n() % 2
    }

    fn window(_key: &u64) -> Range<Millis> {
        Millis(i64::MIN)..Millis(i64::MAX)
    }
}

/// A line of each number.
pub(super) enum Lines {}

impl Map for Lines {
    type On = RunEvent;
    type Record = u64;
    const NAME: &'static str = "lines";
    const VERSION: u32 = 1;

    fn map(event: &Recorded<RunEvent>) -> Option<u64> {
        match &event.data {
            RunEvent::Noted(noted) => Some(noted.n),
            RunEvent::Finished(_) => None,
        }
    }
}
