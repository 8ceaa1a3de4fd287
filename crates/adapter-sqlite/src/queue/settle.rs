//! Settling.
use super::{outcome, stage, work::Work};
use crate::error::Outcome;
use foldwright_ports::{Error, Kind, LeaseRef, Rest, Settlement, Staged, Verdict};

/// Tokens are stored as signed numbers; no clock reaches this bound.
const MAX_FENCE: u64 = i64::MAX as u64;

/// Settles one lease with what follows from it, and adds what was merged of that to `squashed`. A refusal changes nothing.
pub(super) fn settle(
    work: &mut Work<'_, '_>,
    settlement: &Settlement,
    squashed: &mut usize,
) -> Outcome<Verdict> {
    let lease = &settlement.lease;
    let Some(gid) = live(work, lease)? else {
        let settled = match i64::try_from(lease.fence.0) {
            Ok(fence) => work.grants.is_settled(work.write.db, fence, &lease.group)?,
            Err(_) => false,
        };
        return Ok(if settled { Verdict::Already } else { Verdict::Lost });
    };
    let jobs = work
        .groups
        .entry(gid)?
        .group
        .lease
        .as_ref()
        .map_or(0, |lease| lease.jobs.0.len());
    if let Err(error) = check(settlement, jobs) {
        return Ok(Verdict::Refused(Error::new(Kind::Invalid, "settle", error)));
    }
    for job in &settlement.then {
        *squashed += usize::from(stage::stage(work, job)? == Staged::Squashed);
    }
    outcome::apply(work, gid, settlement)?;
    Ok(Verdict::Applied)
}

/// The group whose live lease this is. The token leads to it: that is quicker than its name, which is compared all
/// the same.
pub(super) fn live(work: &mut Work<'_, '_>, lease: &LeaseRef) -> Outcome<Option<i64>> {
    let (db, now) = (work.write.db, work.now());
    let Ok(fence) = i64::try_from(lease.fence.0) else {
        return Ok(None);
    };
    let Some(gid) = work.grants.group(db, fence, &lease.group)? else {
        return Ok(None);
    };
    let Some(entry) = work.groups.load(db, gid)? else {
        return Ok(None);
    };
    let group = &entry.group;
    let live = group
        .lease
        .as_ref()
        .is_some_and(|held| held.fence == fence && held.until > now);
    let named = live
        && *group.key == *lease.group.key
        && work.write.names.find(db, lease.group.tenant.as_str())? == Some(group.tenant)
        && work.write.names.find(db, &lease.group.path)? == Some(group.path);
    Ok(named.then_some(gid))
}

fn check(settlement: &Settlement, jobs: usize) -> Result<(), String> {
    let done = settlement.outcome.done;
    if done > jobs {
        return Err(format!("{done} jobs are said to be done, the lease has {jobs}"));
    }
    if let Rest::Release {
        floor: Some(floor), ..
    } = settlement.outcome.rest
        && floor.0 >= MAX_FENCE
    {
        return Err(format!("no token can be above {}", floor.0));
    }
    settlement.then.iter().try_for_each(stage::check)
}
