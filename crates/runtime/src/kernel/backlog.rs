//! What is still to be done.
use foldwright_ports::{Depth, Route};
use std::collections::BTreeMap;

/// Jobs by kind and state, over all tenants.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Backlog {
    /// Commands.
    pub commands: Depth,
    /// Folds, keyed folds among them.
    pub folds: Depth,
    /// Maps.
    pub maps: Depth,
    /// Subscribers, of which some may wait for their time.
    pub subscribers: Depth,
}

impl Backlog {
    pub(crate) fn of(depth: &BTreeMap<Route, Depth>) -> Self {
        let mut backlog = Self::default();
        for (route, depth) in depth {
            let path = route.path();
            let kind = if path.contains("/subscriber/") {
                &mut backlog.subscribers
            } else if path.starts_with("command/") {
                &mut backlog.commands
            } else if path.starts_with("fold/") {
                &mut backlog.folds
            } else {
                &mut backlog.maps
            };
            kind.waiting += depth.waiting;
            kind.leased += depth.leased;
            kind.blocked += depth.blocked;
            kind.dead += depth.dead;
        }
        backlog
    }

    /// Commands, folds and maps that wait or run. Subscribers wait for their time and blocked groups for a person.
    #[must_use]
    pub fn open(&self) -> u64 {
        [self.commands, self.folds, self.maps]
            .iter()
            .map(|d| d.waiting + d.leased)
            .sum()
    }

    /// Jobs in blocked groups and dead letters, which wait for a person.
    #[must_use]
    pub fn stuck(&self) -> u64 {
        [self.commands, self.folds, self.maps, self.subscribers]
            .iter()
            .map(|d| d.blocked + d.dead)
            .sum()
    }
}
