//! A group's place in line.
use super::{
    group::{Group, Head, Turn},
    groups::Entry,
    lines,
    work::Work,
};
use crate::{error::Outcome, writer::Write};
use rusqlite::{Connection, OptionalExtension, Row};

/// Groups whose places are worked out again at one time.
const STEP: i64 = 256;

/// A job as it counts for its group's place.
#[derive(Clone, Copy)]
pub(super) struct Standing {
    pub(super) seq: i64,
    pub(super) score: i64,
    pub(super) due: i64,
    pub(super) route: i64,
    pub(super) format: u8,
}

impl Standing {
    fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            seq: row.get(0)?,
            score: row.get(1)?,
            due: row.get(2)?,
            route: row.get(3)?,
            format: row.get(4)?,
        })
    }

    fn head(self, write: &mut Write<'_>, group: &Group) -> Outcome<Head> {
        let need = group.more.need.unwrap_or(0);
        Ok(Head {
            seq: self.seq,
            score: self.score,
            due: self.due,
            slot: write.slots.number(write.db, self.route, self.format, need)?,
        })
    }
}

/// Whether a group has no place, whatever its jobs and the time are.
pub(super) fn is_out(group: &Group) -> bool {
    group.lease.is_some() || group.more.blocked.is_some() || group.more.paused
}

/// Puts a group into line after a job has joined it; without reading anything where that is plain.
pub(super) fn join(write: &mut Write<'_>, entry: &mut Entry, job: Standing) -> Outcome<()> {
    let now = write.now.0;
    let group = &entry.group;
    if entry.is_misplaced() || is_out(group) {
        return Ok(());
    }
    let more = &group.more;
    if group.counts.total() == 1 && more.closed_until.is_none() && more.reserved.is_none() {
        let head = job.head(write, group)?;
        entry.touch().turn = Turn {
            head: Some(head),
            recheck: None,
        };
        return Ok(());
    }
    let plain = group.turn.recheck.is_none_or(|at| at > now) && job.due <= now;
    match group.turn.head {
        Some(head) if plain && head.due <= now => {
            if job.score < head.score {
                let head = job.head(write, group)?;
                entry.touch().turn.head = Some(head);
            }
        }
        _ => {
            entry.misplace();
        }
    }
    Ok(())
}

/// Works out a group's place from its jobs.
pub(super) fn place(write: &mut Write<'_>, group: &mut Group) -> Outcome<Turn> {
    let now = write.now.0;
    if is_out(group) {
        return Ok(Turn::default());
    }
    let more = &mut group.more;
    more.closed_until = more.closed_until.filter(|until| *until > now);
    more.retrying &= more.closed_until.is_some();
    more.reserved = more.reserved_at(now);
    let opens = more
        .closed_until
        .max(more.reserved.map(|reserved| reserved.until));
    if opens.is_some() {
        return Ok(Turn {
            head: None,
            recheck: opens,
        });
    }
    let first = first_due(write.db, group.gid, now)?;
    let (first, seen) = match first {
        Some(first) => (Some(first), now),
        None => {
            let soonest = match soonest(write.db, group.gid, now)? {
                None if !group.counts.is_empty() => after_step_back(write.db, group.gid)?,
                soonest => soonest,
            };
            (soonest, soonest.map_or(now, |job| job.due))
        }
    };
    let Some(first) = first else {
        return Ok(Turn::default());
    };
    let recheck = if group.more.delayed && group.counts.total() > 1 {
        soonest(write.db, group.gid, seen)?.map(|job| job.due)
    } else {
        None
    };
    Ok(Turn {
        head: Some(first.head(write, group)?),
        recheck,
    })
}

/// Looks again at the groups whose wait is over, or in which a delayed job has come due, and at the lines in which a
/// first job has come due or whose route is open again.
pub(super) fn advance(work: &mut Work<'_, '_>) -> Outcome<()> {
    loop {
        let due = due_groups(work.write.db, work.now())?;
        if due.is_empty() {
            break;
        }
        for gid in due {
            if let Some(entry) = work.groups.load(work.write.db, gid)? {
                entry.misplace();
            }
        }
        work.save_groups()?;
    }
    loop {
        let due = lines::due(work.write.db, work.now())?;
        if due.is_empty() {
            return Ok(());
        }
        for (tenant, slot) in due {
            work.tenants.seat(work.write.db, tenant)?.lines.look_again(slot);
        }
        work.save_tenants()?;
    }
}

fn due_groups(db: &Connection, now: i64) -> Outcome<Vec<i64>> {
    let mut select =
        db.prepare_cached("SELECT gid FROM fw_groups WHERE recheck <= ?1 ORDER BY recheck LIMIT ?2")?;
    let mut rows = select.query((now, STEP))?;
    let mut due = Vec::new();
    while let Some(row) = rows.next()? {
        due.push(row.get(0)?);
    }
    Ok(due)
}

/// The first job of a group: of those that are due, or else the one that comes due first.
pub(super) fn first_job(db: &Connection, gid: i64, now: i64) -> Outcome<Option<Standing>> {
    if let Some(first) = first_due(db, gid, now)? {
        return Ok(Some(first));
    }
    match soonest(db, gid, now)? {
        None => after_step_back(db, gid),
        soonest => Ok(soonest),
    }
}

/// The next job of a group in which none is due and none is delayed: the clock has stepped back behind the time at which
/// they were staged, and they wait until it has caught up. Reads all jobs of the group, which only such a step costs.
fn after_step_back(db: &Connection, gid: i64) -> Outcome<Option<Standing>> {
    Ok(db
        .prepare_cached(
            "SELECT seq, score, due, route, format FROM fw_jobs WHERE gid = ?1 ORDER BY due, score, seq LIMIT 1",
        )?
        .query_row([gid], Standing::read)
        .optional()?)
}

/// One job, if it is there.
pub(super) fn standing(db: &Connection, seq: i64) -> Outcome<Option<Standing>> {
    Ok(db
        .prepare_cached("SELECT seq, score, due, route, format FROM fw_jobs WHERE seq = ?1")?
        .query_row([seq], Standing::read)
        .optional()?)
}

fn first_due(db: &Connection, gid: i64, now: i64) -> Outcome<Option<Standing>> {
    Ok(db
        .prepare_cached(
            "SELECT seq, score, due, route, format FROM fw_jobs WHERE gid = ?1 AND due <= ?2
             ORDER BY score, seq LIMIT 1",
        )?
        .query_row((gid, now), Standing::read)
        .optional()?)
}

/// The job that comes due next after `after`; of several the first in line.
fn soonest(db: &Connection, gid: i64, after: i64) -> Outcome<Option<Standing>> {
    Ok(db
        .prepare_cached(
            "SELECT seq, score, due, route, format FROM fw_jobs INDEXED BY fw_jobs_delayed
             WHERE gid = ?1 AND due > ?2 AND due > staged_at ORDER BY due, score, seq LIMIT 1",
        )?
        .query_row((gid, after), Standing::read)
        .optional()?)
}
