//! What the model remembers.
use bytes::Bytes;
use foldwright_domain::{Millis, TenantId};
use foldwright_ports::{
    BlobRef, Body, Fence, GroupId, JobId, LeaseEnd, LeaseRef, NewJob, Nonce, Pass, QueueSettings, Route,
    Scope, Staged, TenantLimits, WorkerId,
};
use std::collections::{BTreeMap, BTreeSet};

/// `Err` says what the adapter did that it must not.
pub(crate) type Ensure<T = ()> = Result<T, String>;

/// Refuses with a text unless something holds.
pub(crate) fn ensure(holds: bool, otherwise: impl FnOnce() -> String) -> Ensure {
    if holds { Ok(()) } else { Err(otherwise()) }
}

/// The model.
#[derive(Debug)]
pub(crate) struct Model {
    pub(super) settings: QueueSettings,
    pub(super) groups: BTreeMap<GroupId, Group>,
    pub(super) dead: Vec<Letter>,
    pub(super) answers: BTreeMap<(TenantId, JobId), (Bytes, Millis)>,
    pub(super) settled: BTreeMap<LeaseRef, Millis>,
    pub(super) recalls: BTreeMap<Nonce, (Millis, Recall)>,
    pub(super) released: BTreeMap<BlobRef, Millis>,
    /// Bodies that were handed over and not taken: whether they count as released is the adapter's choice.
    pub(super) not_taken: BTreeSet<BlobRef>,
    pub(super) last_fence: Fence,
    pub(super) last_given: Option<Fence>,
    pub(super) next_seq: u64,
    pub(super) limits: BTreeMap<TenantId, TenantLimits>,
    /// At least and at most: a tenant without work may be forgotten, and then starts from zero.
    pub(super) passes: BTreeMap<TenantId, (Pass, Pass)>,
    pub(super) clock: (Pass, Pass),
    pub(super) pauses: BTreeMap<Scope, Millis>,
    /// Who waits to hold a group, and until when.
    pub(super) reserved: BTreeMap<GroupId, (WorkerId, Millis)>,
    pub(super) throttles: BTreeMap<GroupId, Throttle>,
    /// What may still be known of groups that are empty: up to which token they are accounted for, and their need.
    pub(super) ghosts: BTreeMap<GroupId, (Option<Fence>, u32)>,
}

/// What a nonce's first call answered.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Recall {
    Staged(Vec<Staged>),
    Granted(Vec<Grant>),
    Settled(Vec<crate::kit::Seen>, Vec<Grant>),
}

/// What a grant that is repeated has in common with the first.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Grant {
    pub(super) lease: LeaseRef,
    pub(super) jobs: Vec<JobId>,
    pub(super) attempt: u32,
    pub(super) previous: LeaseEnd,
    pub(super) completed: Option<Fence>,
}

#[derive(Debug)]
pub(super) struct Group {
    /// By `(score, seq)`.
    pub(super) jobs: Vec<Job>,
    pub(super) lease: Option<Live>,
    pub(super) previous: LeaseEnd,
    /// It may have been forgotten since: then there was no lease before.
    pub(super) loose: bool,
    /// Up to which token all leases are accounted for, at least and at most: a floor may have raised the counter above
    /// the last token that was given.
    pub(super) completed: (Option<Fence>, Option<Fence>),
    /// Failed attempts at the job that failed last.
    pub(super) failures: u32,
    pub(super) failed: Option<JobId>,
    /// Failed attempts in a row, whatever job they were at.
    pub(super) streak: u32,
    pub(super) blocked: Option<Blocked>,
    pub(super) closed: Maybe<Option<Millis>>,
    pub(super) need: Maybe<u32>,
    /// One per route, because the windows of two pipelines never meet.
    pub(super) windows: BTreeMap<Route, Window>,
}

/// What is certain, or was and may have changed since.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Maybe<T> {
    pub(super) value: T,
    pub(super) certain: bool,
}

impl<T> Maybe<T> {
    pub(super) fn certain(value: T) -> Self {
        Self { value, certain: true }
    }
}

#[derive(Clone, Debug)]
pub(super) struct Job {
    pub(super) job: NewJob,
    pub(super) score: Millis,
    pub(super) seq: u64,
    pub(super) not_before: Millis,
    pub(super) staged_at: Millis,
    pub(super) leased: bool,
    pub(super) handed_out: bool,
    /// Its body was replaced; its place stays the first one's.
    pub(super) swapped: bool,
}

#[derive(Debug)]
pub(super) struct Live {
    pub(super) fence: Fence,
    pub(super) until: Millis,
    /// Whose hold it is.
    pub(super) holder: Option<WorkerId>,
}

/// An open window of a group with one run.
#[derive(Debug)]
pub(super) struct Throttle {
    pub(super) until: Millis,
    pub(super) certain: bool,
}

#[derive(Debug)]
pub(super) struct Blocked {
    pub(super) error: String,
    /// The streak that the error names beside what went wrong last.
    pub(super) streak: Option<u32>,
    pub(super) job: JobId,
    pub(super) since: Millis,
    /// The count is exact where the ladder ended; a job that cannot succeed may count its attempt or not.
    pub(super) exhausted: bool,
}

#[derive(Debug)]
pub(super) struct Window {
    pub(super) job: JobId,
    pub(super) until: Millis,
    /// Its group was blocked since: the window may be stale.
    pub(super) certain: bool,
}

#[derive(Clone, Debug)]
pub(super) struct Letter {
    pub(super) job: Job,
    pub(super) error: String,
    pub(super) since: Millis,
}

