//! Why a group or a job does not run.
use super::{
    group::{Group, select_groups},
    state::Sight,
};
use crate::{
    error::{Fault, Outcome},
    reader::Read,
};
use foldwright_domain::{Millis, TenantId};
use foldwright_ports::{GroupId, GroupState, JobId, Reason, Why};
use rusqlite::{Connection, OptionalExtension, params};

/// Why a group does not run.
pub(super) fn why(read: &mut Read<'_>, id: &GroupId) -> Outcome<Option<Why>> {
    let Some(group) = Group::find(read.db, read.names, id)? else {
        return Ok(None);
    };
    let reserved = group.more.reserved_at(read.now.0).is_some();
    if group.counts.is_empty() && group.lease.is_none() && !reserved {
        return Ok(None);
    }
    let seen = Sight::new(read)?.look(read, &group)?;
    Ok(Some(Why {
        group: id.clone(),
        state: seen.state,
        reasons: seen.reasons,
    }))
}

struct Found {
    seq: i64,
    gid: Option<i64>,
    score: i64,
    due: i64,
}

/// Why a job does not run: what holds its group, and what comes before it.
pub(super) fn why_job(read: &mut Read<'_>, tenant: &TenantId, job: JobId) -> Outcome<Option<Why>> {
    let db = read.db;
    let Some(tenant) = read.names.find(db, tenant.as_str())? else {
        return Ok(None);
    };
    let found = db
        .prepare_cached("SELECT seq, gid, score, due FROM fw_jobs WHERE tenant = ?1 AND id = ?2")?
        .query_row(params![tenant, job.0], |row| {
            Ok(Found {
                seq: row.get(0)?,
                gid: row.get(1)?,
                score: row.get(2)?,
                due: row.get(3)?,
            })
        })
        .optional()?;
    let Some(found) = found else {
        return Ok(None);
    };
    let Some(gid) = found.gid else {
        return of_letter(read, tenant, found.seq).map(Some);
    };
    let group = load(db, gid)?.ok_or_else(|| Fault::corrupt(format!("group {gid} is missing")))?;
    if group.tenant != tenant {
        return Err(Fault::Foreign("stored job"));
    }
    let mut seen = Sight::new(read)?.look(read, &group)?;
    if !group.holds_leased(found.seq) {
        let delayed = Reason::Delayed {
            until: Millis(found.due),
        };
        seen.reasons
            .retain(|reason| !matches!(reason, Reason::Delayed { .. }));
        if found.due > read.now.0 {
            seen.reasons.push(delayed);
        }
        seen.reasons.extend(behind(read, gid, &found)?);
    }
    Ok(Some(Why {
        group: group.id(db, read.names)?,
        state: seen.state,
        reasons: seen.reasons,
    }))
}

fn load(db: &Connection, gid: i64) -> Outcome<Option<Group>> {
    let mut select = db.prepare_cached(select_groups!("WHERE gid = ?1"))?;
    let mut rows = select.query([gid])?;
    rows.next()?.map(Group::read).transpose()
}

/// A dead letter has a group but no reason.
fn of_letter(read: &mut Read<'_>, tenant: i64, seq: i64) -> Outcome<Why> {
    let db = read.db;
    let (owner, path, key): (i64, i64, String) = db
        .prepare_cached("SELECT tenant, path, key FROM fw_dead WHERE seq = ?1")?
        .query_row([seq], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
    if owner != tenant {
        return Err(Fault::Foreign("dead letter"));
    }
    let group = GroupId {
        tenant: read.names.tenant(db, tenant)?,
        path: read.names.text(db, path)?,
        key: key.into(),
    };
    let state = why(read, &group)?.map_or(GroupState::Empty, |why| why.state);
    Ok(Why {
        group,
        state,
        reasons: Vec::new(),
    })
}

/// The jobs that will have come due by the time this one has, and stand before it.
fn behind(read: &Read<'_>, gid: i64, job: &Found) -> Outcome<Option<Reason>> {
    let (jobs, first): (i64, Option<[u8; 24]>) = read
        .db
        .prepare_cached(
            "SELECT count(*), (
                 SELECT id FROM fw_jobs WHERE gid = ?1 AND due <= ?4 AND (score, seq) < (?2, ?3)
                 ORDER BY score, seq LIMIT 1
             ) FROM fw_jobs WHERE gid = ?1 AND due <= ?4 AND (score, seq) < (?2, ?3)",
        )?
        .query_row((gid, job.score, job.seq, job.due.max(read.now.0)), |row| {
            Ok((row.get(0)?, row.get(1)?))
        })?;
    Ok(first.map(|first| Reason::Behind {
        job: JobId(first),
        jobs: jobs.unsigned_abs(),
    }))
}
