//! The groups that one operation works on.
use super::{
    counters::Numbers,
    group::{Group, Turn, end_number, select_groups},
    line,
};
use crate::{
    codec,
    error::{Fault, Outcome},
    writer::Write,
};
use foldwright_ports::LeaseEnd;
use rusqlite::{Connection, params};
use std::collections::{BTreeMap, HashMap, btree_map};

/// Groups by number, in memory until they are saved.
#[derive(Default)]
pub(super) struct Groups {
    entries: BTreeMap<i64, Entry>,
    /// Those that were looked for by name.
    names: HashMap<(i64, i64, String), i64>,
}

pub(super) struct Entry {
    pub(super) group: Group,
    /// What its indexed columns hold; `None` when there is no row yet.
    stored: Option<Stored>,
    dirty: bool,
    misplaced: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
struct Stored {
    turn: Turn,
    blocked_at: Option<i64>,
}

impl Stored {
    fn of(group: &Group) -> Self {
        Self {
            turn: group.turn,
            blocked_at: group.more.blocked.as_ref().map(|block| block.since),
        }
    }
}

impl Entry {
    fn new(group: Group) -> Self {
        Self {
            group,
            stored: None,
            dirty: false,
            misplaced: false,
        }
    }

    pub(super) fn existing(group: Group) -> Self {
        Self {
            stored: Some(Stored::of(&group)),
            ..Self::new(group)
        }
    }

    /// It has changed.
    pub(super) fn touch(&mut self) -> &mut Group {
        self.dirty = true;
        &mut self.group
    }

    /// It has changed, and its place in line is to be worked out anew from its jobs.
    pub(super) fn misplace(&mut self) -> &mut Group {
        self.misplaced = true;
        self.touch()
    }

    pub(super) fn is_misplaced(&self) -> bool {
        self.misplaced
    }

    /// Writes it back, or forgets it when nothing of it is worth remembering.
    pub(super) fn save(&mut self, write: &mut Write<'_>) -> Outcome<()> {
        if !self.dirty {
            return Ok(());
        }
        let group = &mut self.group;
        if group.counts.is_empty() {
            group.tidy();
            if group.previous == LeaseEnd::None {
                if self.stored.take().is_some() {
                    write
                        .db
                        .prepare_cached("DELETE FROM fw_groups WHERE gid = ?1")?
                        .execute([group.gid])?;
                }
                return Ok(());
            }
        } else if self.misplaced {
            group.turn = line::place(write, group)?;
        }
        (self.dirty, self.misplaced) = (false, false);
        let before = self.stored.replace(Stored::of(&self.group));
        store(write.db, &self.group, before)
    }
}

impl Groups {
    /// The number of the group of this name, if there is one.
    pub(super) fn find(
        &mut self,
        db: &Connection,
        tenant: i64,
        path: i64,
        key: &str,
    ) -> Outcome<Option<i64>> {
        let name = (tenant, path, key.to_owned());
        if let Some(gid) = self.names.get(&name) {
            return Ok(Some(*gid));
        }
        let mut select = db.prepare_cached(select_groups!("WHERE tenant = ?1 AND path = ?2 AND key = ?3"))?;
        let mut rows = select.query(params![tenant, path, key])?;
        let Some(row) = rows.next()? else {
            return Ok(None);
        };
        let group = Group::read(row)?;
        let gid = group.gid;
        self.names.insert(name, gid);
        // It may have been met by its number, and changed since.
        self.entries.entry(gid).or_insert_with(|| Entry::existing(group));
        Ok(Some(gid))
    }

    /// The number of the group of this name, which begins here if there is none.
    pub(super) fn obtain(
        &mut self,
        db: &Connection,
        numbers: &mut Numbers,
        (tenant, path, key): (i64, i64, &str),
    ) -> Outcome<i64> {
        if let Some(gid) = self.find(db, tenant, path, key)? {
            if let Some(entry) = self.entries.get_mut(&gid) {
                entry.group.begin_anew(numbers.last_fence());
            }
            return Ok(gid);
        }
        let gid = numbers.next_gid();
        self.names.insert((tenant, path, key.to_owned()), gid);
        self.entries.insert(
            gid,
            Entry::new(Group::new(gid, tenant, path, key, numbers.last_fence())),
        );
        Ok(gid)
    }

