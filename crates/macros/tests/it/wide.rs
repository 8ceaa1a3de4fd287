//! The sample with many events: a projection seldom wants all twelve.
use foldwright::domain::{Aggregate, AggregateType};
use foldwright_macros::Event;
use serde::{Deserialize, Serialize};

pub(crate) enum Step {}

impl Aggregate for Step {
    const TYPE: AggregateType = AggregateType::new("step");
    type Event = StepEvent;
}

macro_rules! data {
    ($($name:ident),*) => {$(
        #[derive(Serialize, Deserialize, Debug, Default, PartialEq)]
        pub(crate) struct $name {
            pub(crate) by: String,
        }
    )*};
}

data!(
    Archived, Cancelled, Failed, Finished, Paused, Queued, Renamed, Restored, Resumed, Retried, Started,
    Tagged
);

#[derive(Event, Debug, PartialEq)]
#[event(aggregate = Step, prefix = "ex.sim.step")]
pub(crate) enum StepEvent {
    #[event(name = "archived", version = "2026-03-01")]
    Archived(Archived),
    #[event(name = "cancelled", version = "2026-03-01")]
    Cancelled(Cancelled),
    #[event(name = "failed", version = "2026-03-01")]
    Failed(Failed),
    #[event(name = "finished", version = "2026-03-01")]
    #[upcast(from = "2025-01-01", to = "2026-03-01", with = finished_from_name)]
    Finished(Finished),
    #[event(name = "paused", version = "2026-03-01")]
    Paused(Paused),
    #[event(name = "queued", version = "2026-03-01")]
    Queued(Queued),
    #[event(name = "renamed", version = "2026-03-01")]
    Renamed(Renamed),
    #[event(name = "restored", version = "2026-03-01")]
    Restored(Restored),
    #[event(name = "resumed", version = "2026-03-01")]
    Resumed(Resumed),
    #[event(name = "retried", version = "2026-03-01")]
    Retried(Retried),
    #[event(name = "started", version = "2026-03-01")]
    Started(Started),
    #[event(name = "tagged", version = "2026-03-01")]
    Tagged(Tagged),
}

fn finished_from_name(by: String) -> Finished {
    Finished { by }
}

/// One event of each kind.
pub(crate) fn one_of_each() -> [StepEvent; 12] {
    [
        Archived::default().into(),
        Cancelled::default().into(),
        Failed::default().into(),
        Finished::default().into(),
        Paused::default().into(),
        Queued::default().into(),
        Renamed::default().into(),
        Restored::default().into(),
        Resumed::default().into(),
        Retried::default().into(),
        Started::default().into(),
        Tagged::default().into(),
    ]
}
