use foldwright_domain::{Aggregate, AggregateType};
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

#[derive(Event)]
#[event(crate = foldwright_domain, aggregate = Trace, prefix = "ex.sim.trace")]
enum TraceEvent {
    #[event(name = "seen", version = "2026-03-01")]
    Seen(u32),
}

enum Trace {}

impl Aggregate for Trace {
    const TYPE: AggregateType = AggregateType::new("trace");
    type Event = TraceEvent;
}

#[derive(Union)]
#[union(crate = foldwright_domain)]
enum Inner {
    Run(RunEvent),
    Trace(TraceEvent),
}

#[derive(Union)]
#[union(crate = foldwright_domain)]
enum Outer {
    Inner(Inner),
}

fn main() {}
