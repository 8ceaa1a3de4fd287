//! Which groups can be claimed, and in which turn.
use super::{group::Group, job::When, no::No, routes::Routes};
use foldwright_ports::{Capabilities, Route};
use std::collections::BTreeMap;

/// What a worker must know to get a group: the route and format of its first due job, and the group's need. A claim
/// looks only into lanes that the worker knows, so stranded groups cost it nothing.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Lane {
    pub(super) route: No<Route>,
    pub(super) format: u8,
    pub(super) need: u32,
}

/// Claimable groups by lane, in each by when their first due job became due.
#[derive(Default)]
pub(super) struct Ready {
    lanes: BTreeMap<Lane, BTreeMap<When, No<Group>>>,
}

impl Ready {
    pub(super) fn insert(&mut self, lane: Lane, turn: When, group: No<Group>) {
        self.lanes.entry(lane).or_default().insert(turn, group);
    }

    pub(super) fn remove(&mut self, lane: Lane, turn: When) {
        if let Some(groups) = self.lanes.get_mut(&lane) {
            groups.remove(&turn);
            if groups.is_empty() {
                self.lanes.remove(&lane);
            }
        }
    }

    /// The group whose turn it is in a lane.
    pub(super) fn first(&self, lane: Lane) -> Option<(When, No<Group>)> {
        let (turn, group) = self.lanes.get(&lane)?.first_key_value()?;
        Some((*turn, *group))
    }

    /// The lanes that a worker knows and that hold a group, with the turn of their first one.
    pub(super) fn known<'a>(
        &'a self,
        routes: &'a Routes,
        capabilities: &'a Capabilities,
    ) -> impl Iterator<Item = (When, Lane)> + 'a {
        capabilities.routes.iter().flat_map(move |(route, capability)| {
            let lanes = routes.number(route).map(|route| {
                let lane = |format, need| Lane { route, format, need };
                self.lanes.range(lane(0, 0)..=lane(capabilities.format, u32::MAX))
            });
            lanes
                .into_iter()
                .flatten()
                .filter(|(lane, _)| lane.need <= capability.version)
                .filter_map(|(lane, groups)| Some((*groups.first_key_value()?.0, *lane)))
        })
    }

    #[cfg(test)]
    pub(super) fn all(&self) -> Vec<(Lane, When, No<Group>)> {
        let row = |(lane, groups): (&Lane, &BTreeMap<When, No<Group>>)| {
            let lane = *lane;
            assert!(!groups.is_empty(), "an empty lane is forgotten");
            groups
                .iter()
                .map(move |(turn, no)| (lane, *turn, *no))
                .collect::<Vec<_>>()
        };
        self.lanes.iter().flat_map(row).collect()
    }
}
