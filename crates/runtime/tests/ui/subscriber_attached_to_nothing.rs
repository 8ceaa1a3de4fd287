#[path = "../it/support/runs.rs"]
#[allow(dead_code)]
mod runs;

use foldwright_domain::{Dispatch, Recorded};
use foldwright_runtime::{EffectError, Projection, Subscriber};
use runs::{RunEvent, Total};

struct Loose;

impl Subscriber for Loose {
    type On = RunEvent;
    type State = Total;
    const NAME: &'static str = "loose";

    async fn run(&self, _event: &Recorded<RunEvent>, _total: &Total) -> Result<(), EffectError> {
        Ok(())
    }
}

/// C-11: only a pipeline makes the projection that a subscriber is attached to.
fn main() {
    let nothing = Projection::<RunEvent, Total>::new();
    nothing.subscriber(Loose, Dispatch::each());
}
