#[path = "../it/support/runs.rs"]
#[allow(dead_code)]
mod runs;

use foldwright_domain::{Dispatch, Recorded};
use foldwright_runtime::{EffectError, Pipeline, Subscriber};
use runs::{Run, RunEvent, Totals};

struct Counts;

impl Subscriber for Counts {
    type On = RunEvent;
    type State = u64;
    const NAME: &'static str = "counts";

    async fn run(&self, _event: &Recorded<RunEvent>, _count: &u64) -> Result<(), EffectError> {
        Ok(())
    }
}

/// S-01
fn main() {
    Pipeline::<Run>::define("runs").fold::<Totals>(|f| f.subscriber(Counts, Dispatch::each()));
}
