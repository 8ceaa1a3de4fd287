use foldwright_domain::{Aggregate, AggregateType};
use foldwright_macros::Event;

enum Run {}

impl Aggregate for Run {
    const TYPE: AggregateType = AggregateType::new("run");
    type Event = RunEvent;
}

#[derive(Event)]
#[event(crate = foldwright_domain, aggregate = Run, prefix = "ex.sim.run")]
enum RunEvent {
    #[event(name = "queued", version = "2026-03-01")]
    Queued(u32),
}

#[derive(Event)]
#[event(crate = foldwright_domain, aggregate = Run, prefix = "ex.sim.run")]
enum OtherEvent {
    #[event(name = "tagged", version = "2026-03-01")]
    Tagged(u32),
}

fn main() {}
