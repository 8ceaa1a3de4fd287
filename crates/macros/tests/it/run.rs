//! The sample whose data has a history: `queued` has had three versions.
use foldwright_domain::{Aggregate, AggregateType};
use foldwright_macros::Event;
use serde::{Deserialize, Serialize};

#[derive(Debug)]
pub(crate) enum Run {}

impl Aggregate for Run {
    const TYPE: AggregateType = AggregateType::new("run");
    type Event = RunEvent;
}

#[derive(Event, Clone, PartialEq, Eq, Debug)]
#[event(crate = foldwright_domain, aggregate = Run, prefix = "ex.sim.run")]
pub(crate) enum RunEvent {
    #[event(name = "queued", version = "2026-03-01")]
    #[upcast(from = "2025-06-01", to = "2026-03-01", with = queued_v2_to_v3)]
    #[upcast(from = "2025-01-01", to = "2025-06-01", with = queued_v1_to_v2)]
    Queued(Queued),
    #[event(name = "finished", version = "2025-11-30")]
    Finished(Finished),
}

#[derive(Serialize, Deserialize, Clone, PartialEq, Eq, Debug)]
pub(crate) struct Queued {
    pub(crate) suite: String,
    pub(crate) cases: Vec<String>,
}

#[derive(Serialize, Deserialize, Clone, PartialEq, Eq, Debug)]
pub(crate) struct Finished {
    pub(crate) passed: bool,
}

#[derive(Deserialize)]
struct QueuedV1 {
    name: String,
}

#[derive(Deserialize)]
struct QueuedV2 {
    suite: String,
    cases: u32,
}

fn queued_v1_to_v2(old: QueuedV1) -> QueuedV2 {
    QueuedV2 {
        suite: old.name,
        cases: 1,
    }
}

fn queued_v2_to_v3(old: QueuedV2) -> Queued {
    Queued {
        suite: old.suite,
        cases: (1..=old.cases).map(|n| format!("case-{n}")).collect(),
    }
}
