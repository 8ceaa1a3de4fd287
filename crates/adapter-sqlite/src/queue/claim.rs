//! Handing out work.
use super::{
    counters::State,
    dedup,
    fair::Fair,
    gates::Gates,
    grants::{self, Member},
    group::{Group, Leased, Turn},
    groups::Entry,
    jobs::{Stored, select_jobs},
    line, poison,
    record::{Block, LeasedJob, LeasedJobs},
    tenants::unsigned,
    troubles,
    work::Work,
};
use crate::{
    error::{Fault, Outcome},
    names::Names,
};
use foldwright_domain::Millis;
use foldwright_ports::{Fence, HandedJob, Lease, WARY_WAIT, Want, WorkerId};
use rusqlite::Connection;

/// Hands out groups, each of the tenant at its turn.
pub(super) fn claim(work: &mut Work<'_, '_>, worker: WorkerId, want: &Want) -> Outcome<Vec<Lease>> {
    if want.max_groups == 0 || want.max_jobs_per_group == 0 {
        return Ok(Vec::new());
    }
    work.save_groups()?;
    line::advance(work)?;
    let (db, now) = (work.write.db, work.now());
    let shut = *work.numbers.pauses() > 0 || work.numbers.may_be_closed(now);
    let gates = if shut {
        Gates::load(db, now)?
    } else {
        Gates::default()
    };
    let slots = work
        .write
        .slots
        .served(db, work.write.names, &gates, &want.capabilities)?;
    let mut fair = Fair::new(work, slots)?;
    let mut leases = Vec::new();
    let mut members = Vec::new();
    let mut bytes = want.max_bytes;
    while leases.len() < want.max_groups {
        let room = want.max_groups - leases.len();
        let Some(group) = fair.next(work, room)? else {
            break;
        };
        let (alone, tenant, wary) = (leases.is_empty(), group.tenant, group.more.wary);
        if wary && !alone {
            break;
        }
        if wary && poison::has_wary_in_hand(work, worker)? {
            put_off(work, group)?;
            break;
        }
        match hand_out(work, group, want, &gates, bytes, alone)? {
            Handed::Lease(lease, member, spent) => {
                bytes = bytes.saturating_sub(spent);
                leases.push(lease);
                members.push(member);
            }
            Handed::Nothing => {}
            Handed::NoRoom => break,
        }
        if wary && !leases.is_empty() {
            break;
        }
        if leases.len() < want.max_groups {
            fair.go_on(work, tenant, want.max_groups - leases.len())?;
        }
    }
    if let Some(first) = leases.first() {
        grants::insert(work.write, number(first.fence), worker, first.until.0, &members)?;
    }
    Ok(leases)
}

/// A wary group waits while its worker has another one in hand.
fn put_off(work: &mut Work<'_, '_>, group: Group) -> Outcome<()> {
    let until = work.write.now.plus(WARY_WAIT).0;
    let mut entry = Entry::existing(group);
    let more = &mut entry.misplace().more;
    (more.closed_until, more.retrying) = (Some(until), false);
    entry.save(work.write, &mut work.tenants)
}

enum Handed {
    Lease(Lease, Member, u64),
    /// The group had to be left out, and has left the line.
    Nothing,
    /// It does not fit into what is left of the bytes.
    NoRoom,
}

fn hand_out(
    work: &mut Work<'_, '_>,
    group: Group,
    want: &Want,
    gates: &Gates,
    room: u64,
    alone: bool,
) -> Outcome<Handed> {
    let mut entry = Entry::existing(group);
    let batch = match due_jobs(work, &entry.group, want, gates, room, alone)? {
        Batch::Jobs(batch) => batch,
        Batch::NoRoom => return Ok(Handed::NoRoom),
        Batch::Broken(job, why) => {
            block(work, &mut entry, job.as_deref(), why)?;
            return Ok(Handed::Nothing);
        }
    };
    let now = work.write.now;
    let fence = work.numbers.next_fence(now.0)?;
    for job in &batch.leased {
        work.depths.shift(job.route, State::Waiting, State::Leased, 1);
    }
    let group = entry.touch();
    group.turn = Turn::default();
    (group.more.closed_until, group.more.retrying) = (None, false);
    for job in &batch.leased {
        dedup::close(group, job.seq);
    }
    let leased = Leased {
        fence,
        until: now.plus(want.lease).0,
        jobs: LeasedJobs(batch.leased),
    };
    let lease = lease_of(work.write.db, work.write.names, group, &leased, batch.jobs)?;
    group.lease = Some(leased);
    work.tenants
        .serve(work.write.db, &mut work.numbers, group.tenant)?;
    entry.save(work.write, &mut work.tenants)?;
    let member = Member {
        gid: entry.group.gid,
        name: grants::name_hash(&lease.group),
        settled: false,
    };
    Ok(Handed::Lease(lease, member, batch.bytes))
}

/// A lease as its worker gets it.
fn lease_of(
    db: &Connection,
    names: &mut Names,
    group: &Group,
    leased: &Leased,
    jobs: Vec<HandedJob>,
) -> Outcome<Lease> {
    let first = leased.jobs.0.first();
    let failures = first.map_or(0, |first| group.more.failures_of(first.seq));
    Ok(Lease {
        group: group.id(db, names)?,
        fence: fence_of(leased.fence),
        until: Millis(leased.until),
        previous: group.previous,
        completed: group.completed.map(fence_of),
        attempt: failures.saturating_add(1),
        jobs,
    })
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

/// The group's due jobs in order, within all limits and up to the first one that the worker does not know or whose route
/// is shut.
fn due_jobs(
    work: &mut Work<'_, '_>,
    group: &Group,
    want: &Want,
    gates: &Gates,
    room: u64,
    alone: bool,
) -> Outcome<Batch> {
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
        // The route of the first job is open: else its line would not have been read.
        let stays = batch
            .leased
            .first()
            .is_some_and(|first| first.route != stored.route)
            && !is_open(work, gates, &stored)?;
        if !known || stays || !(fits || comes_alone) {
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

/// Whether jobs of this one's route may be handed out for its tenant.
fn is_open(work: &Work<'_, '_>, gates: &Gates, stored: &Stored) -> Outcome<bool> {
    if !gates.is_open(stored.route, &stored.job.route) {
        return Ok(false);
    }
    let now = work.now();
    Ok(!work.numbers.may_be_closed(now)
        || troubles::closed(work.write.db, stored.tenant, stored.route, now)?.is_none())
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
    entry.save(work.write, &mut work.tenants)
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
        let mut jobs = Vec::with_capacity(lease.jobs.0.len());
        for job in &lease.jobs.0 {
            let mut select = db.prepare_cached(select_jobs!("WHERE seq = ?1"))?;
            let mut rows = select.query([job.seq])?;
            let row = rows
                .next()?
                .ok_or_else(|| Fault::corrupt("a leased job is gone"))?;
            jobs.push(Stored::read(db, work.write.names, row)?.job);
        }
        leases.push(lease_of(db, work.write.names, group, lease, jobs)?);
    }
    Ok(leases)
}

pub(super) fn fence_of(stored: i64) -> Fence {
    Fence(unsigned(stored))
}

pub(super) fn number(fence: Fence) -> i64 {
    i64::try_from(fence.0).unwrap_or(i64::MAX)
}
