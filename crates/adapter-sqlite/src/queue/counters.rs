//! The counters by route.
use super::group::Group;
use crate::{error::Outcome, writer::Write};
use std::collections::BTreeMap;

/// Where a job is, as operators count it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum State {
    Waiting,
    Leased,
    Blocked,
    Dead,
}

impl State {
    /// Where the jobs of a group are that are not handed out.
    pub(super) fn of_group(group: &Group) -> Self {
        if group.more.blocked.is_some() {
            Self::Blocked
        } else {
            Self::Waiting
        }
    }
}

/// What one operation changes in the counters, gathered by route.
#[derive(Default)]
pub(super) struct Depths(BTreeMap<i64, [i64; 4]>);

impl Depths {
    pub(super) fn add(&mut self, route: i64, state: State, n: i64) {
        let [waiting, leased, blocked, dead] = self.0.entry(route).or_default();
        *match state {
            State::Waiting => waiting,
            State::Leased => leased,
            State::Blocked => blocked,
            State::Dead => dead,
        } += n;
    }

    pub(super) fn shift(&mut self, route: i64, from: State, to: State, n: i64) {
        self.add(route, from, -n);
        self.add(route, to, n);
    }

    /// Moves all counters of a route: waiting, leased, blocked, dead.
    pub(super) fn shift_all(&mut self, route: i64, by: [i64; 4]) {
        let counters = self.0.entry(route).or_default();
        for (counter, by) in counters.iter_mut().zip(by) {
            *counter += by;
        }
    }

    pub(super) fn save(&mut self, write: &Write<'_>) -> Outcome<()> {
        for (route, [waiting, leased, blocked, dead]) in std::mem::take(&mut self.0) {
            if (waiting, leased, blocked, dead) == (0, 0, 0, 0) {
                continue;
            }
            write
                .db
                .prepare_cached(
                    "INSERT INTO fw_depths VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT DO UPDATE SET
                     waiting = waiting + excluded.waiting, leased = leased + excluded.leased,
                     blocked = blocked + excluded.blocked, dead = dead + excluded.dead",
                )?
                .execute([route, waiting, leased, blocked, dead])?;
        }
        Ok(())
    }
}
