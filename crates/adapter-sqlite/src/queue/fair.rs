//! Whose group comes next.
//!
//! Tenants are met in the order of their turns, as the lines of the served slots have them. Once met, a tenant is kept in
//! memory, because its turn moves with each group that it gets; so a claim reads what it hands out, and a little ahead.
use super::{
    group::{Group, select_groups},
    tenants::Turn,
    troubles,
    work::Work,
};
use crate::{error::Outcome, page::limit_of};
use rusqlite::Connection;
use std::{
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet, BinaryHeap, VecDeque},
};

/// A tenant at its turn: when it comes, since when its first group is due, and who it is.
type Place = (Turn, i64, i64);

/// The tenants of one claim.
pub(super) struct Fair {
    slots: BTreeSet<i64>,
    cursors: Vec<Cursor>,
    /// Those met so far.
    met: BTreeMap<i64, Vec<Line>>,
    waiting: BinaryHeap<Reverse<Place>>,
}

/// The tenants in line for one slot, as far as they were read.
struct Cursor {
    slot: i64,
    read: VecDeque<Place>,
    last: Option<Place>,
    more: bool,
}

/// The groups of one tenant in line for one slot, as far as they were read.
struct Line {
    slot: i64,
    /// When the first one came due.
    at: i64,
    read: VecDeque<Group>,
    /// How many were read at one time; 0 before the first read.
    step: usize,
    more: bool,
}

impl Fair {
    /// Groups must have been saved before. `step`: how many tenants are read at one time.
    pub(super) fn new(work: &mut Work<'_, '_>, slots: Vec<i64>) -> Outcome<Self> {
        let cursors = slots.iter().map(|slot| Cursor {
            slot: *slot,
            read: VecDeque::new(),
            last: None,
            more: true,
        });
        let mut fair = Self {
            cursors: cursors.collect(),
            slots: slots.into_iter().collect(),
            met: BTreeMap::new(),
            waiting: BinaryHeap::new(),
        };
        // What is stored of them is not what this operation has made of them so far.
        for tenant in work.tenants.touched() {
            fair.meet(work, tenant)?;
        }
        Ok(fair)
    }

    /// The group that comes next; `room`: how many may still be handed out. [`Fair::go_on`] follows.
    pub(super) fn next(&mut self, work: &mut Work<'_, '_>, room: usize) -> Outcome<Option<Group>> {
        loop {
            let stored = self.first_stored(work, room)?;
            let waiting = self.waiting.peek().map(|Reverse(place)| *place);
            match (stored, waiting) {
                (Some(stored), waiting) if waiting.is_none_or(|waiting| stored < waiting) => {
                    self.meet(work, stored.2)?;
                }
                (_, Some((_, _, tenant))) => {
                    self.waiting.pop();
                    if let Some(group) = self.take(work, tenant, room)? {
                        return Ok(Some(group));
                    }
                    self.go_on(work, tenant, room)?;
                }
                (Some(_) | None, None) => return Ok(None),
            }
        }
    }

    /// A group of this tenant was dealt with: it waits for its next turn, if it has more.
    pub(super) fn go_on(&mut self, work: &mut Work<'_, '_>, tenant: i64, room: usize) -> Outcome<()> {
        let now = work.now();
        let db = work.write.db;
        let Some(lines) = self.met.get_mut(&tenant) else {
            return Ok(());
        };
        for line in lines.iter_mut().filter(|line| line.step > 0) {
            line.refill(db, tenant, now, room)?;
        }
        lines.retain(|line| line.step == 0 || !line.read.is_empty());
        self.wait(work, tenant)
    }

    /// The tenant of the lowest stored turn that was not met yet.
    fn first_stored(&mut self, work: &Work<'_, '_>, room: usize) -> Outcome<Option<Place>> {
        // Enough for one read of each line in the ordinary case.
        let step = room.div_ceil(self.cursors.len().max(1)).clamp(4, 64);
        let mut first: Option<Place> = None;
        for cursor in &mut self.cursors {
            loop {
                while cursor
                    .read
                    .front()
                    .is_some_and(|(.., tenant)| self.met.contains_key(tenant))
                {
                    cursor.read.pop_front();
                }
                if !cursor.read.is_empty() || !cursor.more {
                    break;
                }
                cursor.refill(work.write.db, step)?;
            }
            if let Some(place) = cursor.read.front() {
                first = Some(first.map_or(*place, |first| first.min(*place)));
            }
        }
        Ok(first)
    }

