//! The queue's one row, and the counters by route.
use crate::{
    error::{Fault, Outcome},
    writer::Write,
};
use rusqlite::Connection;
use std::collections::BTreeMap;

/// The last numbers that were given. Read and written within one transaction, so that processes never give one twice.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Numbers {
    stored: [i64; 3],
    fence: i64,
    seq: i64,
    gid: i64,
}

impl Numbers {
    pub(super) fn load(db: &Connection) -> Outcome<Self> {
        let stored @ [fence, seq, gid] = db
            .prepare_cached("SELECT fence, seq, gid FROM fw_queue")?
            .query_row([], |row| Ok([row.get(0)?, row.get(1)?, row.get(2)?]))?;
        Ok(Self {
            stored,
            fence,
            seq,
            gid,
        })
    }

    pub(super) fn next_seq(&mut self) -> i64 {
        self.seq += 1;
        self.seq
    }

    pub(super) fn next_gid(&mut self) -> i64 {
        self.gid += 1;
        self.gid
    }

    /// The last token that was given.
    pub(super) fn last_fence(&self) -> Option<i64> {
        (self.fence > 0).then_some(self.fence)
    }

    /// The next token: the time in microseconds, or the successor of the last one.
    pub(super) fn next_fence(&mut self, now_millis: i64) -> Outcome<i64> {
        let next = self
            .fence
            .checked_add(1)
            .ok_or_else(|| Fault::invalid("there is no token above the last one"))?;
        self.fence = next.max(now_millis.saturating_mul(1_000));
        Ok(self.fence)
    }

    pub(super) fn raise_fence(&mut self, floor: i64) {
        self.fence = self.fence.max(floor);
    }

    pub(super) fn save(&mut self, db: &Connection) -> Outcome<()> {
        let now = [self.fence, self.seq, self.gid];
        if now != self.stored {
            db.prepare_cached("UPDATE fw_queue SET fence = ?1, seq = ?2, gid = ?3")?
                .execute(now)?;
            self.stored = now;
        }
        Ok(())
    }
}

/// Where a job is, as operators count it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum State {
    Waiting,
    Leased,
    Blocked,
    Dead,
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
