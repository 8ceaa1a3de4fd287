//! The operator's verbs.
use super::{
    counters::State,
    dedup,
    group::{Group, LeasedJob, select_groups},
    outcome,
    work::Work,
};
use crate::{
    codec,
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
    let (Some(tenant), Some(path)) = (
        read.names.find(db, id.tenant.as_str())?,
        read.names.find(db, &id.path)?,
    ) else {
        return Ok(None);
    };
    let mut select = db.prepare_cached(select_groups!("WHERE tenant = ?1 AND path = ?2 AND key = ?3"))?;
    let mut rows = select.query(params![tenant, path, id.key.as_ref()])?;
    let Some(row) = rows.next()? else {
        return Ok(None);
    };
    let group = Group::read(row)?;
    if group.counts.is_empty() {
        return Ok(None);
    }
    let mut select =
        db.prepare_cached("SELECT id, tenant FROM fw_jobs WHERE gid = ?1 ORDER BY score, seq LIMIT ?2")?;
    let mut rows = select.query((group.gid, SHOWN))?;
    let mut jobs = Vec::new();
    while let Some(row) = rows.next()? {
        if row.get::<_, i64>(1)? != tenant {
            return Err(Fault::Foreign("stored job"));
        }
        jobs.push(JobId(row.get(0)?));
    }
    Ok(Some(GroupView {
        jobs,
        depth: group.counts.total(),
        leased: group.lease.is_some(),
        failures: group.more.failures,
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
    let (since, gid): (i64, i64) = match from {
        Some(cursor) => codec::cursor(cursor)?,
        None => (i64::MIN, i64::MIN),
    };
    let tenant = match tenant {
        Some(tenant) => match read.names.find(db, tenant.as_str())? {
            Some(tenant) => Some(tenant),
            None => return Ok(Page::last(Vec::new())),
        },
        None => None,
    };
    let mut select = db.prepare_cached(if tenant.is_some() {
        select_groups!("WHERE tenant = ?3 AND blocked_at IS NOT NULL AND (blocked_at, gid) > (?1, ?2) ORDER BY blocked_at, gid")
    } else {
        select_groups!("WHERE blocked_at IS NOT NULL AND (blocked_at, gid) > (?1, ?2) AND ?3 IS NULL ORDER BY blocked_at, gid")
    })?;
    let mut rows = select.query(params![since, gid, tenant])?;
    let mut page = Filling::new(limits);
    while let Some(row) = rows.next()? {
        let group = Group::read(row)?;
        let Some(block) = group.more.blocked else {
            return Err(Fault::corrupt("a blocked group has lost its record"));
        };
        let key = (block.since, group.gid);
        let bytes = group.key.len() + block.error.len();
        let blocked = BlockedGroup {
            group: GroupId {
                tenant: read.names.tenant(db, group.tenant)?,
                path: read.names.text(db, group.path)?,
                key: group.key.into(),
            },
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
    group.forgive();
    for (route, n) in group.counts.iter() {
        work.depths.shift(route, State::Blocked, State::Waiting, n);
    }
    work.write.woke = true;
    Ok(true)
}

/// Discards waiting and blocked jobs of a group, in order.
pub(super) fn drain(work: &mut Work<'_, '_>, id: &GroupId, limit: usize) -> Outcome<usize> {
    let db = work.write.db;
    let Some(gid) = find(work, id)? else {
        return Ok(0);
    };
    let group = &work.groups.entry(gid)?.group;
    let tenant = group.tenant;
    let state = if group.more.blocked.is_some() {
        State::Blocked
    } else {
        State::Waiting
    };
    let mut jobs = Vec::new();
    {
        let mut select =
            db.prepare_cached("SELECT seq, route FROM fw_jobs WHERE gid = ?1 ORDER BY score, seq")?;
        let mut rows = select.query([gid])?;
        while jobs.len() < limit {
            let Some(row) = rows.next()? else {
                break;
            };
            let job = LeasedJob {
                seq: row.get(0)?,
                route: row.get(1)?,
                holds: true,
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
        outcome::end_job(work, tenant, job)?;
        work.depths.add(job.route, state, -1);
        let group = work.groups.entry(gid)?.misplace();
        group.counts.remove(job.route);
        dedup::close(group, job.seq);
    }
    work.groups.entry(gid)?.misplace().forgive();
    Ok(jobs.len())
}

fn find(work: &mut Work<'_, '_>, id: &GroupId) -> Outcome<Option<i64>> {
    let db = work.write.db;
    let (Some(tenant), Some(path)) = (
        work.write.names.find(db, id.tenant.as_str())?,
        work.write.names.find(db, &id.path)?,
    ) else {
        return Ok(None);
    };
    work.groups.find(db, tenant, path, &id.key)
}
