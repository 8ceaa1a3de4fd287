use foldwright_domain::{Aggregate, AggregateType, Commutative, Fold, Recorded};
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
    #[event(name = "tagged", version = "2026-03-01")]
    Tagged(String),
}

#[derive(Subset)]
#[subset(crate = foldwright_domain, of = RunEvent)]
enum Lifecycle {
    Queued(u32),
    Finished(bool),
}

struct Waiting;

impl Fold for Waiting {
    type On = Lifecycle;
    type State = bool;
    type Order = Commutative;
    const NAME: &'static str = "waiting";
    const VERSION: u32 = 1;

    fn init() -> bool {
        false
    }

    fn apply(_: bool, event: &Recorded<Lifecycle>) -> bool {
        match &event.data {
            Lifecycle::Queued(_) => true,
        }
    }
}

fn main() {}
