#[path = "../it/support/runs.rs"]
#[allow(dead_code)]
mod runs;

use foldwright_domain::{Intent, Millis};
use runs::Finish;

/// T-01
fn main() {
    Intent::new(
        "acme",
        Millis(0),
        Finish {
            run: "r".into(),
            times: 1,
        },
    );
}
