//! The operator's verbs.
use super::{
    counters::State,
    dead, dedup,
    group::{Group, select_groups},
    groups::Named,
    jobs::stored_bytes,
    line, outcome,
    record::LeasedJob,
    since::Since,
    work::Work,
};
use crate::{
    error::{Fault, Outcome},
    page::Filling,
    reader::Read,
};
use foldwright_domain::{Millis, TenantId};
use foldwright_ports::{BlockedGroup, Cursor, Depth, GroupId, GroupView, JobId, Limits, Page, Route};
use rusqlite::params;
use std::collections::BTreeMap;

/// How many jobs of a group are shown.
const SHOWN: i64 = 100;

/// How many jobs are in which state.
pub(super) fn depth(read: &mut Read<'_>) -> Outcome<BTreeMap<Route, Depth>> {
    let mut select = read.db.prepare_cached(
        "SELECT route, waiting, leased, blocked, dead FROM fw_depths
         WHERE waiting <> 0 OR leased <> 0 OR blocked <> 0 OR dead <> 0",
    )?;
    let mut rows = select.query([])?;
    let mut depths = BTreeMap::new();
    while let Some(row) = rows.next()? {
        let route = read.names.route(read.db, row.get(0)?)?;
        let depth = Depth {
            waiting: row.get::<_, i64>(1)?.try_into().map_err(negative)?,
            leased: row.get::<_, i64>(2)?.try_into().map_err(negative)?,
            blocked: row.get::<_, i64>(3)?.try_into().map_err(negative)?,
            dead: row.get::<_, i64>(4)?.try_into().map_err(negative)?,
        };
        depths.insert(route, depth);
    }
    Ok(depths)
}

fn negative(_: std::num::TryFromIntError) -> Fault {
    Fault::corrupt("a counter is below zero")
}

/// One group as it stands.
pub(super) fn view(read: &mut Read<'_>, id: &GroupId) -> Outcome<Option<GroupView>> {
    let (db, now) = (read.db, read.now.0);
    let Some(group) = Group::find(db, read.names, id)? else {
        return Ok(None);
    };
    if group.counts.is_empty() && group.lease.is_none() {
        return Ok(None);
    }
    let first = line::first_job(db, group.gid, now)?;
    let leased = group.lease.as_ref().and_then(|lease| lease.jobs.0.first());
    let first = leased.map(|job| job.seq).or(first.map(|job| job.seq));
    let mut select =
        db.prepare_cached("SELECT id, tenant FROM fw_jobs WHERE gid = ?1 ORDER BY score, seq LIMIT ?2")?;
    let mut rows = select.query((group.gid, SHOWN))?;
    let mut jobs = Vec::new();
    while let Some(row) = rows.next()? {
        if row.get::<_, i64>(1)? != group.tenant {
            return Err(Fault::Foreign("stored job"));
        }
        jobs.push(JobId(row.get(0)?));
    }
    Ok(Some(GroupView {
        jobs,
        depth: group.counts.total(),
        leased: group.lease.is_some(),
        failures: first.map_or(0, |seq| group.more.failures_of(seq)),
        previous: group.previous,
        blocked_by: group.more.blocked.map(|block| block.error),
        last_error: group.more.last_error,
        closed_until: group.more.closed_until.filter(|until| *until > now).map(Millis),
    }))
}

