//! Merging of jobs that wait.
use super::{
    group::{Group, Window},
    stage,
    work::Work,
};
use crate::error::Outcome;
use foldwright_domain::Millis;
use foldwright_ports::{MergeWindow, NewJob, Staged};

/// Merges a job into the one that waits in an open window of its group and route; `None` where there is none.
pub(super) fn merge(work: &mut Work<'_, '_>, gid: i64, route: i64, job: &NewJob) -> Outcome<Option<Staged>> {
    let (Some(dedup), db, now) = (job.dedup, work.write.db, work.write.now) else {
        return Ok(None);
    };
    let group = &work.groups.entry(gid)?.group;
    let tenant = group.tenant;
    let open = |w: &&Window| w.route == route && w.until > now.0;
    let Some(seq) = group.more.windows.iter().find(open).map(|w| w.seq) else {
        return Ok(None);
    };
    if group.more.blocked.is_some() {
        return Ok(None);
    }
    if let Some(known) = stage::find(db, tenant, job)? {
        if job.replace {
            stage::replace(work, tenant, &known, job)?;
        }
        return Ok(Some(Staged::Known));
    }
    if dedup.replace {
        let waiting = stage::find_seq(db, seq)?;
        stage::merge(work, tenant, &waiting, job)?;
    }
    if dedup.window == MergeWindow::Sliding {
        let due = now.plus(job.delay).0;
        db.prepare_cached("UPDATE fw_jobs SET due = ?2 WHERE seq = ?1")?
            .execute((seq, due))?;
        let entry = work.groups.entry(gid)?;
        let alone = entry.group.counts.total() == 1;
        let group = entry.touch();
        group.more.delayed |= due > now.0;
        for window in group.more.windows.iter_mut().filter(|w| w.seq == seq) {
            window.until = now.plus(dedup.ttl).0;
        }
        match &mut group.turn.head {
            Some(head) if alone => head.due = due,
            _ => {
                entry.misplace();
            }
        }
        work.write.woke = true;
    }
    Ok(Some(Staged::Squashed))
}

/// Opens the window of a job that has just been staged; an older one of its route ends.
pub(super) fn open(group: &mut Group, route: i64, seq: i64, now: Millis, job: &NewJob) {
    if let Some(dedup) = job.dedup {
        close_route(group, route);
        group.more.windows.push(Window {
            route,
            seq,
            until: now.plus(dedup.ttl).0,
        });
    }
}

/// Ends the window over a job that no longer waits: whatever comes later is a job of its own.
pub(super) fn close(group: &mut Group, seq: i64) {
    group.more.windows.retain(|window| window.seq != seq);
}

fn close_route(group: &mut Group, route: i64) {
    group.more.windows.retain(|window| window.route != route);
}
