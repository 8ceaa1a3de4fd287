#[path = "../it/support/runs.rs"]
#[allow(dead_code)]
mod runs;

use foldwright_runtime::Pipeline;
use runs::{Finish, Run};

/// C-11
fn main() {
    let pipeline = Pipeline::<Run>::define("runs").command::<Finish>();
    pipeline.send(Finish {
        run: "r".into(),
        times: 1,
    });
}
