//! Proving a live queue right.
//!
//! A reader looks at a page of groups; whatever seems wrong is looked at again by the writer, because the two looks of
//! the reader's and of live work are not at the same time, and is put right there where it can be.
use super::{
    SqliteQueue, grants,
    group::{Group, select_groups},
    jobs::stored_bytes,
    line, mend,
};
use crate::{codec, error::Outcome, page::limit_of, reader::Read};
use foldwright_ports::{Checked, Cursor, Result};
use rusqlite::{Connection, OptionalExtension};
use std::collections::BTreeMap;

/// What seemed wrong on a page.
#[derive(Default)]
struct Page {
    looked_at: u64,
    groups: Vec<i64>,
    lines: Vec<(i64, i64)>,
    /// Groups that are missing, with how many jobs they should have.
    missing: Vec<(i64, i64)>,
    next: Option<i64>,
}

/// Proves the invariants on a page of groups, and puts right what is provably stray.
pub(super) async fn check(queue: &SqliteQueue, from: Option<Cursor>, groups: usize) -> Result<Checked> {
    let page = queue
        .store
        .readers
        .run("check", move |read| look(read, from.as_ref(), groups))
        .await?;
    let mut checked = Checked {
        groups: page.looked_at,
        ..Checked::default()
    };
    let Page {
        groups,
        lines,
        missing,
        next,
        ..
    } = page;
    if !groups.is_empty() || !lines.is_empty() || !missing.is_empty() {
        checked.violations = queue
            .change("check", move |work| mend::mend(work, &groups, &lines, &missing))
            .await?;
    }
    checked.next = match next {
        Some(next) => {
            let encoded = codec::encode(&next).map_err(|fault| fault.at("check"))?;
            Some(Cursor(encoded.into()))
        }
        None => None,
    };
    for violation in &checked.violations {
        tracing::error!(group = ?violation.group, what = %violation.what, repaired = violation.repaired, "the queue was wrong");
    }
    Ok(checked)
}

fn look(read: &mut Read<'_>, from: Option<&Cursor>, most: usize) -> Outcome<Page> {
    let (db, now) = (read.db, read.now.0);
    let after: i64 = from.map_or(Ok(i64::MIN), codec::cursor)?;
    let mut page = Page::default();
    let mut last = after;
    {
        let mut select = db.prepare_cached(select_groups!("WHERE gid > ?1 ORDER BY gid LIMIT ?2"))?;
        let mut rows = select.query((after, limit_of(most.max(1))))?;
        while let Some(row) = rows.next()? {
            let group = Group::read(row)?;
            (page.looked_at, last) = (page.looked_at + 1, group.gid);
            if !faults(db, &group, now)?.is_empty() {
                page.groups.push(group.gid);
            }
        }
    }
    page.next = (page.looked_at == most.max(1) as u64).then_some(last);
    let to = page.next.unwrap_or(i64::MAX);
    page.missing = pairs(
        db,
        "SELECT gid, count(*) FROM fw_jobs j WHERE gid > ?1 AND gid <= ?2
         AND NOT EXISTS (SELECT 1 FROM fw_groups g WHERE g.gid = j.gid) GROUP BY gid",
        (after, to),
    )?;
    if page.next.is_none() {
        page.lines = pairs(
            db,
            "SELECT tenant, slot FROM fw_lines l WHERE ?1 < ?2
             AND NOT EXISTS (SELECT 1 FROM fw_groups g WHERE g.slot = l.slot AND g.tenant = l.tenant)",
            (0, 1),
        )?;
    }
    Ok(page)
}

fn pairs(db: &Connection, sql: &str, range: (i64, i64)) -> Outcome<Vec<(i64, i64)>> {
    let mut select = db.prepare_cached(sql)?;
    let mut rows = select.query(range)?;
    let mut pairs = Vec::new();
    while let Some(row) = rows.next()? {
        pairs.push((row.get(0)?, row.get(1)?));
    }
    Ok(pairs)
}

/// What can be wrong with a group.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Fault {
    Counts,
    Bytes,
    Leased,
    Grant,
    Place,
    Blocked,
    Line,
}

impl Fault {
    pub(super) const fn what(self) -> &'static str {
        match self {
            Self::Counts => "the group counts other jobs than it has",
            Self::Bytes => "the group counts other bytes than its jobs carry",
            Self::Leased => "a leased job is gone",
            Self::Grant => "nothing would notice that the group's lease lapses",
            Self::Place => "the group stands in another place than its jobs give it",
            Self::Blocked => "the list of blocked groups does not follow the group",
            Self::Line => "its tenant's line does not follow the group",
        }
    }
}

