//! Staging.
use super::{
    dedup,
    groups::Entry,
    holds, jobs,
    line::{self, Standing},
    tenants::signed,
    work::Work,
};
use crate::error::{Fault, Outcome};
use foldwright_domain::Position;
use foldwright_ports::{GroupId, NewJob, Staged};
use rusqlite::{Connection, Row, params};

/// Whether a job keeps to the limits of the port.
pub(super) fn check(job: &NewJob) -> Result<(), String> {
    if job.header.len() > NewJob::MAX_HEADER_BYTES {
        return Err(format!(
            "the header of job {} has {} bytes, the most is {}",
            job.id,
            job.header.len(),
            NewJob::MAX_HEADER_BYTES
        ));
    }
    check_group(&job.group).map_err(|error| format!("job {}: {error}", job.id))
}

pub(super) fn check_group(group: &GroupId) -> Result<(), String> {
    if group.key.len() > GroupId::MAX_KEY_BYTES {
        return Err(format!(
            "the group key has {} bytes, the most is {}",
            group.key.len(),
            GroupId::MAX_KEY_BYTES
        ));
    }
    Ok(())
}

/// Stages one job.
pub(super) fn stage(work: &mut Work<'_, '_>, job: &NewJob) -> Outcome<Staged> {
    let (db, now) = (work.write.db, work.write.now);
    let tenant = work.write.names.number(db, job.group.tenant.as_str())?;
    let path = work.write.names.number(db, &job.group.path)?;
    let route = work.write.names.number(db, job.route.as_str())?;
    let gid = work
        .groups
        .obtain(db, &mut work.numbers, (tenant, path, &job.group.key))?;
    if job.dedup.is_some()
        && let Some(staged) = dedup::merge(work, gid, route, job)?
    {
        return Ok(staged);
    }
    let place = jobs::Place {
        seq: work.numbers.next_seq(),
        tenant,
        gid,
        route,
        score: jobs::score(job, now, &work.write.settings.queue),
        due: dedup::due(&work.groups.entry(gid)?.group, route, now, job).0,
        staged_at: now.0,
    };
    if !jobs::insert(db, &place, job)? {
        known(work, tenant, job)?;
        return Ok(Staged::Known);
    }
    for hash in holds::of_job(job) {
        holds::take(db, tenant, hash, place.seq)?;
    }
    work.add_job(gid, route, signed(job.stored_bytes()))?;
    let entry = work.groups.entry(gid)?;
    let group = entry.touch();
    group.more.delayed |= place.due > place.staged_at;
    dedup::open(group, route, place.seq, now, job);
    line::join(
        work.write,
        entry,
        Standing {
            seq: place.seq,
            score: place.score,
            due: place.due,
            route,
            format: job.format,
        },
    )?;
    work.write.woke = true;
    Ok(Staged::New)
}

/// A job whose id is there already.
pub(super) struct Known {
    pub(super) seq: i64,
    /// `None` for a dead letter.
    gid: Option<i64>,
    format: u8,
    position: Option<Position>,
    /// What its context is the state of.
    context_of: Option<[u8; 16]>,
}

impl Known {
    fn read(row: &Row<'_>) -> Outcome<Self> {
        Ok(Self {
            seq: row.get(0)?,
            gid: row.get(1)?,
            format: row.get(2)?,
            position: jobs::position(row, 3)?,
            context_of: row.get(5)?,
        })
    }
}

pub(super) fn find(db: &Connection, tenant: i64, job: &NewJob) -> Outcome<Option<Known>> {
    let mut select = db.prepare_cached(
        "SELECT seq, gid, format, position_at, position_id, context_of FROM fw_jobs WHERE tenant = ?1 AND id = ?2",
    )?;
    let mut rows = select.query(params![tenant, job.id.0])?;
    rows.next()?.map(Known::read).transpose()
}

pub(super) fn find_seq(db: &Connection, seq: i64) -> Outcome<Known> {
    let mut select = db.prepare_cached(
        "SELECT seq, gid, format, position_at, position_id, context_of FROM fw_jobs WHERE seq = ?1",
    )?;
    let mut rows = select.query([seq])?;
    let row = rows.next()?.ok_or_else(|| Fault::corrupt("a job is gone"))?;
    Known::read(row)
}

/// The same id again: at most the body of a waiting job changes.
pub(super) fn known(work: &mut Work<'_, '_>, tenant: i64, job: &NewJob) -> Outcome<()> {
    if !job.replace {
        return Ok(());
    }
    let known = find(work.write.db, tenant, job)?.ok_or_else(|| Fault::corrupt("a job is gone"))?;
    replace(work, tenant, &known, job)
}

/// Gives a job that waits what a canonically later one carries.
pub(super) fn replace(work: &mut Work<'_, '_>, tenant: i64, known: &Known, job: &NewJob) -> Outcome<()> {
    if !jobs::is_later(job.position, known.position) {
        return Ok(());
    }
    let Some(entry) = waiting(work, known)? else {
        return Ok(());
    };
    if known.format != job.format {
        entry.misplace();
    }
    swap(work, tenant, known, job, jobs::replace)
}

/// Merges what `job` carries into one that waits: all of it if it is canonically later, else the newer state of the
/// same thing.
pub(super) fn merge(work: &mut Work<'_, '_>, tenant: i64, known: &Known, job: &NewJob) -> Outcome<()> {
    let of = job.context.as_ref().map(|context| context.of);
    if jobs::is_later(job.position, known.position) {
        return replace(work, tenant, known, job);
    }
    if of.is_none() || of != known.context_of || waiting(work, known)?.is_none() {
        return Ok(());
    }
    swap(work, tenant, known, job, jobs::replace_context)
}

/// The group of a job that waits and is not blocked.
fn waiting<'a>(work: &'a mut Work<'_, '_>, known: &Known) -> Outcome<Option<&'a mut Entry>> {
    let Some(gid) = known.gid else {
        return Ok(None);
    };
    let entry = work.groups.load(work.write.db, gid)?;
    let entry = entry.ok_or_else(|| Fault::corrupt(format!("group {gid} is missing")))?;
    let waits = entry.group.more.blocked.is_none() && !entry.group.holds_leased(known.seq);
    Ok(waits.then_some(entry))
}

/// Changes what a job carries, and what it holds.
fn swap(
    work: &mut Work<'_, '_>,
    tenant: i64,
    known: &Known,
    job: &NewJob,
    change: fn(&Connection, i64, &NewJob) -> Outcome<()>,
) -> Outcome<()> {
    let db = work.write.db;
    let before = holds::of_stored(db, known.seq)?;
    let bytes = jobs::bytes_of(db, known.seq)?;
    change(db, known.seq, job)?;
    if let Some(gid) = known.gid {
        work.change_bytes(gid, jobs::bytes_of(db, known.seq)? - bytes)?;
    }
    let after = holds::of_stored(db, known.seq)?;
    for hash in &after {
        holds::take(db, tenant, *hash, known.seq)?;
    }
    for hash in before.into_iter().filter(|hash| !after.contains(hash)) {
        holds::release(work.write, tenant, hash, known.seq)?;
    }
    Ok(())
}
