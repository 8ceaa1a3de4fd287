//! The lines of one tenant.
//!
//! Of each slot in which groups of a tenant stand in line there is one row with the turn of the first of them. A claim
//! reads these rows in the order of their turns, and of a tenant that is parked, paused or shut out there is nothing to
//! read.
use super::{numbers::Numbers, tenants::Turn, troubles};
use crate::{error::Outcome, writer::Write};
use rusqlite::{Connection, params};
use std::collections::BTreeMap;

/// Lines whose turns are worked out again at one time.
const STEP: i64 = 256;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Line {
    /// When the first due job of the first group came due.
    pub(super) at: i64,
    /// `None` while nothing of it may be handed out.
    pub(super) turn: Option<Turn>,
    /// When that ends by itself.
    pub(super) recheck: Option<i64>,
}

/// The groups that came to a line and left it.
#[derive(Clone, Copy, Default)]
struct Moves {
    joined: Option<i64>,
    left: Option<i64>,
}

/// As far as one operation has met them.
#[derive(Default)]
pub(super) struct Lines {
    /// As they are stored, by slot; `None` before they were read.
    stored: Option<BTreeMap<i64, Line>>,
    moves: BTreeMap<i64, Moves>,
    /// When the first job came due, where that may be another instant than the stored one; `None` for an empty line.
    firsts: BTreeMap<i64, Option<i64>>,
}

impl Lines {
    /// A group came to stand in line, its first due job at `at`.
    pub(super) fn join(&mut self, slot: i64, at: i64) {
        let moves = self.moves.entry(slot).or_default();
        moves.joined = Some(moves.joined.map_or(at, |first| first.min(at)));
    }

    /// A group left the line in which it stood at `at`.
    pub(super) fn leave(&mut self, slot: i64, at: i64) {
        let moves = self.moves.entry(slot).or_default();
        moves.left = Some(moves.left.map_or(at, |first| first.min(at)));
    }

    /// Something else than its groups may have changed.
    pub(super) fn look_again(&mut self, slot: i64) {
        self.moves.entry(slot).or_default();
    }

    /// The line may not be what its row says at all.
    pub(super) fn mistrust(&mut self, slot: i64) {
        self.leave(slot, i64::MIN);
    }

    fn stored(&mut self, db: &Connection, tenant: i64) -> Outcome<&BTreeMap<i64, Line>> {
        if self.stored.is_none() {
            let mut lines = BTreeMap::new();
            let mut select =
                db.prepare_cached("SELECT slot, at, share, pass, recheck FROM fw_lines WHERE tenant = ?1")?;
            let mut rows = select.query([tenant])?;
            while let Some(row) = rows.next()? {
                let share: Option<i64> = row.get(2)?;
                let turn = match share {
                    Some(share) => Some((share, row.get(3)?)),
                    None => None,
                };
                let line = Line {
                    at: row.get(1)?,
                    turn,
                    recheck: row.get(4)?,
                };
                lines.insert(row.get(0)?, line);
            }
            self.stored = Some(lines);
        }
        Ok(self.stored.get_or_insert_default())
    }

    /// Finds the first group of each line in which groups came and went. Groups must have been saved before.
    fn settle(&mut self, db: &Connection, tenant: i64) -> Outcome<()> {
        self.stored(db, tenant)?;
        for (slot, moves) in std::mem::take(&mut self.moves) {
            let stored = self
                .stored
                .as_ref()
                .and_then(|lines| lines.get(&slot))
                .map(|line| line.at);
            let known = self.firsts.get(&slot).copied().unwrap_or(stored);
            let first = match (known, moves) {
                (Some(known), Moves { left: Some(left), .. }) if left <= known => first(db, tenant, slot)?,
                (None, Moves { left: Some(_), .. }) => first(db, tenant, slot)?,
                (known, Moves { joined, .. }) => known.min(joined).or(known).or(joined),
            };
            self.firsts.insert(slot, first);
        }
        Ok(())
    }