pub(super) struct Counted {
    pub(super) routes: BTreeMap<i64, i64>,
    pub(super) bytes: i64,
}

pub(super) fn counted(db: &Connection, gid: i64) -> Outcome<Counted> {
    let mut counted = Counted {
        routes: BTreeMap::new(),
        bytes: 0,
    };
    let mut select = db.prepare_cached(concat!(
        "SELECT route, count(*), sum(",
        stored_bytes!(),
        ") FROM fw_jobs WHERE gid = ?1 GROUP BY route"
    ))?;
    let mut rows = select.query([gid])?;
    while let Some(row) = rows.next()? {
        counted.routes.insert(row.get(0)?, row.get(1)?);
        counted.bytes += row.get::<_, i64>(2)?;
    }
    Ok(counted)
}

pub(super) fn faults(db: &Connection, group: &Group, now: i64) -> Outcome<Vec<Fault>> {
    let mut faults = Vec::new();
    let counted = counted(db, group.gid)?;
    if counted.routes != group.counts.iter().collect() {
        faults.push(Fault::Counts);
    }
    if counted.bytes != group.bytes {
        faults.push(Fault::Bytes);
    }
    if let Some(lease) = &group.lease {
        for job in &lease.jobs.0 {
            if line::standing(db, job.seq)?.is_none() {
                faults.push(Fault::Leased);
                break;
            }
        }
        if !is_watched(db, lease.fence, group.gid)? {
            faults.push(Fault::Grant);
        }
    }
    let listed: Option<i64> = db
        .prepare_cached("SELECT blocked_at FROM fw_groups WHERE gid = ?1")?
        .query_row([group.gid], |row| row.get(0))?;
    if listed != group.more.blocked.as_ref().map(|block| block.since) {
        faults.push(Fault::Blocked);
    }
    // Whatever is about to be worked out again proves nothing.
    if group.turn.recheck.is_none_or(|at| at > now) && !counted.routes.is_empty() {
        if !stands_right(db, group, now)? {
            faults.push(Fault::Place);
        } else if !line_follows(db, group)? {
            faults.push(Fault::Line);
        }
    }
    Ok(faults)
}

/// Whether a reap will find this lease.
fn is_watched(db: &Connection, fence: i64, gid: i64) -> Outcome<bool> {
    let found: Option<(i64, Option<i64>)> = db
        .prepare_cached("SELECT base, check_at FROM fw_grants WHERE base <= ?1 ORDER BY base DESC LIMIT 1")?
        .query_row([fence], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    let Some((base, Some(_))) = found else {
        return Ok(false);
    };
    let members = grants::members(db, base)?.unwrap_or_default();
    let place = usize::try_from(fence - base).unwrap_or(usize::MAX);
    Ok(members
        .get(place)
        .is_some_and(|member| member.gid == gid && !member.settled))
}

/// Whether a group stands where its jobs put it.
fn stands_right(db: &Connection, group: &Group, now: i64) -> Outcome<bool> {
    if line::is_out(group) {
        return Ok(group.turn.head.is_none());
    }
    let waits =
        group.more.closed_until.is_some_and(|until| until > now) || group.more.reserved_at(now).is_some();
    let Some(head) = group.turn.head else {
        return Ok(waits && group.turn.recheck.is_some());
    };
    if waits {
        return Ok(false);
    }
    let Some(job) = line::standing(db, head.seq)? else {
        return Ok(false);
    };
    let slot: Option<(i64, u8)> = db
        .prepare_cached("SELECT route, format FROM fw_slots WHERE id = ?1")?
        .query_row([head.slot], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    let same = (job.score, job.due) == (head.score, head.due) && slot == Some((job.route, job.format));
    if !same || head.due > now {
        return Ok(same);
    }
    Ok(line::first_job(db, group.gid, now)?.is_some_and(|first| first.seq == head.seq))
}

/// Whether the line in which a group stands begins with it or before it.
fn line_follows(db: &Connection, group: &Group) -> Outcome<bool> {
    let Some(head) = group.turn.head else {
        return Ok(true);
    };
    let line: Option<(i64, i64)> = db
        .prepare_cached(
            "SELECT l.at, (SELECT min(g.at) FROM fw_groups g WHERE g.slot = l.slot AND g.tenant = l.tenant)
             FROM fw_lines l WHERE l.tenant = ?1 AND l.slot = ?2",
        )?
        .query_row((group.tenant, head.slot), |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    Ok(line.is_some_and(|(at, first)| at == first))
}
