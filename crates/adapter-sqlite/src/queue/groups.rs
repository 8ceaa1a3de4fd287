//! The groups that one operation works on.
use super::{
    group::{Group, select_groups},
    group_row::{self, Stored},
    line,
    numbers::Numbers,
    tenants::Tenants,
};
use crate::{
    error::{Fault, Outcome},
    names::Names,
    writer::Write,
};
use foldwright_ports::GroupId;
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

    /// Its row may not say what it should: all of it is written again.
    pub(super) fn mistrust(&mut self) {
        self.dirty = true;
        if let Some(stored) = &mut self.stored {
            stored.blocked_at = Some(i64::MIN);
        }
    }

    pub(super) fn is_misplaced(&self) -> bool {
        self.misplaced
    }

    /// Writes it back, or forgets it when nothing of it is worth remembering.
    pub(super) fn save(&mut self, write: &mut Write<'_>, tenants: &mut Tenants) -> Outcome<()> {
        if !self.dirty {
            return Ok(());
        }
        let group = &mut self.group;
        if group.counts.is_empty() {
            group.tidy(write.now.0);
        } else if self.misplaced {
            group.turn = line::place(write, group)?;
        }
        (self.dirty, self.misplaced) = (false, false);
        let forgotten = self.group.is_forgotten();
        let now = (!forgotten).then(|| Stored::of(&self.group));
        let before = std::mem::replace(&mut self.stored, now);
        if !forgotten {
            group_row::store(write.db, &self.group, before)?;
        } else if before.is_some() {
            write
                .db
                .prepare_cached("DELETE FROM fw_groups WHERE gid = ?1")?
                .execute([self.group.gid])?;
        }
        move_in_line(write.db, tenants, self.group.tenant, before, now)
    }
}

/// Notes that a group has come to another place in line.
fn move_in_line(
    db: &Connection,
    tenants: &mut Tenants,
    tenant: i64,
    before: Option<Stored>,
    now: Option<Stored>,
) -> Outcome<()> {
    let place = |stored: Option<Stored>| stored.and_then(|s| s.turn.head).map(|head| (head.slot, head.due));
    let (before, now) = (place(before), place(now));
    if before == now {
        return Ok(());
    }
    let lines = &mut tenants.seat(db, tenant)?.lines;
    if let Some((slot, at)) = before {
        lines.leave(slot, at);
    }
    if let Some((slot, at)) = now {
        lines.join(slot, at);
    }
    Ok(())
}

/// A group's name in numbers.
#[derive(Clone, Copy)]
pub(super) struct Named {
    pub(super) tenant: i64,
    pub(super) path: i64,
}

impl Named {
    /// `None` where nothing bears this name.
    pub(super) fn find(db: &Connection, names: &mut Names, id: &GroupId) -> Outcome<Option<Self>> {
        let tenant = names.find(db, id.tenant.as_str())?;
        let path = names.find(db, &id.path)?;
        Ok(tenant.zip(path).map(|(tenant, path)| Self { tenant, path }))
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
    pub(super) fn save(&mut self, write: &mut Write<'_>, tenants: &mut Tenants) -> Outcome<()> {
        self.names.clear();
        for mut entry in std::mem::take(&mut self.entries).into_values() {
            entry.save(write, tenants)?;
        }
        Ok(())
    }
}
