#[path = "../it/support/runs.rs"]
#[allow(dead_code)]
mod runs;

#[path = "../it/support/suites.rs"]
#[allow(dead_code)]
mod suites;

use foldwright_runtime::Pipeline;
use runs::Run;
use suites::Usage;

/// events of several aggregates have no order, so they need a key.
fn main() {
    Pipeline::<Run>::define("runs").fold::<Usage>(|f| f);
}
