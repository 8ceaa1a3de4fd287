use foldwright_domain::{Aggregate, AggregateType};
use foldwright_macros::{Event, Subset};

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
    #[event(name = "finished", version = "2026-03-01")]
    Finished(bool),
}

#[derive(Subset)]
#[subset(crate = foldwright_domain, of = RunEvent)]
enum Lifecycle {
    Queued(u32),
    Finnished(bool),
}

fn main() {}
