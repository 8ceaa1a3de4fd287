//! What a settlement does to its group.
use super::{
    answers,
    counters::State,
    dead, holds, jobs, poison,
    record::{Block, Failed, LeasedJob},
    troubles,
    work::Work,
};
use crate::error::{Fault, Outcome};
use foldwright_ports::{JobId, LeaseEnd, Rest, Settlement};
use std::time::Duration;

/// Applies an outcome to a group under its live lease.
pub(super) fn apply(work: &mut Work<'_, '_>, gid: i64, settlement: &Settlement) -> Outcome<()> {
    let db = work.write.db;
    let group = work.groups.entry(gid)?.misplace();
    let tenant = group.tenant;
    let lease = group
        .lease
        .take()
        .ok_or_else(|| Fault::corrupt(format!("group {gid} has lost its lease")))?;
    let (done, rest) = lease
        .jobs
        .0
        .split_at_checked(settlement.outcome.done)
        .ok_or_else(|| Fault::invalid("more jobs are done than were leased"))?;
    if !lease.is_hold() {
        group.previous = end(!done.is_empty(), &settlement.outcome.rest);
        work.tenants.land(db, tenant)?;
    }
    if !done.is_empty() {
        group.completed = Some(lease.fence);
        group.more.forgive();
        (group.more.last_error, group.more.wary) = (None, false);
    }
    work.grants.settle(db, lease.fence)?;
    if !settlement.answers.is_empty() {
        answers::keep(work, tenant, done, &settlement.answers)?;
    }
    for job in done {
        work.drop_job(gid, job, State::Leased)?;
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
    poison::quarantine(work, gid)?;
    let now = work.now();
    // At once, because what follows in the same call may be staged into it.
    work.groups.entry(gid)?.misplace().tidy(now);
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
    let now = work.write.now;
    match rest {
        Rest::Back | Rest::Release { .. } => Ok(()),
        Rest::Defer { after } => {
            let more = &mut work.groups.entry(gid)?.misplace().more;
            (more.closed_until, more.retrying) = (Some(now.plus(*after).0), false);
            Ok(())
        }
        Rest::Retry { floor, error } => {
            let job = fail(work, gid, first, error)?;
            let settings = &work.write.settings.queue;
            let more = &mut work.groups.entry(gid)?.misplace().more;
            if settings.streak > 0 && more.streak >= settings.streak {
                let streak = format!(
                    "{} failed attempts in a row without a success, the last one: {error}",
                    more.streak
                );
                return block(work, gid, job, first.route, &streak);
            }
            match settings.ladder.wait(more.failures, *floor, job.salt()) {
                Some(wait) => {
                    // A wait of less than a millisecond is one all the same.
                    let wait = wait.max(Duration::from_millis(1));
                    (more.closed_until, more.retrying) = (Some(now.plus(wait).0), true);
                    Ok(())
                }
                None => block(work, gid, job, first.route, error),
            }
        }
        Rest::Quarantine { error } => {
            let job = fail(work, gid, first, error)?;
            block(work, gid, job, first.route, error)
        }
        Rest::DeadLetter { error } => {
            work.groups.entry(gid)?.misplace().more.forgive();
            dead::bury(work, gid, first, State::Waiting, error)
        }
    }
}

/// Counts a failed attempt at a job.
fn fail(work: &mut Work<'_, '_>, gid: i64, job: &LeasedJob, error: &str) -> Outcome<JobId> {
    let id = jobs::id_of(work.write.db, job.seq)?;
    let more = &mut work.groups.entry(gid)?.misplace().more;
    more.failures = more.failures_of(job.seq).saturating_add(1);
    more.failed = Some(Failed {
        seq: job.seq,
        id: id.0,
    });
    more.streak = more.streak.saturating_add(1);
    more.last_error = Some(error.to_owned());
    troubles::fail(work, gid, job.route, error)?;
    Ok(id)
}

/// Blocks a group at a job until an operator opens it.
pub(super) fn block(work: &mut Work<'_, '_>, gid: i64, job: JobId, route: i64, error: &str) -> Outcome<()> {
    let since = work.now();
    let group = work.groups.entry(gid)?.misplace();
    group.more.blocked = Some(Block {
        since,
        job: job.0,
        route,
        error: error.to_owned(),
    });
    (group.more.closed_until, group.more.retrying) = (None, false);
    for (route, n) in group.counts.iter() {
        work.depths.shift(route, State::Waiting, State::Blocked, n);
    }
    Ok(())
}