    /// Finds the lines of a tenant that may be served now.
    fn meet(&mut self, work: &mut Work<'_, '_>, tenant: i64) -> Outcome<()> {
        let (db, now) = (work.write.db, work.now());
        let all = work.tenants.seat(db, tenant)?.lines.all(db, tenant)?;
        let mut lines = Vec::new();
        for (slot, at) in all {
            if at > now || !self.slots.contains(&slot) {
                continue;
            }
            if work.numbers.may_be_closed(now) {
                let route = work.write.slots.get(db, slot)?.route;
                if troubles::closed(db, tenant, route, now)?.is_some() {
                    continue;
                }
            }
            lines.push(Line {
                slot,
                at,
                read: VecDeque::new(),
                step: 0,
                more: true,
            });
        }
        self.met.insert(tenant, lines);
        self.wait(work, tenant)
    }

    fn wait(&mut self, work: &mut Work<'_, '_>, tenant: i64) -> Outcome<()> {
        let turn = work.tenants.seat(work.write.db, tenant)?.tenant.turn();
        let lines = self.met.get(&tenant).into_iter().flatten();
        if let (Some(turn), Some(at)) = (turn, lines.map(Line::first).min()) {
            self.waiting.push(Reverse((turn, at, tenant)));
        }
        Ok(())
    }

    /// The first group of a tenant.
    fn take(&mut self, work: &mut Work<'_, '_>, tenant: i64, room: usize) -> Outcome<Option<Group>> {
        let (db, now) = (work.write.db, work.now());
        let lines = self.met.get_mut(&tenant).into_iter().flatten();
        let Some(line) = lines.min_by_key(|line| line.first()) else {
            return Ok(None);
        };
        line.refill(db, tenant, now, room)?;
        let group = line.read.pop_front();
        if group.is_none() {
            work.tenants.seat(db, tenant)?.lines.mistrust(line.slot);
        }
        Ok(group)
    }
}

impl Cursor {
    fn refill(&mut self, db: &Connection, step: usize) -> Outcome<()> {
        let ((share, pass), at, tenant) = self.last.unwrap_or(((i64::MIN, i64::MIN), i64::MIN, i64::MIN));
        let mut select = db.prepare_cached(
            "SELECT share, pass, at, tenant FROM fw_lines INDEXED BY fw_lines_turn
             WHERE slot = ?1 AND share IS NOT NULL AND (share, pass, at, tenant) > (?2, ?3, ?4, ?5)
             ORDER BY share, pass, at, tenant LIMIT ?6",
        )?;
        let mut rows = select.query((self.slot, share, pass, at, tenant, limit_of(step)))?;
        while let Some(row) = rows.next()? {
            let place = ((row.get(0)?, row.get(1)?), row.get(2)?, row.get(3)?);
            self.read.push_back(place);
            self.last = Some(place);
        }
        self.more = self.read.len() == step;
        Ok(())
    }
}

impl Line {
    /// Since when its first group is due.
    fn first(&self) -> i64 {
        let read = self.read.front().and_then(|group| group.turn.head);
        read.map_or(self.at, |head| head.due)
    }

    /// Reads on where nothing is left of what was read. Groups that were handed out have left the line by then.
    fn refill(&mut self, db: &Connection, tenant: i64, now: i64, room: usize) -> Outcome<()> {
        if !self.read.is_empty() || !self.more {
            return Ok(());
        }
        self.step = (self.step * 2).max(2).min(room.max(1));
        let mut select = db.prepare_cached(select_groups!(
            "WHERE slot = ?1 AND tenant = ?2 AND at <= ?3 ORDER BY at, gid LIMIT ?4"
        ))?;
        let mut rows = select.query((self.slot, tenant, now, limit_of(self.step)))?;
        while let Some(row) = rows.next()? {
            self.read.push_back(Group::read(row)?);
        }
        self.more = self.read.len() == self.step;
        Ok(())
    }
}
