//! Random histories.
use crate::{
    Sample, Seeded,
    timeline::{START, Timeline},
};
use foldwright_domain::RawEvent;
use std::time::Duration;

/// No history is longer.
const MOST_EVENTS: u64 = 24;

/// So many minutes; fewer than events, so that some happen at one instant.
const MINUTES: u64 = 16;

/// Events in the order in which they were accepted, at business times in any order.
pub(super) fn random(seeded: &mut Seeded, mut event: impl FnMut(&mut Seeded) -> Sample) -> Vec<RawEvent> {
    let mut timeline = Timeline::new();
    (0..=seeded.below(MOST_EVENTS))
        .map(|_| {
            let minutes = seeded.below(MINUTES);
            let sample = event(seeded);
            timeline.record(sample, START.plus(Duration::from_secs(60 * minutes)))
        })
        .collect()
}
