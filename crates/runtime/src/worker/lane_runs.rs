//! The runs of one lane.
use super::slow_runs::{SlowRun, SlowRuns};
use foldwright_domain::TenantId;
use foldwright_ports::{Lease, Route};
use std::{collections::BTreeMap, sync::Arc, time::Duration};
use tokio::time::Instant;

/// How many runs have room in a lane.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Seat {
    /// One of each route, side by side.
    RunPerRoute,
    /// One, until it has become slow: then it goes on beside the lane.
    OneRun,
}

/// What a lane runs.
pub(super) struct Runs {
    seat: Seat,
    next: u64,
    runs: BTreeMap<u64, Run>,
}

struct Run {
    route: Route,
    tenant: Option<TenantId>,
    since: Instant,
    place: Place,
}

enum Place {
    Lane,
    /// It is slow and has to stay, because there is no room beside the lane.
    LaneForGood,
    /// Beside the lane.
    Beside {
        _run: SlowRun,
    },
}

impl Runs {
    pub(super) fn new(seat: Seat) -> Self {
        Self {
            seat,
            next: 0,
            runs: BTreeMap::new(),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }

    /// Whether something runs that is not beside the lane.
    pub(super) fn hold_the_lane(&self) -> bool {
        self.runs
            .values()
            .any(|run| !matches!(run.place, Place::Beside { .. }))
    }

    pub(super) fn has(&self, route: &Route) -> bool {
        self.runs.values().any(|run| run.route == *route)
    }

    /// Begins a run; answers its number.
    pub(super) fn begin(&mut self, route: &Route, leases: &[Lease]) -> u64 {
        self.next += 1;
        let run = Run {
            route: route.clone(),
            tenant: leases.first().map(|lease| lease.group.tenant.clone()),
            since: Instant::now(),
            place: Place::Lane,
        };
        self.runs.insert(self.next, run);
        self.next
    }

    pub(super) fn end(&mut self, id: u64) {
        self.runs.remove(&id);
    }

    /// When the next run becomes slow; only where that frees the lane.
    pub(super) fn next_slow(&self, after: Duration) -> Option<Instant> {
        if self.seat != Seat::OneRun {
            return None;
        }
        let in_lane = self.runs.values().filter(|run| matches!(run.place, Place::Lane));
        in_lane.filter_map(|run| run.since.checked_add(after)).min()
    }

    /// Takes what has become slow out of the lane, as far as its tenant's share allows.
    pub(super) fn detach_slow(&mut self, after: Duration, slow: &Arc<SlowRuns>) {
        if self.seat != Seat::OneRun {
            return;
        }
        for run in self.runs.values_mut() {
            if matches!(run.place, Place::Lane) && run.since.elapsed() >= after {
                let beside = run.tenant.as_ref().and_then(|tenant| slow.begin(tenant));
                run.place = beside.map_or(Place::LaneForGood, |run| Place::Beside { _run: run });
            }
        }
    }
}