impl Model {
    pub(crate) fn new(settings: &QueueSettings) -> Self {
        Self {
            settings: *settings,
            groups: BTreeMap::new(),
            dead: Vec::new(),
            answers: BTreeMap::new(),
            settled: BTreeMap::new(),
            recalls: BTreeMap::new(),
            released: BTreeMap::new(),
            not_taken: BTreeSet::new(),
            last_fence: Fence(0),
            last_given: None,
            next_seq: 0,
            limits: BTreeMap::new(),
            passes: BTreeMap::new(),
            clock: (Pass(0), Pass(0)),
            pauses: BTreeMap::new(),
            reserved: BTreeMap::new(),
            throttles: BTreeMap::new(),
            ghosts: BTreeMap::new(),
        }
    }

    pub(super) fn group_mut(&mut self, group: &GroupId) -> &mut Group {
        if !self.groups.contains_key(group) {
            let fresh = self.fresh(group);
            self.groups.insert(group.clone(), fresh);
        }
        self.groups.get_mut(group).unwrap()
    }

    /// Every instant at which something changes by itself; the suite steps over them, because which side of one an
    /// adapter counts it to is not promised.
    pub(crate) fn instants(&self) -> BTreeSet<Millis> {
        let groups = self.groups.values();
        let mut all: BTreeSet<Millis> = groups
            .flat_map(|group| {
                let jobs = group.jobs.iter().map(|job| job.not_before);
                let windows = group.windows.values().map(|window| window.until);
                let lease = group.lease.iter().map(|lease| lease.until);
                jobs.chain(windows).chain(lease).chain(group.closed.value)
            })
            .collect();
        all.extend(self.answers.values().map(|(_, until)| *until));
        all.extend(self.recalls.values().map(|(until, _)| *until));
        all.extend(self.settled.values());
        all.extend(self.reserved.values().map(|(_, until)| *until));
        all.extend(self.throttles.values().map(|window| window.until));
        all
    }

    /// The groups whose lease is past its deadline.
    pub(crate) fn lapsed(&self, now: Millis) -> Vec<GroupId> {
        let lapsed = |group: &Group| group.lease.as_ref().is_some_and(|lease| lease.until < now);
        let groups = self.groups.iter().filter(|(_, group)| lapsed(group));
        groups.map(|(id, _)| id.clone()).collect()
    }

    pub(crate) fn remember(&mut self, nonce: Nonce, now: Millis, recall: Recall) {
        let until = now.plus(self.settings.nonce_ttl);
        self.recalls.insert(nonce, (until, recall));
    }

    /// The first answers of the nonces that are still kept.
    pub(crate) fn recalled(&self, now: Millis) -> BTreeMap<Nonce, Recall> {
        let kept = self.recalls.iter().filter(|(_, (until, _))| *until > now);
        kept.map(|(nonce, (_, recall))| (*nonce, recall.clone()))
            .collect()
    }

    /// Whether a lease is live and before its deadline.
    pub(crate) fn is_surely_live(&self, now: Millis, lease: &LeaseRef) -> bool {
        let live = self
            .groups
            .get(&lease.group)
            .and_then(|group| group.lease.as_ref());
        live.is_some_and(|live| live.fence == lease.fence && live.until > now)
    }

    /// A group without a job and a lease is forgotten, unless its last lease ended badly.
    pub(super) fn tidy(&mut self, id: &GroupId) {
        let Some(group) = self.groups.get_mut(id) else {
            return;
        };
        if !group.jobs.is_empty() || group.lease.is_some() {
            return;
        }
        if matches!(group.previous, LeaseEnd::None | LeaseEnd::Completed) {
            self.leave_ghost(id);
            self.groups.remove(id);
        } else {
            let (previous, completed) = (group.previous, group.completed);
            let need = Maybe {
                certain: group.need.value == 0,
                ..group.need
            };
            *group = Group {
                previous,
                completed,
                need,
                ..Group::default()
            };
        }
    }
}

impl Default for Group {
    fn default() -> Self {
        Self {
            jobs: Vec::new(),
            lease: None,
            previous: LeaseEnd::None,
            loose: false,
            completed: (None, None),
            failures: 0,
            failed: None,
            streak: 0,
            blocked: None,
            closed: Maybe::certain(None),
            need: Maybe::certain(0),
            windows: BTreeMap::new(),
        }
    }
}

impl Group {
    pub(super) fn insert(&mut self, job: Job) {
        self.jobs.push(job);
        self.jobs.sort_by_key(|job| (job.score, job.seq));
    }

    pub(super) fn start_from_zero(&mut self) {
        self.failures = 0;
        self.failed = None;
        self.streak = 0;
    }

    /// Failed attempts at this job.
    pub(super) fn failures_of(&self, job: JobId) -> u32 {
        if self.failed == Some(job) {
            self.failures
        } else {
            0
        }
    }

    pub(super) fn block(&mut self, blocked: Blocked) {
        self.blocked = Some(blocked);
        self.closed = Maybe::certain(None);
        for window in self.windows.values_mut() {
            window.certain = false;
        }
    }
}

impl Blocked {
    /// Whether an error that is told may be the one that blocked the group.
    pub(super) fn says(&self, error: &str) -> bool {
        match self.streak {
            Some(streak) if !self.exhausted || error != self.error => {
                error.contains(&self.error) && error.contains(&streak.to_string())
            }
            _ => error == self.error,
        }
    }
}

impl Job {
    /// The bodies it holds.
    pub(super) fn holds(&self) -> Vec<BlobRef> {
        holds(&self.job)
    }
}

/// The bodies a job would hold.
pub(super) fn holds(job: &NewJob) -> Vec<BlobRef> {
    let bodies = [Some(&job.body), job.context.as_ref().map(|context| &context.body)];
    let hashes = bodies.into_iter().flatten().filter_map(Body::blob);
    hashes
        .map(|hash| BlobRef {
            tenant: job.group.tenant.clone(),
            hash,
        })
        .collect()
}
