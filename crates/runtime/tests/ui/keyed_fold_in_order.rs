#[path = "../it/support/runs.rs"]
#[allow(dead_code)]
mod runs;

use foldwright_domain::{KeyedFold, Millis, Recorded};
use runs::{RunEvent, Story};

/// canonical order is an order within one aggregate.
impl KeyedFold for Story {
    type Key = u64;

    fn key(_event: &Recorded<RunEvent>) -> u64 {
        0
    }

    fn window(_key: &u64) -> std::ops::Range<Millis> {
        Millis(0)..Millis(1)
    }
}

fn main() {}
