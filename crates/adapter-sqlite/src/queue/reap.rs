//! Leases that ran out, and what is past its time.
use super::{
    answers,
    counters::State,
    grants::{self, Member},
    nonces, poison,
    settle::live,
    troubles,
    work::Work,
    workers,
};
use crate::error::Outcome;
use foldwright_domain::Millis;
use foldwright_ports::{LeaseEnd, LeaseRef, Reaped, Verdict, WorkerId};
use std::time::Duration;

/// Grants that are looked at in one go.
const STEP: i64 = 64;

/// Rows of each kind that one reap forgets at most: more than comes in between two of them.
const PURGE: usize = 4_096;

/// Returns at most `limit` lapsed leases, counts deaths, and forgets what is past its time.
pub(super) fn reap(work: &mut Work<'_, '_>, limit: usize) -> Outcome<Reaped> {
    // Before leases are returned, so that no death is noted and confirmed by one reap.
    let mut reaped = poison::confirm(work)?;
    while reaped.lapsed < limit {
        let due = due_grants(work)?;
        if due.is_empty() {
            break;
        }
        for base in due {
            check(work, base, limit, &mut reaped)?;
            if reaped.lapsed >= limit {
                break;
            }
        }
    }
    work.save()?;
    nonces::purge(work.write, PURGE)?;
    answers::purge(work.write, PURGE)?;
    grants::purge(work.write, PURGE)?;
    troubles::purge(work.write, PURGE)?;
    workers::purge(work.write, PURGE)?;
    work.write.woke |= reaped.lapsed > 0;
    Ok(reaped)
}

fn due_grants(work: &Work<'_, '_>) -> Outcome<Vec<i64>> {
    let mut select = work
        .write
        .db
        .prepare_cached("SELECT base FROM fw_grants WHERE check_at <= ?1 ORDER BY check_at LIMIT ?2")?;
    let mut rows = select.query((work.now(), STEP))?;
    let mut due = Vec::new();
    while let Some(row) = rows.next()? {
        due.push(row.get(0)?);
    }
    Ok(due)
}

/// Returns the lapsed leases of one grant, and notes when it has to be looked at again.
fn check(work: &mut Work<'_, '_>, base: i64, limit: usize, reaped: &mut Reaped) -> Outcome<()> {
    let db = work.write.db;
    let mut next = None;
    let mut silent = None;
    for (fence, member) in (base..).zip(grants::members(db, base)?.unwrap_or_default()) {
        let Some(until) = open_until(work, fence, member)? else {
            continue;
        };
        if until > work.now() {
            next = Some(next.map_or(until, |next: i64| next.min(until)));
        } else if reaped.lapsed < limit {
            let silent = match silent {
                Some(silent) => silent,
                None => *silent.insert(workers::fallen_silent(work.write, base)?),
            };
            give_back(work, member.gid, silent)?;
            reaped.lapsed += 1;
            reaped.poisoned += usize::from(poison::quarantine(work, member.gid)?);
        } else {
            next = Some(i64::MIN);
        }
    }
    if next != Some(i64::MIN) {
        grants::check_at(db, base, next)?;
    }
    Ok(())
}

/// Until when a lease lives that was neither settled nor given back.
fn open_until(work: &mut Work<'_, '_>, fence: i64, member: Member) -> Outcome<Option<i64>> {
    if member.settled {
        return Ok(None);
    }
    let entry = work.groups.load(work.write.db, member.gid)?;
    let lease = entry.and_then(|entry| entry.group.lease.as_ref());
    Ok(lease
        .filter(|lease| lease.fence == fence)
        .map(|lease| lease.until))
}

/// `silent`: the worker that held it, if it has fallen silent.
fn give_back(work: &mut Work<'_, '_>, gid: i64, silent: Option<WorkerId>) -> Outcome<()> {
    let group = work.groups.entry(gid)?.misplace();
    let Some(lease) = group.lease.take() else {
        return Ok(());
    };
    if lease.is_hold() {
        return Ok(());
    }
    group.previous = LeaseEnd::Lapsed;
    group.more.wary |= silent.is_some();
    for job in &lease.jobs.0 {
        work.depths.shift(job.route, State::Leased, State::Waiting, 1);
    }
    work.tenants.land(work.write.db, group.tenant)?;
    match silent {
        Some(worker) => poison::suspect(work.write, worker, gid, lease.fence),
        None => Ok(()),
    }
}

/// Lets a live lease live for `lease` from now.
pub(super) fn extend(work: &mut Work<'_, '_>, reference: &LeaseRef, lease: Duration) -> Outcome<Verdict> {
    let Some(gid) = live(work, reference)? else {
        return Ok(Verdict::Lost);
    };
    let until = Millis(work.now()).plus(lease).0;
    if let Some(lease) = &mut work.groups.entry(gid)?.touch().lease {
        if until < lease.until {
            grants::check_sooner(work.write.db, lease.fence, until)?;
        }
        lease.until = until;
    }
    Ok(Verdict::Applied)
}
