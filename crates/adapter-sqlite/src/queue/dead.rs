//! Dead letters.
use super::{
    counters::State,
    jobs,
    line::{self, Standing},
    outcome,
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
use foldwright_ports::{Cursor, DeadLetter, GroupId, JobId, Limits, Page};
use rusqlite::{OptionalExtension, params};

/// Takes a job that was in `state` out of its group and keeps it for an operator. Its row, and with it its id and its
/// holds, stays.
pub(super) fn bury(
    work: &mut Work<'_, '_>,
    gid: i64,
    job: &LeasedJob,
    state: State,
    error: &str,
) -> Outcome<()> {
    let (db, now) = (work.write.db, work.now());
    work.drop_job(gid, job, state)?;
    work.depths.add(job.route, State::Dead, 1);
    db.prepare_cached("UPDATE fw_jobs SET gid = NULL WHERE seq = ?1")?
        .execute([job.seq])?;
    let group = work.groups.entry(gid)?.misplace();
    db.prepare_cached(
        "INSERT INTO fw_dead (seq, tenant, path, key, since, error) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
    )?
    .execute(params![job.seq, group.tenant, group.path, group.key, now, error])?;
    Ok(())
}

/// Puts a dead letter back to its old place.
pub(super) fn requeue(work: &mut Work<'_, '_>, tenant: &TenantId, job: JobId) -> Outcome<bool> {
    let db = work.write.db;
    let Some(tenant) = work.write.names.find(db, tenant.as_str())? else {
        return Ok(false);
    };
    let found = db
        .prepare_cached(
            "SELECT d.tenant, d.path, d.key, j.seq, j.score, j.due, j.route, j.format, j.due > j.staged_at
             FROM fw_jobs j JOIN fw_dead d ON d.seq = j.seq WHERE j.tenant = ?1 AND j.id = ?2",
        )?
        .query_row(params![tenant, job.0], |row| {
            Ok((
                row.get::<_, i64>(0)?,
                row.get(1)?,
                row.get::<_, String>(2)?,
                Standing {
                    seq: row.get(3)?,
                    score: row.get(4)?,
                    due: row.get(5)?,
                    route: row.get(6)?,
                    format: row.get(7)?,
                },
                row.get::<_, bool>(8)?,
            ))
        })
        .optional()?;
    let Some((owner, path, key, standing, delayed)) = found else {
        return Ok(false);
    };
    if owner != tenant {
        return Err(Fault::Foreign("dead letter"));
    }
    let gid = work
        .groups
        .obtain(db, &mut work.numbers, (tenant, path, key.as_str()))?;
    db.prepare_cached("DELETE FROM fw_dead WHERE seq = ?1")?
        .execute([standing.seq])?;
    db.prepare_cached("UPDATE fw_jobs SET gid = ?2 WHERE seq = ?1")?
        .execute([standing.seq, gid])?;
    let bytes = jobs::bytes_of(db, standing.seq)?;
    work.depths.add(standing.route, State::Dead, -1);
    work.add_job(gid, standing.route, bytes)?;
    let entry = work.groups.entry(gid)?;
    let more = &mut entry.touch().more;
    more.delayed |= delayed;
    more.forgive();
    line::join(work.write, entry, standing)?;
    work.write.woke = true;
    Ok(true)
}

/// Removes a dead letter for good.
pub(super) fn discard(work: &mut Work<'_, '_>, tenant: &TenantId, job: JobId) -> Outcome<bool> {
    let db = work.write.db;
    let Some(tenant) = work.write.names.find(db, tenant.as_str())? else {
        return Ok(false);
    };
    let found = db
        .prepare_cached(
            "SELECT j.seq, j.route, d.tenant FROM fw_jobs j JOIN fw_dead d ON d.seq = j.seq
             WHERE j.tenant = ?1 AND j.id = ?2",
        )?
        .query_row(params![tenant, job.0], |row| {
            Ok((row.get::<_, i64>(0)?, row.get(1)?, row.get::<_, i64>(2)?))
        })
        .optional()?;
    let Some((seq, route, owner)) = found else {
        return Ok(false);
    };
    if owner != tenant {
        return Err(Fault::Foreign("dead letter"));
    }
    db.prepare_cached("DELETE FROM fw_dead WHERE seq = ?1")?
        .execute([seq])?;
    work.depths.add(route, State::Dead, -1);
    outcome::end_job(
        work,
        tenant,
        &LeasedJob {
            seq,
            route,
            holds: true,
            bytes: None,
        },
    )?;
    Ok(true)
}

/// Dead letters by the time of their death.
pub(super) fn list(
    read: &mut Read<'_>,
    tenant: Option<&TenantId>,
    from: Option<&Cursor>,
    limits: Limits,
) -> Outcome<Page<DeadLetter>> {
    let db = read.db;
    let Some(start) = Since::new(read, tenant, from)? else {
        return Ok(Page::last(Vec::new()));
    };
    let mut select = db.prepare_cached(if start.tenant.is_some() {
        "SELECT d.since, d.seq, d.tenant, d.path, d.key, d.error, j.tenant, j.id, j.route, j.header
         FROM fw_dead d JOIN fw_jobs j ON j.seq = d.seq
         WHERE d.tenant = ?3 AND (d.since, d.seq) > (?1, ?2) ORDER BY d.since, d.seq"
    } else {
        "SELECT d.since, d.seq, d.tenant, d.path, d.key, d.error, j.tenant, j.id, j.route, j.header
         FROM fw_dead d JOIN fw_jobs j ON j.seq = d.seq
         WHERE (d.since, d.seq) > (?1, ?2) AND ?3 IS NULL ORDER BY d.since, d.seq"
    })?;
    let mut rows = select.query(params![start.last.0, start.last.1, start.tenant])?;
    let mut page = Filling::new(limits);
    while let Some(row) = rows.next()? {
        let owner: i64 = row.get(2)?;
        if row.get::<_, i64>(6)? != owner {
            return Err(Fault::Foreign("dead letter"));
        }
        let since = row.get(0)?;
        let letter = DeadLetter {
            job: JobId(row.get(7)?),
            group: GroupId {
                tenant: read.names.tenant(db, owner)?,
                path: read.names.text(db, row.get(3)?)?,
                key: row.get(4)?,
            },
            route: read.names.route(db, row.get(8)?)?,
            header: row.get::<_, Vec<u8>>(9)?.into(),
            error: row.get(5)?,
            since: Millis(since),
        };
        let bytes = letter.header.len() + letter.error.len();
        if !page.offer(letter, bytes, (since, row.get::<_, i64>(1)?)) {
            break;
        }
    }
    page.finish()
}
