//! Handing out work.
use super::{
    counters::State,
    dedup,
    grants::{self, Member},
    group::{Block, Group, Leased, LeasedJob, select_groups},
    groups::Entry,
    jobs::{Stored, select_jobs},
    line,
    work::Work,
};
use crate::{
    error::{Fault, Outcome},
    page::limit_of,
};
use foldwright_domain::Millis;
use foldwright_ports::{Fence, GroupId, HandedJob, Lease, Want};
use std::collections::VecDeque;

/// One line of waiting groups, as far as it was read.
struct Line {
    slot: i64,
    read: VecDeque<Group>,
    /// Whether the line may go on behind what was read.
    more: bool,
}

/// Hands out the groups whose first due jobs have been due the longest. Groups must have been saved before.
pub(super) fn claim(work: &mut Work<'_, '_>, want: &Want) -> Outcome<Vec<Lease>> {
    if want.max_groups == 0 || want.max_jobs_per_group == 0 {
        return Ok(Vec::new());
    }
    line::advance(work)?;
    let slots = work
        .write
        .slots
        .served(work.write.db, work.write.names, &want.capabilities)?;
    // Enough for one read of each line in the ordinary case.
    let step = want.max_groups.div_ceil(slots.len().max(1)).max(4);
    let mut lines: Vec<Line> = slots
        .into_iter()
        .map(|slot| Line {
            slot,
            read: VecDeque::new(),
            more: true,
        })
        .collect();
    let mut leases = Vec::new();
    let mut members = Vec::new();
    let mut bytes = want.max_bytes;
    while leases.len() < want.max_groups {
        let Some(group) = oldest(work, &mut lines, step)? else {
            break;
        };
        let alone = leases.is_empty();
        match hand_out(work, group, want, bytes, alone)? {
            Handed::Lease(lease, member, spent) => {
                bytes = bytes.saturating_sub(spent);
                leases.push(lease);
                members.push(member);
            }
            Handed::Nothing => {}
            Handed::NoRoom => break,
        }
    }
    if let Some(first) = leases.first() {
        let base = number(first.fence);
        grants::insert(work.write.db, base, work.now(), first.until.0, &members)?;
    }
    Ok(leases)
}

/// Takes the group that comes first from all lines.
fn oldest(work: &Work<'_, '_>, lines: &mut [Line], step: usize) -> Outcome<Option<Group>> {
    for line in lines.iter_mut().filter(|line| line.more && line.read.is_empty()) {
        // Those that were read before have left the line by now.
        let mut select = work.write.db.prepare_cached(select_groups!(
            "WHERE slot = ?1 AND at <= ?2 ORDER BY at, gid LIMIT ?3"
        ))?;
        let mut rows = select.query((line.slot, work.now(), limit_of(step)))?;
        while let Some(row) = rows.next()? {
            line.read.push_back(Group::read(row)?);
        }
        line.more = line.read.len() == step;
    }
    let turn = |group: &Group| (group.turn.head.map(|head| head.due), group.gid);
    let first = lines
        .iter_mut()
        .filter(|line| !line.read.is_empty())
        .min_by_key(|line| line.read.front().map(turn));
    Ok(first.and_then(|line| line.read.pop_front()))
}

enum Handed {
    Lease(Lease, Member, u64),
    /// The group had to be left out, and has left the line.
    Nothing,
    /// It does not fit into what is left of the bytes.
    NoRoom,
}

fn hand_out(work: &mut Work<'_, '_>, group: Group, want: &Want, room: u64, alone: bool) -> Outcome<Handed> {
    let db = work.write.db;
    let mut entry = Entry::existing(group);
    let batch = match due_jobs(work, &entry.group, want, room, alone)? {
        Batch::Jobs(batch) => batch,
        Batch::NoRoom => return Ok(Handed::NoRoom),
        Batch::Broken(job, why) => {
            block(work, &mut entry, job.as_deref(), why)?;
            return Ok(Handed::Nothing);
        }
    };
    let now = work.write.now;
    let fence = work.numbers.next_fence(now.0)?;
    let until = now.plus(want.lease);
    for job in &batch.leased {
        work.depths.shift(job.route, State::Waiting, State::Leased, 1);
    }
    let group = entry.touch();
    group.turn = super::group::Turn::default();
    group.more.closed_until = None;
    for job in &batch.leased {
        dedup::close(group, job.seq);
    }
    group.lease = Some(Leased {
        fence,
        until: until.0,
        jobs: batch.leased,
    });
    entry.save(work.write)?;
    let group = &entry.group;
    let id = GroupId {
        tenant: work.write.names.tenant(db, group.tenant)?,
        path: work.write.names.text(db, group.path)?,
        key: group.key.as_str().into(),
    };
    let member = Member {
        gid: group.gid,
        name: grants::name_hash(&id),
        settled: false,
    };
    let lease = Lease {
        group: id,
        fence: fence_of(fence),
        until,
        previous: group.previous,
        completed: group.completed.map(fence_of),
        attempt: group.more.failures.saturating_add(1),
        jobs: batch.jobs,
    };
    Ok(Handed::Lease(lease, member, batch.bytes))
}

