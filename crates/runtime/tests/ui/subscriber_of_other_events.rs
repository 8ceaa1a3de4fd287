#[path = "../it/support/runs.rs"]
#[allow(dead_code)]
mod runs;

use foldwright_domain::{Dispatch, Recorded};
use foldwright_runtime::{EffectError, Pipeline, Subscriber};
use runs::{Endings, Run, Total, Totals};

struct Ended;

impl Subscriber for Ended {
    type On = Endings;
    type State = Total;
    const NAME: &'static str = "ended";

    async fn run(&self, _event: &Recorded<Endings>, _total: &Total) -> Result<(), EffectError> {
        Ok(())
    }
}

/// S-01
fn main() {
    Pipeline::<Run>::define("runs").fold::<Totals>(|f| f.subscriber(Ended, Dispatch::each()));
}
