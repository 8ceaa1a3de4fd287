//! Groups that kill their workers.
use super::{grants, groups::Entry, line, outcome, work::Work, workers};
use crate::{error::Outcome, writer::Write};
use foldwright_ports::{JobId, Reaped, WorkerId};
use rusqlite::params;

/// A group's lease lapsed under a worker that had fallen silent.
pub(super) fn suspect(write: &Write<'_>, worker: WorkerId, gid: i64, fence: i64) -> Outcome<()> {
    write
        .db
        .prepare_cached(
            "INSERT INTO fw_suspects (worker, gid, fence) VALUES (?1, ?2, ?3)
             ON CONFLICT DO UPDATE SET fence = excluded.fence",
        )?
        .execute(params![worker.0.to_be_bytes(), gid, fence])?;
    Ok(())
}

/// Whether a worker has a wary group in hand.
pub(super) fn has_wary_in_hand(work: &mut Work<'_, '_>, worker: WorkerId) -> Outcome<bool> {
    let db = work.write.db;
    for (fence, gid) in grants::open_of(db, worker)? {
        let entry = work.groups.load(db, gid)?;
        let in_hand = |entry: &mut Entry| {
            let group = &entry.group;
            group.more.wary && group.lease.as_ref().is_some_and(|lease| lease.fence == fence)
        };
        if entry.is_some_and(in_hand) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Counts a death for each group of a worker that has stayed silent, unless it had a success since.
pub(super) fn confirm(work: &mut Work<'_, '_>) -> Outcome<Reaped> {
    let mut reaped = Reaped::default();
    for worker in workers::dead(work.write)? {
        for (gid, fence) in suspects(work.write, worker)? {
            let Some(entry) = work.groups.load(work.write.db, gid)? else {
                continue;
            };
            let group = &entry.group;
            if group.counts.is_empty()
                || !group.more.wary
                || group.completed.is_some_and(|done| done >= fence)
            {
                continue;
            }
            let more = &mut entry.touch().more;
            more.deaths = more.deaths.saturating_add(1);
            reaped.deaths += 1;
            reaped.poisoned += usize::from(quarantine(work, gid)?);
        }
        workers::bury(work.write.db, worker)?;
    }
    Ok(reaped)
}

fn suspects(write: &Write<'_>, worker: WorkerId) -> Outcome<Vec<(i64, i64)>> {
    let mut select = write
        .db
        .prepare_cached("SELECT gid, fence FROM fw_suspects WHERE worker = ?1 ORDER BY gid")?;
    let mut rows = select.query([worker.0.to_be_bytes()])?;
    let mut suspects = Vec::new();
    while let Some(row) = rows.next()? {
        suspects.push((row.get(0)?, row.get(1)?));
    }
    Ok(suspects)
}

/// Blocks a group that has seen too many deaths, unless it is leased: then that lease may yet succeed. Answers whether
/// it did.
pub(super) fn quarantine(work: &mut Work<'_, '_>, gid: i64) -> Outcome<bool> {
    let (most, now) = (work.write.settings.queue.deaths, work.now());
    let group = &work.groups.entry(gid)?.group;
    let deaths = group.more.deaths;
    let stays = group.lease.is_some() || group.more.blocked.is_some() || group.counts.is_empty();
    if most == 0 || deaths < most || stays {
        return Ok(false);
    }
    let Some(first) = line::first_job(work.write.db, gid, now)? else {
        return Ok(false);
    };
    let job: JobId = super::jobs::id_of(work.write.db, first.seq)?;
    let error = format!(
        "{deaths} workers died while they had it in hand: mend the handler or the job, then unblock the group"
    );
    outcome::block(work, gid, job, first.route, &error)?;
    Ok(true)
}