enum Batch {
    Jobs(Jobs),
    /// The first job does not fit into what is left of the bytes.
    NoRoom,
    /// What is stored of this job cannot be right.
    Broken(Option<Box<Stored>>, &'static str),
}

#[derive(Default)]
struct Jobs {
    jobs: Vec<HandedJob>,
    leased: Vec<LeasedJob>,
    bytes: u64,
}

/// The group's due jobs in order, within all limits and up to the first one that the worker does not know.
fn due_jobs(work: &mut Work<'_, '_>, group: &Group, want: &Want, room: u64, alone: bool) -> Outcome<Batch> {
    let (db, now) = (work.write.db, work.now());
    let mut batch = Jobs::default();
    let head = group.turn.head.map(|head| head.seq);
    // A single job is read by its number alone.
    let single = group.counts.total() == 1 || want.max_jobs_per_group == 1;
    let mut select = match head {
        Some(_) if single => db.prepare_cached(select_jobs!("WHERE seq = ?1 AND due <= ?2"))?,
        _ => db.prepare_cached(select_jobs!("WHERE gid = ?1 AND due <= ?2 ORDER BY score, seq"))?,
    };
    let key = if single {
        head.unwrap_or(group.gid)
    } else {
        group.gid
    };
    let mut rows = select.query((key, now))?;
    while batch.jobs.len() < want.max_jobs_per_group {
        let Some(row) = rows.next()? else {
            break;
        };
        let stored = Stored::read(db, work.write.names, row)?;
        if stored.tenant != group.tenant {
            let why = "security: a stored job belongs to another tenant than its group";
            return Ok(Batch::Broken(Some(Box::new(stored)), why));
        }
        let known = stored.job.format <= want.capabilities.format
            && want
                .capabilities
                .routes
                .get(&stored.job.route)
                .is_some_and(|capability| group.more.need.unwrap_or(0) <= capability.version);
        let fits = batch.bytes.saturating_add(stored.bytes()) <= room;
        let comes_alone = alone && batch.jobs.is_empty();
        if batch.jobs.is_empty() && !known {
            return Ok(Batch::Broken(
                Some(Box::new(stored)),
                "the group stands in the wrong line",
            ));
        }
        if batch.jobs.is_empty() && !fits && !alone {
            return Ok(Batch::NoRoom);
        }
        if !known || !(fits || comes_alone) {
            break;
        }
        batch.bytes = batch.bytes.saturating_add(stored.bytes());
        batch.leased.push(stored.leased());
        batch.jobs.push(stored.job);
    }
    if batch.jobs.is_empty() {
        return Ok(Batch::Broken(None, "the group stands in line without a due job"));
    }
    Ok(Batch::Jobs(batch))
}

/// Blocks a group whose rows are broken or foreign, so that it holds up nobody else.
fn block(work: &mut Work<'_, '_>, entry: &mut Entry, job: Option<&Stored>, why: &str) -> Outcome<()> {
    let gid = entry.group.gid;
    tracing::error!(gid, why, "a stored group was blocked");
    let since = work.now();
    for (route, n) in entry.group.counts.iter() {
        work.depths.shift(route, State::Waiting, State::Blocked, n);
    }
    let counted = entry.group.counts.iter().next().map_or(0, |(route, _)| route);
    entry.misplace().more.blocked = Some(Block {
        since,
        job: job.map_or([0; 24], |job| job.job.id.0),
        route: job.map_or(counted, |job| job.route),
        error: why.to_owned(),
    });
    entry.save(work.write)
}

/// The leases of a grant as far as they are still live, for a call that is repeated.
pub(super) fn again(work: &mut Work<'_, '_>, base: i64) -> Outcome<Vec<Lease>> {
    let db = work.write.db;
    let mut leases = Vec::new();
    for (fence, member) in (base..).zip(grants::members(db, base)?.unwrap_or_default()) {
        let now = work.now();
        let Some(entry) = work.groups.load(db, member.gid)? else {
            continue;
        };
        let group = &entry.group;
        let Some(lease) = group.lease.as_ref().filter(|l| l.fence == fence && l.until > now) else {
            continue;
        };
        let mut jobs = Vec::with_capacity(lease.jobs.len());
        for job in &lease.jobs {
            let mut select = db.prepare_cached(select_jobs!("WHERE seq = ?1"))?;
            let mut rows = select.query([job.seq])?;
            let row = rows
                .next()?
                .ok_or_else(|| Fault::corrupt("a leased job is gone"))?;
            jobs.push(Stored::read(db, work.write.names, row)?.job);
        }
        leases.push(Lease {
            group: GroupId {
                tenant: work.write.names.tenant(db, group.tenant)?,
                path: work.write.names.text(db, group.path)?,
                key: group.key.as_str().into(),
            },
            fence: fence_of(fence),
            until: Millis(lease.until),
            previous: group.previous,
            completed: group.completed.map(fence_of),
            attempt: group.more.failures.saturating_add(1),
            jobs,
        });
    }
    Ok(leases)
}

fn fence_of(stored: i64) -> Fence {
    Fence(u64::try_from(stored).unwrap_or(0))
}

fn number(fence: Fence) -> i64 {
    i64::try_from(fence.0).unwrap_or(i64::MAX)
}
