//! Which tokens were given, and which were settled.
use crate::{codec, error::Outcome, page::limit_of, writer::Write};
use foldwright_ports::{GroupId, WorkerId};
use rusqlite::{Connection, OptionalExtension};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// One lease of a grant; its token is the grant's base plus its place.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Debug)]
pub(super) struct Member {
    pub(super) gid: i64,
    /// A short hash of the group's name: a group that is empty is forgotten, its settled tokens are not.
    pub(super) name: u32,
    pub(super) settled: bool,
}

/// The grants that one operation touches.
#[derive(Default)]
pub(super) struct Grants(BTreeMap<i64, Grant>);

struct Grant {
    members: Vec<Member>,
    dirty: bool,
}

/// What a grant's name hash is made of.
pub(super) fn name_hash(group: &GroupId) -> u32 {
    let parts = [group.tenant.as_str(), "/", &group.path, "/", &group.key];
    let hash = parts
        .iter()
        .flat_map(|part| part.bytes())
        .fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
        });
    // The two halves folded, so that every byte counts.
    u32::try_from((hash >> 32) ^ (hash & 0xffff_ffff)).unwrap_or(0)
}

/// Notes the leases that one claim handed out.
pub(super) fn insert(
    write: &Write<'_>,
    base: i64,
    worker: WorkerId,
    check_at: i64,
    members: &[Member],
) -> Outcome<()> {
    write
        .db
        .prepare_cached(
            "INSERT INTO fw_grants (base, touched_at, check_at, members, worker) VALUES (?1, ?2, ?3, ?4, ?5)",
        )?
        .execute((
            base,
            write.now.0,
            check_at,
            codec::encode(&members)?,
            worker.0.to_be_bytes(),
        ))?;
    Ok(())
}

/// Who was given this token; `None` where an earlier release gave it.
pub(super) fn worker_of(db: &Connection, fence: i64) -> Outcome<Option<WorkerId>> {
    let worker: Option<Option<[u8; 16]>> = db
        .prepare_cached("SELECT worker FROM fw_grants WHERE base <= ?1 ORDER BY base DESC LIMIT 1")?
        .query_row([fence], |row| row.get(0))
        .optional()?;
    Ok(worker
        .flatten()
        .map(|worker| WorkerId(u128::from_be_bytes(worker))))
}

/// Makes sure that a reap finds this lease: in the grant that it is of, or in one of its own where that one is gone.
pub(super) fn restore(write: &Write<'_>, fence: i64, until: i64, member: Member) -> Outcome<()> {
    let db = write.db;
    let base: Option<i64> = db
        .prepare_cached("SELECT base FROM fw_grants WHERE base <= ?1 ORDER BY base DESC LIMIT 1")?
        .query_row([fence], |row| row.get(0))
        .optional()?;
    if let Some(base) = base {
        let place = usize::try_from(fence - base).unwrap_or(usize::MAX);
        if members(db, base)?.unwrap_or_default().get(place) == Some(&member) {
            return check_at(db, base, Some(until));
        }
    }
    db.prepare_cached(
        "INSERT OR REPLACE INTO fw_grants (base, touched_at, check_at, members) VALUES (?1, ?2, ?3, ?4)",
    )?
    .execute((fence, write.now.0, until, codec::encode(&[member].as_slice())?))?;
    Ok(())
}

/// Tokens and groups of a worker's leases that were not settled, as far as the grants know.
pub(super) fn open_of(db: &Connection, worker: WorkerId) -> Outcome<Vec<(i64, i64)>> {
    let mut select =
        db.prepare_cached("SELECT base, members FROM fw_grants WHERE check_at IS NOT NULL AND worker = ?1")?;
    let mut rows = select.query([worker.0.to_be_bytes()])?;
    let mut open = Vec::new();
    while let Some(row) = rows.next()? {
        let members: Vec<Member> = codec::decode(&row.get::<_, Vec<u8>>(1)?, "a grant")?;
        let fences = row.get::<_, i64>(0)?..;
        let unsettled = fences.zip(members).filter(|(_, member)| !member.settled);
        open.extend(unsettled.map(|(fence, member)| (fence, member.gid)));
    }
    Ok(open)
}

