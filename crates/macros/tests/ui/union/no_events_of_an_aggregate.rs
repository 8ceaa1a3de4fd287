use foldwright_domain::{Aggregate, AggregateType, EventsOf};
use foldwright_macros::{Event, Union};

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

#[derive(Union)]
#[union(crate = foldwright_domain)]
enum Billing {
    Run(RunEvent),
}

fn fold_without_key<A, E: EventsOf<A>>() {}

fn main() {
    fold_without_key::<Run, RunEvent>();
    fold_without_key::<Run, Billing>();
}
