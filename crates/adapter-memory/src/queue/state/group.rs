//! Groups.
use super::{
    health::Health,
    job::{Job, Jobs, Place, When},
    no::{No, Slab},
    ready::Lane,
    routes::In,
};
use crate::keyed::Keyed;
use foldwright_domain::{Millis, TenantId};
use foldwright_ports::{Fence, GroupId, JobId, LeaseEnd, Route, WorkerId};
use std::collections::BTreeMap;

/// One group's line and lease.
pub(super) struct Group {
    pub(super) id: GroupId,
    pub(super) tenant: No<TenantId>,
    /// Waiting jobs that are due, in order.
    pub(super) due: BTreeMap<Place, No<Job>>,
    /// Waiting jobs that are delayed, by when they are due.
    pub(super) delayed: BTreeMap<When, No<Job>>,
    /// Waiting jobs that dedup jobs may be merged into: one per route at most.
    pub(super) windows: Vec<No<Job>>,
    /// Throttled windows that are open, with their ends: one per route at most.
    pub(super) throttles: Vec<(No<Route>, Millis)>,
    /// The stored bytes that its jobs carry.
    pub(super) bytes: u64,
    pub(super) lease: Option<Live>,
    pub(super) reserved: Option<Reservation>,
    /// A pause names exactly this group.
    pub(super) paused: bool,
    pub(super) block: Option<Block>,
    pub(super) wait: Option<Wait>,
    pub(super) health: Health,
    pub(super) previous: LeaseEnd,
    /// The token of its last lease that ended completed.
    pub(super) completed: Option<Fence>,
    /// The version of the route that a worker must declare.
    pub(super) need: u32,
    pub(super) listing: Listing,
}

/// A lease that has neither been settled nor reaped.
pub(super) struct Live {
    pub(super) fence: Fence,
    pub(super) worker: WorkerId,
    pub(super) until: Millis,
    pub(super) kind: LeaseKind,
    pub(super) previous: LeaseEnd,
    pub(super) completed: Option<Fence>,
    pub(super) jobs: Vec<No<Job>>,
}

/// What a lease is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum LeaseKind {
    /// To run its jobs, the first one at this attempt.
    Work { attempt: u32 },
    /// To keep the group still; it has no jobs.
    Hold,
}

/// A group that someone will hold when it is free.
#[derive(Clone, Copy)]
pub(super) struct Reservation {
    pub(super) worker: WorkerId,
    pub(super) until: Millis,
}

/// Until when a group is closed.
#[derive(Clone, Copy)]
pub(super) struct Wait {
    pub(super) until: Millis,
    /// Its last attempt failed; else its worker put it off.
    pub(super) retry: bool,
}

/// Why a group is blocked.
pub(super) struct Block {
    pub(super) job: JobId,
    pub(super) route: Route,
    pub(super) failures: u32,
    pub(super) error: String,
    pub(super) when: When,
}

/// Where the indexes have a group.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(super) struct Listing {
    /// Claimable in this lane at this turn.
    pub(super) ready: Option<(Lane, When)>,
    /// To be looked at again at this time.
    pub(super) timer: Option<Millis>,
}