/// The leases of a grant.
pub(super) fn members(db: &Connection, base: i64) -> Outcome<Option<Vec<Member>>> {
    let bytes: Option<Vec<u8>> = db
        .prepare_cached("SELECT members FROM fw_grants WHERE base = ?1")?
        .query_row([base], |row| row.get(0))
        .optional()?;
    bytes.map(|bytes| codec::decode(&bytes, "a grant")).transpose()
}

/// Notes when a grant has to be looked at again; `None` when none of its leases is open.
pub(super) fn check_at(db: &Connection, base: i64, at: Option<i64>) -> Outcome<()> {
    db.prepare_cached("UPDATE fw_grants SET check_at = ?2 WHERE base = ?1")?
        .execute((base, at))?;
    Ok(())
}

/// One of its leases was made shorter.
pub(super) fn check_sooner(db: &Connection, fence: i64, at: i64) -> Outcome<()> {
    db.prepare_cached(
        "UPDATE fw_grants SET check_at = ?2 WHERE check_at > ?2
         AND base = (SELECT base FROM fw_grants WHERE base <= ?1 ORDER BY base DESC LIMIT 1)",
    )?
    .execute((fence, at))?;
    Ok(())
}

/// Forgets grants without open leases that were last touched before a nonce is forgotten, the oldest first.
pub(super) fn purge(write: &Write<'_>, limit: usize) -> Outcome<()> {
    write
        .db
        .prepare_cached(
            "DELETE FROM fw_grants WHERE touched_at <= ?1 AND check_at IS NULL
             AND base IN (SELECT base FROM fw_grants ORDER BY base LIMIT ?2)",
        )?
        .execute((write.now.minus(write.settings.queue.nonce_ttl).0, limit_of(limit)))?;
    Ok(())
}

impl Grants {
    /// Whether this token was given for this group and settled.
    pub(super) fn is_settled(&mut self, db: &Connection, fence: i64, group: &GroupId) -> Outcome<bool> {
        let name = name_hash(group);
        Ok(self
            .member(db, fence)?
            .is_some_and(|member| member.settled && member.name == name))
    }

    /// The group that this token was given for, if it bears this name.
    pub(super) fn group(&mut self, db: &Connection, fence: i64, group: &GroupId) -> Outcome<Option<i64>> {
        let name = name_hash(group);
        Ok(self
            .member(db, fence)?
            .filter(|member| member.name == name)
            .map(|member| member.gid))
    }

    /// Notes that this token is settled.
    pub(super) fn settle(&mut self, db: &Connection, fence: i64) -> Outcome<()> {
        if let Some(member) = self.member(db, fence)? {
            member.settled = true;
        }
        if let Some((_, grant)) = self.0.range_mut(..=fence).next_back() {
            grant.dirty = true;
        }
        Ok(())
    }

    fn member(&mut self, db: &Connection, fence: i64) -> Outcome<Option<&mut Member>> {
        if self.at(fence).is_none() {
            let found: Option<(i64, Vec<u8>)> = db
                .prepare_cached(
                    "SELECT base, members FROM fw_grants WHERE base <= ?1 ORDER BY base DESC LIMIT 1",
                )?
                .query_row([fence], |row| Ok((row.get(0)?, row.get(1)?)))
                .optional()?;
            let Some((base, bytes)) = found else {
                return Ok(None);
            };
            let members = codec::decode(&bytes, "a grant")?;
            self.0.entry(base).or_insert(Grant {
                members,
                dirty: false,
            });
        }
        Ok(self.at(fence))
    }

    fn at(&mut self, fence: i64) -> Option<&mut Member> {
        let (base, grant) = self.0.range_mut(..=fence).next_back()?;
        grant.members.get_mut(usize::try_from(fence - base).ok()?)
    }

    pub(super) fn save(&mut self, write: &Write<'_>) -> Outcome<()> {
        for (base, grant) in std::mem::take(&mut self.0) {
            if grant.dirty {
                write
                    .db
                    .prepare_cached("UPDATE fw_grants SET members = ?2, touched_at = ?3 WHERE base = ?1")?
                    .execute((base, codec::encode(&grant.members)?, write.now.0))?;
            }
        }
        Ok(())
    }
}
