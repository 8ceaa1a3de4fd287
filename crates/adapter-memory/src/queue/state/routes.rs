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

    fn count(&mut self, no: No<Route>, state: In) -> &mut u64 {
        let depth = self.depths.entry(no).or_default();
        match state {
            In::Waiting => &mut depth.waiting,
            In::Leased => &mut depth.leased,
            In::Blocked => &mut depth.blocked,
            In::Dead => &mut depth.dead,
        }
    }

    /// The routes that have a job, as a count would find them.
    pub(super) fn depths(&self) -> BTreeMap<Route, Depth> {
        let depths = self.names.all().map(|(no, route)| {
            let depth = self.depths.get(&no).copied().unwrap_or_default();
            (route.clone(), depth)
        });
        depths.filter(|(_, depth)| *depth != Depth::default()).collect()
    }
}
