//! What a settlement does to its group.
use super::{
    answers,
    counters::State,
    dead,
    group::{Block, Group, LeasedJob},
    holds, jobs,
    work::Work,
};
use crate::error::{Fault, Outcome};
use foldwright_ports::{LeaseEnd, Rest, Settlement};
use std::time::Duration;

/// Applies an outcome to a group under its live lease.
pub(super) fn apply(work: &mut Work<'_, '_>, gid: i64, settlement: &Settlement) -> Outcome<()> {
    let db = work.write.db;
    let entry = work.groups.entry(gid)?;
    let group = entry.misplace();
    let tenant = group.tenant;
    let lease = group
        .lease
        .take()
        .ok_or_else(|| Fault::corrupt(format!("group {gid} has lost its lease")))?;
    let (done, rest) = lease
        .jobs
        .split_at_checked(settlement.outcome.done)
        .ok_or_else(|| Fault::invalid("more jobs are done than were leased"))?;
    group.previous = end(!done.is_empty(), &settlement.outcome.rest);
    if !done.is_empty() {
        group.completed = Some(lease.fence);
        group.forgive();
        group.more.last_error = None;
    }
    for job in done {
        group.counts.remove(job.route);
    }
    work.grants.settle(db, lease.fence)?;
    if !settlement.answers.is_empty() {
        answers::keep(work, tenant, done, &settlement.answers)?;
    }
    for job in done {
        work.depths.add(job.route, State::Leased, -1);
        end_job(work, tenant, job)?;
    }
    for job in rest {
        work.depths.shift(job.route, State::Leased, State::Waiting, 1);
    }
    work.write.woke = true;
    if let Rest::Release { floor, need } = settlement.outcome.rest {
        if let Some(floor) = floor {
            work.numbers
                .raise_fence(i64::try_from(floor.0).unwrap_or(i64::MAX));
        }
        if need.is_some() {
            work.groups.entry(gid)?.misplace().more.need = need;
        }
    }
    if let Some(first) = rest.first() {
        rest_of(work, gid, first, &settlement.outcome.rest)?;
    }
    // At once, because what follows in the same call may be staged into it.
    work.groups.entry(gid)?.misplace().tidy();
    Ok(())
}

/// Deletes a job that has come to its end, and lets go of its bodies.
pub(super) fn end_job(work: &mut Work<'_, '_>, tenant: i64, job: &LeasedJob) -> Outcome<()> {
    let db = work.write.db;
    let held = if job.holds {
        holds::of_stored(db, job.seq)?
    } else {
        Vec::new()
    };
    jobs::delete(db, job.seq)?;
    for hash in held {
        holds::release(work.write, tenant, hash, job.seq)?;
    }
    Ok(())
}

const fn end(any_done: bool, rest: &Rest) -> LeaseEnd {
    match rest {
        _ if any_done => LeaseEnd::Completed,
        Rest::Back | Rest::Release { .. } => LeaseEnd::Released,
        Rest::Retry { .. } | Rest::Quarantine { .. } | Rest::DeadLetter { .. } | Rest::Defer { .. } => {
            LeaseEnd::Retried
        }
    }
}

/// What happens to the jobs that are not done, `first` being the first of them.
fn rest_of(work: &mut Work<'_, '_>, gid: i64, first: &LeasedJob, rest: &Rest) -> Outcome<()> {
    let (db, now) = (work.write.db, work.write.now);
    match rest {
        Rest::Back | Rest::Release { .. } => Ok(()),
        Rest::Defer { after } => {
            work.groups.entry(gid)?.misplace().more.closed_until = Some(now.plus(*after).0);
            Ok(())
        }
        Rest::Retry { floor, error } => {
            let salt = jobs::id_of(db, first.seq)?.salt();
            let ladder = work.write.settings.queue.ladder;
            let more = &mut work.groups.entry(gid)?.misplace().more;
            more.failures = more.failures.saturating_add(1);
            match ladder.wait(more.failures, *floor, salt) {
                Some(wait) => {
                    more.last_error = Some(error.clone());
                    // A wait of less than a millisecond is one all the same.
                    let wait = wait.max(Duration::from_millis(1));
                    more.closed_until = Some(now.plus(wait).0);
                    Ok(())
                }
                None => block(work, gid, first, error),
            }
        }
        Rest::Quarantine { error } => {
            let more = &mut work.groups.entry(gid)?.misplace().more;
            more.failures = more.failures.saturating_add(1);
            block(work, gid, first, error)
        }
        Rest::DeadLetter { error } => {
            let group: &mut Group = work.groups.entry(gid)?.misplace();
            group.forgive();
            dead::bury(work, gid, first, error)
        }
    }
}

/// Blocks a group at its job `first` until an operator opens it.
fn block(work: &mut Work<'_, '_>, gid: i64, first: &LeasedJob, error: &str) -> Outcome<()> {
    let job = jobs::id_of(work.write.db, first.seq)?;
    let since = work.now();
    let group = work.groups.entry(gid)?.misplace();
    group.more.last_error = Some(error.to_owned());
    group.more.blocked = Some(Block {
        since,
        job: job.0,
        route: first.route,
        error: error.to_owned(),
    });
    for (route, n) in group.counts.iter() {
        work.depths.shift(route, State::Waiting, State::Blocked, n);
    }
    Ok(())
}
