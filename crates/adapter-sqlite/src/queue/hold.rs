//! Leasing groups by name.
use super::{
    claim::{fence_of, number},
    grants::{self, Member},
    group::Leased,
    nonces::Held,
    record::{LeasedJobs, Reserved},
    work::Work,
};
use crate::error::Outcome;
use foldwright_domain::Millis;
use foldwright_ports::{GroupId, Hold, LeaseRef, WorkerId};
use std::{collections::BTreeMap, time::Duration};

/// Holds groups in their order, up to the first that is not free; answers in the order of the call.
pub(super) fn hold(
    work: &mut Work<'_, '_>,
    worker: WorkerId,
    groups: &[GroupId],
    lease: Duration,
) -> Outcome<Vec<Hold>> {
    let mut ordered: Vec<&GroupId> = groups.iter().collect();
    ordered.sort_unstable();
    ordered.dedup();
    let mut answers = BTreeMap::new();
    let mut members = Vec::new();
    let mut base = None;
    let until = work.write.now.plus(lease);
    let mut stopped = false;
    for id in ordered {
        let gid = obtain(work, id)?;
        let answer = match held(work, gid, worker)? {
            Some(held) => granted(id, held),
            None if stopped => Hold::Waiting,
            None => match grant(work, gid, worker, until)? {
                Taken::Granted(held) => {
                    base.get_or_insert(held.fence);
                    members.push(Member {
                        gid,
                        name: grants::name_hash(id),
                        settled: false,
                    });
                    granted(id, held)
                }
                Taken::Reserved(until) => {
                    stopped = true;
                    Hold::Reserved { until }
                }
                Taken::Behind => {
                    stopped = true;
                    Hold::Waiting
                }
            },
        };
        answers.insert(id, answer);
    }
    if let Some(base) = base {
        grants::insert(work.write, base, worker, until.0, &members)?;
    }
    Ok(groups
        .iter()
        .map(|id| answers.get(id).cloned().unwrap_or(Hold::Waiting))
        .collect())
}

struct Live {
    fence: i64,
    until: i64,
    completed: Option<i64>,
}

enum Taken {
    Granted(Live),
    /// Someone else has it; its next turn is this worker's.
    Reserved(Millis),
    /// Its next turn is someone else's.
    Behind,
}

fn obtain(work: &mut Work<'_, '_>, id: &GroupId) -> Outcome<i64> {
    let db = work.write.db;
    let tenant = work.write.names.number(db, id.tenant.as_str())?;
    let path = work.write.names.number(db, &id.path)?;
    work.groups.obtain(db, &mut work.numbers, (tenant, path, &id.key))
}

/// The hold that this worker has on a group already.
fn held(work: &mut Work<'_, '_>, gid: i64, worker: WorkerId) -> Outcome<Option<Live>> {
    let now = work.now();
    let group = &work.groups.entry(gid)?.group;
    let Some(lease) = group
        .lease
        .as_ref()
        .filter(|lease| lease.is_hold() && lease.until > now)
    else {
        return Ok(None);
    };
    let live = Live {
        fence: lease.fence,
        until: lease.until,
        completed: group.completed,
    };
    // A hold of this very call has no grant yet; a name that comes twice in it was met once.
    let holder = grants::worker_of(work.write.db, lease.fence)?;
    Ok((holder == Some(worker)).then_some(live))
}

fn grant(work: &mut Work<'_, '_>, gid: i64, worker: WorkerId, until: Millis) -> Outcome<Taken> {
    let now = work.now();
    let me = worker.0.to_be_bytes();
    let group = &work.groups.entry(gid)?.group;
    if group
        .more
        .reserved_at(now)
        .is_some_and(|reserved| reserved.worker != me)
    {
        return Ok(Taken::Behind);
    }
    if group.lease.is_some() {
        let group = work.groups.entry(gid)?.misplace();
        group.more.reserved = Some(Reserved {
            worker: me,
            until: until.0,
        });
        return Ok(Taken::Reserved(until));
    }
    let fence = work.numbers.next_fence(now)?;
    let group = work.groups.entry(gid)?.misplace();
    group.more.reserved = None;
    group.lease = Some(Leased {
        fence,
        until: until.0,
        jobs: LeasedJobs::default(),
    });
    Ok(Taken::Granted(Live {
        fence,
        until: until.0,
        completed: group.completed,
    }))
}

fn granted(id: &GroupId, live: Live) -> Hold {
    Hold::Granted {
        lease: LeaseRef {
            group: id.clone(),
            fence: fence_of(live.fence),
        },
        until: Millis(live.until),
        completed: live.completed.map(fence_of),
    }
}

/// What is remembered of an answer.
pub(super) fn remembered(hold: &Hold) -> Held {
    match hold {
        Hold::Granted { lease, .. } => Held::Granted(number(lease.fence)),
        Hold::Reserved { until } => Held::Reserved(until.0),
        Hold::Waiting => Held::Waiting,
    }
}

/// The answers of a call that is repeated: its grants as far as they are still live.
pub(super) fn again(work: &mut Work<'_, '_>, groups: &[GroupId], held: Vec<Held>) -> Outcome<Vec<Hold>> {
    let again = |(id, held): (&GroupId, Held)| match held {
        Held::Granted(fence) => {
            let lease = LeaseRef {
                group: id.clone(),
                fence: fence_of(fence),
            };
            let Some(gid) = super::settle::live(work, &lease)? else {
                return Ok(Hold::Waiting);
            };
            let group = &work.groups.entry(gid)?.group;
            let until = group.lease.as_ref().map_or(0, |lease| lease.until);
            Ok(granted(
                id,
                Live {
                    fence,
                    until,
                    completed: group.completed,
                },
            ))
        }
        Held::Reserved(until) => Ok(Hold::Reserved { until: Millis(until) }),
        Held::Waiting => Ok(Hold::Waiting),
    };
    groups.iter().zip(held).map(again).collect()
}
