//! The queue as a state machine: plain calls with plain answers, at a time that is handed in.
//!
//! ```text
//! job ──► group's line (due | delayed) ──list──► ready lanes, by tenant | timers
//!                 ▲                                   │ claim
//!                 └──────── settle, reap ◄── live lease
//! ```
//!
//! Whatever changes a group ends with [`State::relist`], the only writer of the indexes.
mod bounds;
mod breaker;
mod claim;
mod expiring;
mod explain;
mod first;
mod group;
mod health;
mod hold_groups;
mod holds;
mod inspect;
mod job;
mod lapse;
mod limit;
mod list;
mod no;
mod operate;
mod outcome;
mod pauses;
mod prove;
mod ready;
mod recount;
mod routes;
mod settle;
mod squash;
mod stage;
mod sweep;
mod tenants;
mod timeline;
mod workers;

#[cfg(test)]
mod check;
#[cfg(test)]
mod tests;

use crate::hasher::FoldHasher;
use breaker::Breaker;
use bytes::Bytes;
use expiring::Expiring;
use first::First;
use foldwright_domain::{Millis, TenantId};
use foldwright_ports::{BlobRef, Fence, GroupId, Held, JobId, LeaseEnd, Nonce, QueueSettings};
use group::{Group, Groups, Listing};
use holds::Holds;
use job::{Content, Job, Jobs, When};
use no::No;
use pauses::Pauses;
use ready::{Lane, Move, Ready};
use routes::{In, Routes};
use std::{
    collections::{BTreeMap, BTreeSet},
    hash::{BuildHasher, BuildHasherDefault},
};
use tenants::{Tenant, Tenants};
use timeline::Timeline;
use workers::Workers;

pub(in crate::queue) use claim::Outlook;

/// How many settled tokens are remembered at most, so that a fast run does not keep ten minutes of them: some 60 MB.
/// A repeat of an older one is answered `Lost`, which changes as little.
const SETTLED_TOKENS: usize = 1 << 20;

/// All of a queue.
pub(in crate::queue) struct State {
    settings: QueueSettings,
    /// The time of the call that is being served.
    now: Millis,
    sequence: u64,
    tenants: Tenants,
    routes: Routes,
    jobs: Jobs,
    groups: Groups,
    ready: Ready,
    timers: BTreeSet<(Millis, No<Group>)>,
    last_fence: u64,
    leases: BTreeMap<Fence, No<Group>>,
    deadlines: BTreeSet<(Millis, Fence)>,
    /// Tokens that were settled, with the hash of their group.
    settled: Expiring<Fence, u64>,
    nonces: Expiring<Nonce, First>,
    answers: Expiring<(No<TenantId>, JobId), Bytes>,
    holds: Holds,
    blocked: Timeline<No<Group>>,
    dead: Timeline<No<Job>>,
    pauses: Pauses,
    breaker: Breaker,
    workers: Workers,
    /// What jobs that are gone carried; freed when the lock is not held any more.
    spent: Vec<Content>,
    news: bool,
}

impl State {
    pub(in crate::queue) fn new(settings: &QueueSettings) -> Self {
        Self {
            settings: *settings,
            now: Millis(i64::MIN),
            sequence: 0,
            tenants: Tenants::default(),
            routes: Routes::default(),
            jobs: Jobs::default(),
            groups: Groups::default(),
            ready: Ready::default(),
            timers: BTreeSet::new(),
            last_fence: 0,
            leases: BTreeMap::new(),
            deadlines: BTreeSet::new(),
            settled: Expiring::new(settings.nonce_ttl, SETTLED_TOKENS),
            nonces: Expiring::new(settings.nonce_ttl, usize::MAX),
            answers: Expiring::new(settings.answer_ttl, usize::MAX),
            holds: Holds::default(),
            blocked: Timeline::default(),
            dead: Timeline::default(),
            pauses: Pauses::default(),
            breaker: Breaker::default(),
            workers: Workers::default(),
            spent: Vec::new(),
            news: false,
        }
    }

    /// Brings the state to `now`: jobs and groups whose time has come are listed, what is past its time is forgotten.
    pub(in crate::queue) fn at(&mut self, now: Millis) {
        let set_back = now < self.now;
        self.now = now;
        if set_back {
            // Rare, and the one walk over all groups: what became due by a clock that was wrong is not due any more.
            for no in self.groups.all() {
                if let Some(group) = self.groups.get_mut(no) {
                    group.set_back(now, &self.jobs);
                }
                self.relist(no);
            }
            self.shut_again();
        }
        self.open_routes();
        while let Some((_, no)) = self.timers.first().copied().filter(|(at, _)| *at <= now) {
            self.tidy(no);
        }
        self.settled.expire(now);
        self.nonces.expire(now);
        self.answers.expire(now);
    }

