#[path = "../it/support/runs.rs"]
#[allow(dead_code)]
mod runs;

use foldwright_domain::{AggregateId, Command, Decider, Intent, InvalidId, Rejected};
use foldwright_runtime::Pipeline;
use runs::{Run, RunEvent, Total, Totals};
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
struct Reopen;

impl Command for Reopen {
    type Of = Run;
    const NAME: &'static str = "reopen";

    fn aggregate_id(&self) -> Result<AggregateId, InvalidId> {
        AggregateId::parse("r")
    }
}

impl Decider for Reopen {
    type Fold = Totals;

    fn decide(_: &Intent<Self>, _: &Total) -> Result<Vec<RunEvent>, Rejected> {
        Ok(Vec::new())
    }
}

/// C-05: it would be run without its state
fn main() {
    let _ = Pipeline::<Run>::define("runs").command::<Reopen>();
}
