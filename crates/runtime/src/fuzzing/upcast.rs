//! Events of older versions, through what the derive writes.
use foldwright_domain::{
    Aggregate, AggregateType, ByOccurrence, DecodeError, Event as _, EventSet, Fold, Recorded,
};
use foldwright_macros::Event;
use serde::{Deserialize, Serialize};

/// What the events are of.
#[derive(Debug)]
pub(crate) enum Run {}

impl Aggregate for Run {
    const TYPE: AggregateType = AggregateType::new("run");
    type Event = RunEvent;
}

/// A type whose data had three versions, and one that has the first.
#[derive(Event, Clone, PartialEq, Debug)]
#[event(crate = foldwright_domain, aggregate = Run, prefix = "ex.sim.run")]
pub(crate) enum RunEvent {
    #[event(name = "queued", version = "2026-03-01")]
    #[upcast(from = "2025-06-01", to = "2026-03-01", with = split)]
    #[upcast(from = "2025-01-01", to = "2025-06-01", with = named)]
    Queued(Queued),
    #[event(name = "finished", version = "2025-11-30")]
    Finished(Finished),
}

#[derive(Serialize, Deserialize, Clone, PartialEq, Debug)]
pub(crate) struct Queued {
    suite: String,
    cases: Vec<String>,
    priority: Option<i64>,
}

#[derive(Serialize, Deserialize, Clone, PartialEq, Debug)]
pub(crate) struct Finished {
    passed: bool,
}

#[derive(Deserialize)]
struct QueuedOf2025 {
    name: String,
}

#[derive(Deserialize)]
struct QueuedOfJune {
    suite: String,
    cases: String,
}

fn named(old: QueuedOf2025) -> QueuedOfJune {
    QueuedOfJune {
        suite: old.name,
        cases: String::new(),
    }
}

fn split(old: QueuedOfJune) -> Queued {
    Queued {
        suite: old.suite,
        cases: old.cases.split(',').map(str::to_owned).collect(),
        priority: None,
    }
}

/// Types and versions, with whether the catalogue lists them.
const VERSIONS: [(&str, &str, bool); 7] = [
    ("ex.sim.run.queued", "2026-03-01", true),
    ("ex.sim.run.queued", "2025-06-01", true),
    ("ex.sim.run.queued", "2025-01-01", true),
    ("ex.sim.run.finished", "2025-11-30", true),
    ("ex.sim.run.finished", "2026-03-01", false),
    ("ex.sim.run.queued", "2027-01-01", false),
    ("ex.sim.run.lost", "2026-03-01", false),
];

/// A version's number, then the data. What decodes is today's event, and a version that nobody knows is called so
/// whatever its data is.
pub fn upcast(bytes: &[u8]) {
    let Some((number, data)) = bytes.split_first() else {
        return;
    };
    let Some((event_type, version, known)) = VERSIONS.get(usize::from(*number) % VERSIONS.len()) else {
        return;
    };
    match RunEvent::decode(event_type, version, data) {
        Ok(event) => {
            assert!(known, "an event that no catalogue lists");
            let today = event.descriptor();
            assert_eq!(today.event_type, *event_type);
            match event
                .encode()
                .map(|data| RunEvent::decode(today.event_type, today.version, &data))
            {
                Ok(Ok(again)) => assert_eq!(again, event),
                Ok(Err(error)) => panic!("{error}"),
                Err(error) => panic!("{error}"),
            }
        }
        Err(DecodeError::Unknown { .. }) => assert!(!known),
        Err(_) => assert!(known),
    }
}

/// A canonical fold with a window, for the notes that hold one.
pub(crate) struct Newest;

impl Fold for Newest {
    type On = RunEvent;
    type State = Vec<u8>;
    type Order = ByOccurrence;
    const NAME: &'static str = "newest";
    const VERSION: u32 = 1;
    const REORDER_WINDOW: usize = 8;

    fn init() -> Vec<u8> {
        Vec::new()
    }

    fn apply(state: Vec<u8>, _event: &Recorded<RunEvent>) -> Vec<u8> {
        state
    }
}
