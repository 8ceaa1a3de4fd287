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
    #[upcast(from = "2025-01-01", to = "2026-03-01", with = widen)]
    Queued(u32),
}

fn widen(old: u8) -> u16 {
    old.into()
}

fn main() {}
