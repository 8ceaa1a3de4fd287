//! Routes with their counters.
use super::no::{Names, No};
use foldwright_ports::{Depth, Route};
use std::collections::BTreeMap;

/// What a job is counted as.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum In {
    Waiting,
    Leased,
    Blocked,
    Dead,
}

impl In {
    /// Its counter.
    pub(super) fn of(self, depth: &mut Depth) -> &mut u64 {
        match self {
            Self::Waiting => &mut depth.waiting,
            Self::Leased => &mut depth.leased,
            Self::Blocked => &mut depth.blocked,
            Self::Dead => &mut depth.dead,
        }
    }
}

/// Every route that was ever staged, with how many of its jobs are where.
#[derive(Default)]
pub(super) struct Routes {
    names: Names<Route>,
    depths: BTreeMap<No<Route>, Depth>,
}

impl Routes {
    pub(super) fn number(&self, route: &Route) -> Option<No<Route>> {
        self.names.number(route)
    }

    pub(super) fn number_or_add(&mut self, route: &Route) -> No<Route> {
        self.names.number_or_add(route)
    }

    pub(super) fn name(&self, no: No<Route>) -> Option<&Route> {
        self.names.name(no)
    }

    pub(super) fn enter(&mut self, no: No<Route>, to: In) {
        let count = self.count(no, to);
        *count = count.saturating_add(1);
    }

    pub(super) fn leave(&mut self, no: No<Route>, from: In) {
        let count = self.count(no, from);
        *count = count.saturating_sub(1);
    }

    /// The routes in the order of their numbers, with their counters.
    pub(super) fn all(&self) -> impl Iterator<Item = (No<Route>, &Route, Depth)> {
        self.names.all().map(|(no, route)| {
            let depth = self.depths.get(&no).copied().unwrap_or_default();
            (no, route, depth)
        })
    }

    /// Sets the counters of a route as they were counted.
    pub(super) fn put_right(&mut self, no: No<Route>, depth: Depth) {
        self.depths.insert(no, depth);
    }

    fn count(&mut self, no: No<Route>, state: In) -> &mut u64 {
        state.of(self.depths.entry(no).or_default())
    }

    /// The routes that have a job, as a count would find them.
    pub(super) fn depths(&self) -> BTreeMap<Route, Depth> {
        self.all()
            .filter(|(_, _, depth)| *depth != Depth::default())
            .map(|(_, route, depth)| (route.clone(), depth))
            .collect()
    }
}