    /// When the first group of each line came due, by slot.
    pub(super) fn all(&mut self, db: &Connection, tenant: i64) -> Outcome<BTreeMap<i64, i64>> {
        self.settle(db, tenant)?;
        let mut all: BTreeMap<i64, i64> = self
            .stored(db, tenant)?
            .iter()
            .map(|(slot, line)| (*slot, line.at))
            .collect();
        for (slot, first) in &self.firsts {
            match first {
                Some(at) => all.insert(*slot, *at),
                None => all.remove(slot),
            };
        }
        Ok(all)
    }

    /// Writes the lines that have changed; `moved`: the tenant's turn has.
    pub(super) fn save(
        &mut self,
        write: &mut Write<'_>,
        numbers: &Numbers,
        tenant: i64,
        turn: Option<Turn>,
        moved: bool,
    ) -> Outcome<()> {
        if !moved && self.moves.is_empty() && self.firsts.is_empty() {
            return Ok(());
        }
        let all = self.all(write.db, tenant)?;
        let stored = self.stored.take().unwrap_or_default();
        for slot in self.firsts.keys().filter(|slot| !all.contains_key(slot)) {
            if stored.contains_key(slot) {
                write
                    .db
                    .prepare_cached("DELETE FROM fw_lines WHERE tenant = ?1 AND slot = ?2")?
                    .execute((tenant, slot))?;
            }
        }
        for (slot, at) in all {
            if moved || self.firsts.contains_key(&slot) {
                let line = line(write, numbers, (tenant, slot), at, turn)?;
                if stored.get(&slot) != Some(&line) {
                    store(write.db, tenant, slot, line)?;
                }
            }
        }
        Ok(())
    }
}

/// When the first group of a line came due.
pub(super) fn first(db: &Connection, tenant: i64, slot: i64) -> Outcome<Option<i64>> {
    Ok(db
        .prepare_cached("SELECT min(at) FROM fw_groups WHERE slot = ?1 AND tenant = ?2")?
        .query_row((slot, tenant), |row| row.get(0))?)
}

/// A line with its turn.
pub(super) fn line(
    write: &mut Write<'_>,
    numbers: &Numbers,
    (tenant, slot): (i64, i64),
    at: i64,
    turn: Option<Turn>,
) -> Outcome<Line> {
    let now = write.now.0;
    let closed = if numbers.may_be_closed(now) {
        let route = write.slots.get(write.db, slot)?.route;
        troubles::closed(write.db, tenant, route, now)?.map(|closed| closed.until.0)
    } else {
        None
    };
    let opens = closed.into_iter().chain((at > now).then_some(at)).max();
    Ok(match (turn, opens) {
        (None, _) => Line {
            at,
            turn: None,
            recheck: None,
        },
        (Some(_), Some(opens)) => Line {
            at,
            turn: None,
            recheck: Some(opens),
        },
        (turn, None) => Line {
            at,
            turn,
            recheck: None,
        },
    })
}

fn store(db: &Connection, tenant: i64, slot: i64, line: Line) -> Outcome<()> {
    db.prepare_cached(
        "INSERT INTO fw_lines (tenant, slot, at, share, pass, recheck) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
         ON CONFLICT DO UPDATE SET at = excluded.at, share = excluded.share, pass = excluded.pass,
         recheck = excluded.recheck",
    )?
    .execute(params![
        tenant,
        slot,
        line.at,
        line.turn.map(|turn| turn.0),
        line.turn.map(|turn| turn.1),
        line.recheck
    ])?;
    Ok(())
}

/// The lines whose time to be looked at again has come, some of them.
pub(super) fn due(db: &Connection, now: i64) -> Outcome<Vec<(i64, i64)>> {
    let mut select =
        db.prepare_cached("SELECT tenant, slot FROM fw_lines WHERE recheck <= ?1 ORDER BY recheck LIMIT ?2")?;
    let mut rows = select.query((now, STEP))?;
    let mut due = Vec::new();
    while let Some(row) = rows.next()? {
        due.push((row.get(0)?, row.get(1)?));
    }
    Ok(due)
}
