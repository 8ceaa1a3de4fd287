//! Which groups can be claimed, and in which turn.
//!
//! ```text
//! lane (route, format, need) ──► tenants by (share, pass, turn)       parked and paused ones are not in it
//!                          └──► per tenant: groups by turn            of all of them
//! ```
use super::{group::Group, job::When, no::No, routes::Routes};
use crate::keyed::Keyed;
use foldwright_domain::TenantId;
use foldwright_ports::{Capabilities, Pass, Route, Share};
use std::collections::BTreeMap;

/// What a worker must know to get a group: the route and format of its first due job, and the group's need. A claim
/// looks only into lanes that the worker knows, so stranded groups cost it nothing.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Lane {
    pub(super) route: No<Route>,
    pub(super) format: u8,
    pub(super) need: u32,
}

/// A tenant's place in a lane: its share, its pass, and since when its first group there is due.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Rank {
    share: Share,
    pass: Pass,
    turn: When,
}

/// What became of a tenant's place in a lane.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Move {
    /// It stayed.
    None,
    /// It has one, where it had none before.
    In,
    /// It is another one, or there is none any more.
    Elsewhere,
}

/// Due groups by lane and tenant, and the tenants whose turn it can be.
#[derive(Default)]
pub(super) struct Ready {
    lanes: BTreeMap<Lane, Row>,
    /// The lanes in which a tenant has a group.
    homes: Keyed<No<TenantId>, Vec<Lane>>,
}

#[derive(Default)]
struct Row {
    order: BTreeMap<Rank, No<Group>>,
    queues: Keyed<No<TenantId>, Queue>,
}

#[derive(Default)]
struct Queue {
    groups: BTreeMap<When, No<Group>>,
    rank: Option<Rank>,
}

impl Ready {
    /// Adds a group; [`rank`](Self::rank) has to follow.
    pub(super) fn insert(&mut self, lane: Lane, tenant: No<TenantId>, turn: When, group: No<Group>) {
        let queues = &mut self.lanes.entry(lane).or_default().queues;
        let queue = queues.get_or_default(tenant);
        if queue.groups.is_empty() {
            self.homes.get_or_default(tenant).push(lane);
        }
        queue.groups.insert(turn, group);
    }

    /// Removes a group; [`rank`](Self::rank) has to follow.
    pub(super) fn remove(&mut self, lane: Lane, tenant: No<TenantId>, turn: When) {
        let queue = self
            .lanes
            .get_mut(&lane)
            .and_then(|row| row.queues.get_mut(&tenant));
        if let Some(queue) = queue
            && queue.groups.remove(&turn).is_some()
            && queue.groups.is_empty()
            && let Some(homes) = self.homes.get_mut(&tenant)
        {
            homes.retain(|home| *home != lane);
            if homes.is_empty() {
                self.homes.remove(&tenant);
            }
        }
    }

    /// Puts a tenant where it stands in a lane; `None` takes it out, with all its groups there.
    pub(super) fn rank(&mut self, lane: Lane, tenant: No<TenantId>, standing: Option<(Share, Pass)>) -> Move {
        let Some(row) = self.lanes.get_mut(&lane) else {
            return Move::None;
        };
        let Some(queue) = row.queues.get_mut(&tenant) else {
            return Move::None;
        };
        let first = queue.groups.first_key_value();
        let new = first.zip(standing).map(|((turn, group), (share, pass))| {
            let rank = Rank {
                share,
                pass,
                turn: *turn,
            };
            (rank, *group)
        });
        let (old, rank) = (queue.rank, new.map(|(rank, _)| rank));
        if old != rank {
            queue.rank = rank;
            if let Some(old) = old {
                row.order.remove(&old);
            }
            if let Some((rank, group)) = new {
                row.order.insert(rank, group);
            }
        }
        if first.is_none() {
            row.queues.remove(&tenant);
            if row.queues.len() == 0 {
                self.lanes.remove(&lane);
            }
        }
        match (old, rank) {
            (None, Some(_)) => Move::In,
            _ if old == rank => Move::None,
            _ => Move::Elsewhere,
        }
    }

    /// The lanes in which a tenant has a group.
    pub(super) fn homes(&self, tenant: No<TenantId>) -> &[Lane] {
        self.homes.get(&tenant).map_or(&[], Vec::as_slice)
    }

    /// The group whose turn it is in a lane.
    pub(super) fn first(&self, lane: Lane) -> Option<(Rank, No<Group>)> {
        let (rank, group) = self.lanes.get(&lane)?.order.first_key_value()?;
        Some((*rank, *group))
    }

    /// The lanes that a worker knows and that have a tenant whose turn it can be.
    pub(super) fn known<'a>(
        &'a self,
        routes: &'a Routes,
        capabilities: &'a Capabilities,
    ) -> impl Iterator<Item = Lane> + 'a {
        capabilities.routes.iter().flat_map(move |(route, capability)| {
            let lanes = routes.number(route).map(|route| {
                let lane = |format, need| Lane { route, format, need };
                self.lanes.range(lane(0, 0)..=lane(capabilities.format, u32::MAX))
            });
            lanes
                .into_iter()
                .flatten()
                .filter(|(lane, row)| lane.need <= capability.version && !row.order.is_empty())
                .map(|(lane, _)| *lane)
        })
    }

    /// Whether a group is in its place.
    pub(super) fn holds(&self, lane: Lane, tenant: No<TenantId>, turn: When, group: No<Group>) -> bool {
        let queue = self.lanes.get(&lane).and_then(|row| row.queues.get(&tenant));
        queue.is_some_and(|queue| queue.groups.get(&turn) == Some(&group))
    }

    /// Every group, by lane, tenant and turn, and every tenant's place.
    #[cfg(test)]
    pub(super) fn all(&self, tenants: impl Iterator<Item = No<TenantId>>) -> (Vec<Seat>, Vec<(Lane, Rank)>) {
        let (mut seats, mut ranks, mut queues) = (Vec::new(), Vec::new(), 0);
        for tenant in tenants {
            let mut homes = Vec::new();
            for (lane, row) in &self.lanes {
                let Some(queue) = row.queues.get(&tenant) else {
                    continue;
                };
                assert!(!queue.groups.is_empty(), "an empty queue is forgotten");
                queues += 1;
                homes.push(*lane);
                seats.extend(queue.groups.iter().map(|(turn, no)| (*lane, tenant, *turn, *no)));
                ranks.extend(queue.rank.map(|rank| (*lane, rank)));
            }
            let mut known = self.homes(tenant).to_vec();
            known.sort_unstable();
            assert_eq!(known, homes, "a tenant knows its lanes");
        }
        assert_eq!(
            queues,
            self.lanes.values().map(|row| row.queues.len()).sum::<usize>()
        );
        let listed = self
            .lanes
            .iter()
            .flat_map(|(lane, row)| row.order.keys().map(|rank| (*lane, *rank)));
        ranks.sort_unstable();
        assert_eq!(
            listed.collect::<Vec<_>>(),
            ranks,
            "tenants are listed where they say"
        );
        seats.sort_unstable();
        (seats, ranks)
    }
}

/// A group's place: lane, tenant, turn.
#[cfg(test)]
pub(super) type Seat = (Lane, No<TenantId>, When, No<Group>);

#[cfg(test)]
impl Rank {
    pub(super) fn new((share, pass): (Share, Pass), turn: When) -> Self {
        Self { share, pass, turn }
    }
}