impl Group {
    fn new(id: GroupId, tenant: No<TenantId>, completed: Option<Fence>) -> Self {
        Self {
            id,
            tenant,
            due: BTreeMap::new(),
            delayed: BTreeMap::new(),
            windows: Vec::new(),
            throttles: Vec::new(),
            bytes: 0,
            lease: None,
            reserved: None,
            paused: false,
            block: None,
            wait: None,
            health: Health::default(),
            previous: LeaseEnd::None,
            completed,
            need: 0,
            listing: Listing::default(),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.due.is_empty() && self.delayed.is_empty() && self.lease.is_none()
    }

    /// Its lease, if that is a hold.
    pub(super) fn hold(&self) -> Option<&Live> {
        self.lease.as_ref().filter(|live| live.kind == LeaseKind::Hold)
    }

    /// How many jobs it has, handed out or not.
    pub(super) fn jobs(&self) -> usize {
        self.waiting() + self.lease.as_ref().map_or(0, |live| live.jobs.len())
    }

    /// Who will hold it, while the reservation stands.
    pub(super) fn reservation(&self, now: Millis) -> Option<Reservation> {
        self.reserved.filter(|reserved| reserved.until > now)
    }

    /// When the throttled window of a route ends, while it is open.
    pub(super) fn throttle(&self, now: Millis, route: No<Route>) -> Option<Millis> {
        let open = |(of, until): &&(No<Route>, Millis)| *of == route && *until > now;
        self.throttles.iter().find(open).map(|(_, until)| *until)
    }

    /// Until when it has to be remembered although it is empty.
    pub(super) fn remembered_until(&self, now: Millis) -> Option<Millis> {
        let throttles = self.throttles.iter().map(|(_, until)| *until);
        let reserved = self.reserved.map(|reserved| reserved.until);
        throttles.chain(reserved).filter(|until| *until > now).max()
    }

    /// Its first job in line, handed out or not, due or not.
    pub(super) fn head<'a>(&self, jobs: &'a Jobs) -> Option<&'a Job> {
        let leased = self.lease.as_ref().and_then(|live| live.jobs.first());
        let candidates = leased.into_iter().chain(self.due.values().next());
        candidates
            .chain(self.delayed.values())
            .filter_map(|no| jobs.get(*no))
            .min_by_key(|job| job.place)
    }

    /// The first job that is handed out, or else the one that is handed out next.
    pub(super) fn next<'a>(&self, now: Millis, jobs: &'a Jobs) -> Option<&'a Job> {
        if let Some(taken) = self.lease.as_ref().and_then(|live| live.jobs.first()) {
            return jobs.get(*taken);
        }
        let delayed = || self.delayed.values().filter_map(|no| jobs.get(*no));
        let due = self.due.values().next().and_then(|no| jobs.get(*no));
        let come_due = delayed().take_while(|job| job.due_at <= now);
        due.into_iter()
            .chain(come_due)
            .min_by_key(|job| job.place)
            .or_else(|| delayed().next())
    }

    /// What its waiting jobs are counted as.
    pub(super) fn waiting_in(&self) -> In {
        match self.block {
            Some(_) => In::Blocked,
            None => In::Waiting,
        }
    }

    pub(super) fn line_up(&mut self, no: No<Job>, job: &Job, now: Millis) {
        if job.due_at <= now {
            self.due.insert(job.place, no);
        } else {
            self.delayed.insert(job.turn(), no);
        }
    }

    pub(super) fn leave_line(&mut self, job: &Job) {
        if self.due.remove(&job.place).is_none() {
            self.delayed.remove(&job.turn());
        }
    }

    /// How many of its jobs wait.
    pub(super) fn waiting(&self) -> usize {
        self.due.len() + self.delayed.len()
    }

    /// The first `limit` waiting jobs, due or delayed, in order.
    pub(super) fn in_order(&self, limit: usize, jobs: &Jobs) -> Vec<No<Job>> {
        let due = self.due.iter().take(limit).map(|(place, no)| (*place, *no));
        let place_of = |no: &No<Job>| Some((jobs.get(*no)?.place, *no));
        let mut line: Vec<_> = due.chain(self.delayed.values().filter_map(place_of)).collect();
        line.sort_unstable();
        line.truncate(limit);
        line.into_iter().map(|(_, no)| no).collect()
    }

    /// Where it belongs in the indexes now; delayed jobs whose time has come join the line first.
    pub(super) fn list(&mut self, now: Millis, jobs: &Jobs) -> Listing {
        while let Some(entry) = self.delayed.first_entry().filter(|entry| entry.key().at <= now) {
            let no = entry.remove();
            if let Some(job) = jobs.get(no) {
                self.due.insert(job.place, no);
            }
        }
        if self.is_empty() {
            return Listing {
                ready: None,
                timer: self.remembered_until(now),
            };
        }
        if self.lease.is_some() || self.block.is_some() || self.paused {
            return Listing::default();
        }
        let wait = self.wait.map(|wait| wait.until);
        let reserved = self.reserved.map(|reserved| reserved.until);
        if let Some(until) = wait.max(reserved).filter(|until| *until > now) {
            return Listing {
                ready: None,
                timer: Some(until),
            };
        }
        let first = self.due.values().next().and_then(|no| jobs.get(*no));
        let ready = first.map(|job| {
            let lane = Lane {
                route: job.route,
                format: job.content.format,
                need: self.need,
            };
            (lane, job.turn())
        });
        Listing {
            ready,
            timer: self.delayed.keys().next().map(|when| when.at),
        }
    }

    /// Takes jobs out of the line whose time has not come any more, after the clock was set back.
    pub(super) fn set_back(&mut self, now: Millis, jobs: &Jobs) {
        let early = |no: &No<Job>| {
            jobs.get(*no)
                .filter(|job| job.due_at > now)
                .map(|job| (job.turn(), *no))
        };
        let moved: Vec<_> = self.due.values().filter_map(early).collect();
        self.due.retain(|_, no| early(no).is_none());
        self.delayed.extend(moved);
    }
}

/// All groups that hold a job or a lease, or whose last lease has to be remembered.
#[derive(Default)]
pub(super) struct Groups {
    numbers: Keyed<GroupId, No<Group>>,
    rows: Slab<Group>,
}

impl Groups {
    pub(super) fn number(&self, id: &GroupId) -> Option<No<Group>> {
        self.numbers.get(id).copied()
    }

    /// Adds a group that is not there. `last` is the last token that was given: it has nothing open from before.
    pub(super) fn add(&mut self, id: &GroupId, tenant: No<TenantId>, last: Option<Fence>) -> No<Group> {
        let no = self.rows.insert(Group::new(id.clone(), tenant, last));
        self.numbers.insert(id.clone(), no);
        no
    }

    pub(super) fn get(&self, no: No<Group>) -> Option<&Group> {
        self.rows.get(no)
    }

    pub(super) fn get_mut(&mut self, no: No<Group>) -> Option<&mut Group> {
        self.rows.get_mut(no)
    }

    pub(super) fn find(&self, id: &GroupId) -> Option<&Group> {
        self.get(self.number(id)?)
    }

    pub(super) fn remove(&mut self, no: No<Group>) {
        if let Some(group) = self.rows.remove(no) {
            self.numbers.remove(&group.id);
        }
    }

    /// The groups behind a number, or all of them, by number.
    pub(super) fn behind(&self, from: Option<No<Group>>) -> impl Iterator<Item = (No<Group>, &Group)> {
        self.rows.behind(from)
    }

    pub(super) fn all(&self) -> Vec<No<Group>> {
        self.rows.numbers()
    }
}
