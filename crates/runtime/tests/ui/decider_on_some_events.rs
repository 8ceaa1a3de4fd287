#[path = "../it/support/runs.rs"]
#[allow(dead_code)]
mod runs;

use foldwright_domain::{AggregateId, Command, Decider, Intent, InvalidId, Rejected};
use runs::{Ends, Run, RunEvent};
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

/// C-05: a count of some events says nothing of the aggregate
impl Decider for Reopen {
    type Fold = Ends;

    fn decide(_: &Intent<Self>, _: &u64) -> Result<Vec<RunEvent>, Rejected> {
        Ok(Vec::new())
    }
}

fn main() {}
