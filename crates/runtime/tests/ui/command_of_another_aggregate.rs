#[path = "../it/support/runs.rs"]
#[allow(dead_code)]
mod runs;

use foldwright_domain::{Aggregate, AggregateType};
use foldwright_macros::Event;
use foldwright_runtime::Pipeline;
use runs::Finish;

enum Step {}

impl Aggregate for Step {
    const TYPE: AggregateType = AggregateType::new("step");
    type Event = StepEvent;
}

#[derive(Event)]
#[event(aggregate = Step, prefix = "test.sim.step", crate = foldwright_domain)]
enum StepEvent {
    #[event(name = "taken", version = "2026-01-01")]
    Taken(u32),
}

/// C-11
fn main() {
    Pipeline::<Step>::define("steps").command::<Finish>();
}