/// Blocked groups by the time at which they were blocked.
pub(super) fn blocked(
    read: &mut Read<'_>,
    tenant: Option<&TenantId>,
    from: Option<&Cursor>,
    limits: Limits,
) -> Outcome<Page<BlockedGroup>> {
    let db = read.db;
    let Some(start) = Since::new(read, tenant, from)? else {
        return Ok(Page::last(Vec::new()));
    };
    let mut select = db.prepare_cached(if start.tenant.is_some() {
        select_groups!("WHERE tenant = ?3 AND blocked_at IS NOT NULL AND (blocked_at, gid) > (?1, ?2) ORDER BY blocked_at, gid")
    } else {
        select_groups!("WHERE blocked_at IS NOT NULL AND (blocked_at, gid) > (?1, ?2) AND ?3 IS NULL ORDER BY blocked_at, gid")
    })?;
    let mut rows = select.query(params![start.last.0, start.last.1, start.tenant])?;
    let mut page = Filling::new(limits);
    while let Some(row) = rows.next()? {
        let group = Group::read(row)?;
        let Some(block) = group.more.blocked.clone() else {
            return Err(Fault::corrupt("a blocked group has lost its record"));
        };
        let key = (block.since, group.gid);
        let bytes = group.key.len() + block.error.len();
        let blocked = BlockedGroup {
            group: group.id(db, read.names)?,
            job: JobId(block.job),
            route: read.names.route(db, block.route)?,
            failures: group.more.failures,
            error: block.error,
            since: Millis(block.since),
        };
        if !page.offer(blocked, bytes, key) {
            break;
        }
    }
    page.finish()
}

/// Opens a blocked group.
pub(super) fn unblock(work: &mut Work<'_, '_>, id: &GroupId) -> Outcome<bool> {
    let Some(gid) = find(work, id)? else {
        return Ok(false);
    };
    let entry = work.groups.entry(gid)?;
    if entry.group.more.blocked.is_none() {
        return Ok(false);
    }
    let group = entry.misplace();
    group.more.blocked = None;
    group.more.forgive();
    for (route, n) in group.counts.iter() {
        work.depths.shift(route, State::Blocked, State::Waiting, n);
    }
    work.write.woke = true;
    Ok(true)
}

/// Discards waiting and blocked jobs of a group, in order.
pub(super) fn drain(work: &mut Work<'_, '_>, id: &GroupId, limit: usize) -> Outcome<usize> {
    remove(work, id, limit, |work, gid, job, state| {
        let tenant = work.groups.entry(gid)?.group.tenant;
        work.drop_job(gid, job, state)?;
        outcome::end_job(work, tenant, job)
    })
}

/// Moves waiting and blocked jobs of a group to the dead letters, in order.
pub(super) fn bury(work: &mut Work<'_, '_>, id: &GroupId, reason: &str, limit: usize) -> Outcome<usize> {
    remove(work, id, limit, |work, gid, job, state| {
        dead::bury(work, gid, job, state, reason)
    })
}

/// Takes jobs that are not handed out from a group, in order; answers how many.
fn remove(
    work: &mut Work<'_, '_>,
    id: &GroupId,
    limit: usize,
    take: impl Fn(&mut Work<'_, '_>, i64, &LeasedJob, State) -> Outcome<()>,
) -> Outcome<usize> {
    let db = work.write.db;
    let Some(gid) = find(work, id)? else {
        return Ok(0);
    };
    let group = &work.groups.entry(gid)?.group;
    let state = State::of_group(group);
    let mut jobs = Vec::new();
    {
        let mut select = db.prepare_cached(concat!(
            "SELECT seq, route, ",
            stored_bytes!(),
            " FROM fw_jobs WHERE gid = ?1 ORDER BY score, seq"
        ))?;
        let mut rows = select.query([gid])?;
        while jobs.len() < limit {
            let Some(row) = rows.next()? else {
                break;
            };
            let job = LeasedJob {
                seq: row.get(0)?,
                route: row.get(1)?,
                holds: true,
                bytes: Some(row.get(2)?),
            };
            if !group.holds_leased(job.seq) {
                jobs.push(job);
            }
        }
    }
    if jobs.is_empty() {
        return Ok(0);
    }
    for job in &jobs {
        take(work, gid, job, state)?;
        dedup::close(work.groups.entry(gid)?.misplace(), job.seq);
    }
    work.groups.entry(gid)?.misplace().more.forgive();
    work.write.woke = true;
    Ok(jobs.len())
}

fn find(work: &mut Work<'_, '_>, id: &GroupId) -> Outcome<Option<i64>> {
    let db = work.write.db;
    let Some(named) = Named::find(db, work.write.names, id)? else {
        return Ok(None);
    };
    work.groups.find(db, named.tenant, named.path, &id.key)
}
