//! Merging of jobs that wait.
use super::{group::Group, record::Window, stage, work::Work};
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
    let Some(window) = open_window(group, route, now).copied() else {
        return Ok(None);
    };
    if group.more.blocked.is_some() {
        return Ok(None);
    }
    let Some(seq) = window.seq else {
        return Ok(None);
    };
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
        for window in group.more.windows.iter_mut().filter(|w| w.seq == Some(seq)) {
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

fn open_window(group: &Group, route: i64, now: Millis) -> Option<&Window> {
    let mut windows = group.more.windows.iter();
    windows.find(|window| window.route == route && window.until > now.0)
}

/// When a job may run that is staged now: a throttled one not before the end of the window that is open.
pub(super) fn due(group: &Group, route: i64, now: Millis, job: &NewJob) -> Millis {
    let throttled = job
        .dedup
        .is_some_and(|dedup| dedup.window == MergeWindow::Throttled);
    let window = open_window(group, route, now).filter(|window| throttled && window.throttled);
    let due = now.plus(job.delay);
    window.map_or(due, |window| due.max(Millis(window.until)))
}

/// Opens the window of a job that has just been staged; an older one of its route ends. A throttle that was open goes on
/// for another window from its end.
pub(super) fn open(group: &mut Group, route: i64, seq: i64, now: Millis, job: &NewJob) {
    let Some(dedup) = job.dedup else {
        return;
    };
    let throttled = dedup.window == MergeWindow::Throttled;
    let before = open_window(group, route, now).filter(|window| throttled && window.throttled);
    let from = before.map_or(now, |window| Millis(window.until));
    close_route(group, route);
    group.more.windows.push(Window {
        route,
        seq: Some(seq),
        until: from.plus(dedup.ttl).0,
        throttled,
    });
}

/// Ends the window over a job that no longer waits: whatever comes later is a job of its own. A throttle stays open.
pub(super) fn close(group: &mut Group, seq: i64) {
    for window in &mut group.more.windows {
        if window.seq == Some(seq) {
            window.seq = None;
        }
    }
    group
        .more
        .windows
        .retain(|window| window.throttled || window.seq.is_some());
}

fn close_route(group: &mut Group, route: i64) {
    group.more.windows.retain(|window| window.route != route);
}