    /// Whether a group became claimable, or will at another time, since this was asked last.
    pub(in crate::queue) fn take_news(&mut self) -> bool {
        std::mem::take(&mut self.news)
    }

    /// What can be freed without the lock.
    pub(in crate::queue) fn take_spent(&mut self) -> Vec<Content> {
        std::mem::take(&mut self.spent)
    }

    pub(in crate::queue) fn answer(&self, tenant: &TenantId, job: JobId) -> Option<Bytes> {
        let tenant = self.tenants.number(tenant)?;
        self.answers.get(self.now, (tenant, job)).cloned()
    }

    pub(in crate::queue) fn held(&self, blobs: &[BlobRef]) -> Vec<Held> {
        let held = |blob: &BlobRef| match self.tenants.number(&blob.tenant) {
            Some(tenant) => self.holds.held(tenant, blob.hash),
            None => Held::Never,
        };
        blobs.iter().map(held).collect()
    }

    pub(in crate::queue) fn forget(&mut self, blobs: &[BlobRef]) {
        for blob in blobs {
            if let Some(tenant) = self.tenants.number(&blob.tenant) {
                self.holds.forget(tenant, blob.hash);
            }
        }
    }

    /// Puts a group where it belongs in the indexes.
    fn relist(&mut self, no: No<Group>) {
        let Some(group) = self.groups.get_mut(no) else {
            return;
        };
        let (old, new) = (group.listing, group.list(self.now, &self.jobs));
        if old == new {
            return;
        }
        group.listing = new;
        let tenant = group.tenant;
        if old.ready != new.ready {
            if let Some((lane, turn)) = old.ready {
                self.ready.remove(lane, tenant, turn);
                self.rank_in(lane, tenant);
            }
            if let Some((lane, turn)) = new.ready {
                self.ready.insert(lane, tenant, turn, no);
                self.rank_in(lane, tenant);
            }
        }
        if let Some(at) = old.timer {
            self.timers.remove(&(at, no));
        }
        if let Some(at) = new.timer {
            self.timers.insert((at, no));
        }
        self.news |= new != Listing::default();
    }

    /// Puts a tenant where it stands now, in every lane where it has a group.
    fn rank(&mut self, tenant: No<TenantId>) {
        for lane in self.ready.homes(tenant).to_vec() {
            self.rank_in(lane, tenant);
        }
    }

    fn rank_in(&mut self, lane: Lane, tenant: No<TenantId>) -> Move {
        let standing = self.tenants.get(tenant).and_then(Tenant::standing);
        let open = !self.breaker.is_shut(lane.route, tenant);
        let moved = self.ready.rank(lane, tenant, standing.filter(|_| open));
        self.news |= moved == Move::In;
        moved
    }

    /// Lists a group that may have become empty. What was about its jobs goes with them; how its last lease ended is
    /// remembered unless it was completed.
    fn tidy(&mut self, no: No<Group>) {
        if let Some(group) = self.groups.get_mut(no).filter(|group| group.is_empty()) {
            group.health.start_from_zero();
            group.wait = None;
            if let Some(block) = group.block.take() {
                self.blocked.remove(group.tenant, block.when);
            }
        }
        self.relist(no);
        let now = self.now;
        let forgotten = |group: &Group| {
            group.is_empty()
                && matches!(group.previous, LeaseEnd::None | LeaseEnd::Completed)
                && group.remembered_until(now).is_none()
        };
        if self.groups.get(no).is_some_and(forgotten) {
            self.groups.remove(no);
        }
    }

    /// Removes a job for good and lets go of its bodies.
    fn drop_job(&mut self, no: No<Job>, from: In) {
        let Some(job) = self.jobs.remove(no) else {
            return;
        };
        self.routes.leave(job.route, from);
        if from != In::Dead {
            let bytes = job.content.stored_bytes();
            if let Some(group) = self.groups.get_mut(job.group) {
                group.bytes = group.bytes.saturating_sub(bytes);
            }
            self.tenants.lose(job.tenant, bytes);
        }
        for hash in job.content.blobs() {
            self.holds.release(self.now, job.tenant, hash, job.place.sequence);
        }
        self.spent.push(job.content);
    }

    fn next_sequence(&mut self) -> u64 {
        self.sequence += 1;
        self.sequence
    }

    /// An instant that no other one equals.
    fn this_moment(&mut self) -> When {
        When {
            at: self.now,
            sequence: self.next_sequence(),
        }
    }
}

/// Tells groups apart where their names would be too long to keep.
fn hash_of(group: &GroupId) -> u64 {
    BuildHasherDefault::<FoldHasher>::default().hash_one(group)
}