    /// Reads the group of this number, if there is one.
    pub(super) fn load(&mut self, db: &Connection, gid: i64) -> Outcome<Option<&mut Entry>> {
        let place = match self.entries.entry(gid) {
            btree_map::Entry::Occupied(entry) => return Ok(Some(entry.into_mut())),
            btree_map::Entry::Vacant(place) => place,
        };
        let mut select = db.prepare_cached(select_groups!("WHERE gid = ?1"))?;
        let mut rows = select.query([gid])?;
        match rows.next()? {
            Some(row) => Ok(Some(place.insert(Entry::existing(Group::read(row)?)))),
            None => Ok(None),
        }
    }

    /// A group that was found before.
    pub(super) fn entry(&mut self, gid: i64) -> Outcome<&mut Entry> {
        self.entries
            .get_mut(&gid)
            .ok_or_else(|| Fault::corrupt(format!("group {gid} is missing")))
    }

    /// Writes the changed ones back and lets go of all.
    pub(super) fn save(&mut self, write: &mut Write<'_>) -> Outcome<()> {
        self.names.clear();
        for mut entry in std::mem::take(&mut self.entries).into_values() {
            entry.save(write)?;
        }
        Ok(())
    }
}

/// Writes a row; indexed columns only where they changed, because an index is rewritten whenever it is named.
fn store(db: &Connection, group: &Group, before: Option<Stored>) -> Outcome<()> {
    let now = Stored::of(group);
    let head = now.turn.head;
    let (slot, due, seq, score) = (
        head.map(|h| h.slot),
        head.map(|h| h.due),
        head.map(|h| h.seq),
        head.map(|h| h.score),
    );
    let counts = codec::encode(&group.counts)?;
    let lease = group.lease.as_ref();
    let (fence, until) = (lease.map(|l| l.fence), lease.map(|l| l.until));
    let leased = lease.map(|l| codec::encode(&l.jobs)).transpose()?;
    let end = (end_number(group.previous), group.completed);
    let more = group.more_bytes()?;
    match before {
        Some(before) if before == now => db
            .prepare_cached(
                "UPDATE fw_groups SET counts = ?2, fence = ?3, until = ?4, leased = ?5, previous = ?6, completed = ?7,
                 more = ?8 WHERE gid = ?1",
            )?
            .execute(params![group.gid, counts, fence, until, leased, end.0, end.1, more])?,
        Some(before) if before.turn.recheck == now.turn.recheck && before.blocked_at == now.blocked_at => db
            .prepare_cached(
                "UPDATE fw_groups SET counts = ?2, fence = ?3, until = ?4, leased = ?5, previous = ?6, completed = ?7,
                 more = ?8, slot = ?9, at = ?10, head = ?11, score = ?12 WHERE gid = ?1",
            )?
            .execute(params![
                group.gid, counts, fence, until, leased, end.0, end.1, more, slot, due, seq, score
            ])?,
        Some(_) => db
            .prepare_cached(
                "UPDATE fw_groups SET counts = ?2, fence = ?3, until = ?4, leased = ?5, previous = ?6, completed = ?7,
                 more = ?8, slot = ?9, at = ?10, head = ?11, score = ?12, recheck = ?13, blocked_at = ?14
                 WHERE gid = ?1",
            )?
            .execute(params![
                group.gid,
                counts,
                fence,
                until,
                leased,
                end.0,
                end.1,
                more,
                slot,
                due,
                seq,
                score,
                now.turn.recheck,
                now.blocked_at
            ])?,
        None => db
            .prepare_cached(
                "INSERT INTO fw_groups (gid, counts, fence, until, leased, previous, completed, more, slot, at, head,
                 score, recheck, blocked_at, tenant, path, key)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17)",
            )?
            .execute(params![
                group.gid,
                counts,
                fence,
                until,
                leased,
                end.0,
                end.1,
                more,
                slot,
                due,
                seq,
                score,
                now.turn.recheck,
                now.blocked_at,
                group.tenant,
                group.path,
                group.key
            ])?,
    };
    Ok(())
}
