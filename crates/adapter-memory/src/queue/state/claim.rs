//! Handing out work.
use super::{
    State,
    first::{First, reused},
    group::{Group, LeaseKind, Live, Wait},
    job::{Job, Stand},
    no::No,
    ready::Lane,
    routes::In,
    settle::MAX_FLOOR,
};
use foldwright_domain::Millis;
use foldwright_ports::{
    Capabilities, Fence, HandedJob, Lease, Nonce, Result, Route, WARY_WAIT, Want, WorkerId,
};

/// What someone who waits can expect.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::queue) enum Outlook {
    /// There is something to claim.
    Ready,
    /// Nothing now; time changes something at this instant.
    At(Millis),
    /// Nothing that time alone would change.
    Nothing,
}

/// How much a claim may still hand out.
struct Room {
    bytes: u64,
    /// Nothing was handed out yet, so that even a job above the limit may go, alone.
    untouched: bool,
}

impl Room {
    fn admits(&mut self, bytes: u64) -> bool {
        let fits = bytes <= self.bytes || self.untouched;
        if fits {
            self.bytes = self.bytes.saturating_sub(bytes);
            self.untouched = false;
        }
        fits
    }
}

impl State {
    pub(in crate::queue) fn claim(
        &mut self,
        nonce: Nonce,
        worker: WorkerId,
        want: &Want,
    ) -> Result<Vec<Lease>> {
        match self.nonces.get(self.now, nonce) {
            Some(First::Claimed(fences)) => return Ok(self.still_live(fences)),
            Some(_) => return Err(reused("claim")),
            None => {}
        }
        let leases = self.grant(worker, want);
        let fences = leases.iter().map(|lease| lease.fence).collect();
        self.nonces.put(self.now, nonce, First::Claimed(fences));
        Ok(leases)
    }

    pub(in crate::queue) fn outlook(&self, capabilities: &Capabilities) -> Outlook {
        if self.open_lanes(capabilities).next().is_some() {
            return Outlook::Ready;
        }
        let timer = self.timers.first().map(|(at, _)| *at);
        match timer.into_iter().chain(self.breaker.next_end()).min() {
            Some(at) => Outlook::At(at),
            None => Outlook::Nothing,
        }
    }

    /// The lanes that a worker knows, that hold something to claim, and whose route is open.
    fn open_lanes<'a>(&'a self, capabilities: &'a Capabilities) -> impl Iterator<Item = Lane> + 'a {
        let known = self.ready.known(&self.routes, capabilities);
        known.filter(|lane| self.is_open(lane.route))
    }

    /// Whether jobs of a route are handed out to anybody.
    pub(super) fn is_open(&self, route: No<Route>) -> bool {
        let paused = |route| self.pauses.cover_route(route);
        !self.breaker.is_shut_for_all(route) && !self.routes.name(route).is_some_and(paused)
    }

    /// The next work of the lanes that the worker knows, by the tenants' ranks: one comparison per lane, then O(log n) a
    /// group.
    pub(super) fn grant(&mut self, worker: WorkerId, want: &Want) -> Vec<Lease> {
        let mut leases = Vec::new();
        if want.max_jobs_per_group == 0 {
            return leases;
        }
        let mut room = Room {
            bytes: want.max_bytes,
            untouched: true,
        };
        let lanes: Vec<_> = self.open_lanes(&want.capabilities).collect();
        while leases.len() < want.max_groups
            && let Some((_, no)) = lanes.iter().filter_map(|lane| self.ready.first(*lane)).min()
        {
            // Nothing else may be lost with a worker that a group kills.
            let wary = self.groups.get(no).is_some_and(|group| group.health.wary);
            if wary && !leases.is_empty() {
                break;
            }
            if wary && self.has_wary_in_hand(worker) {
                self.put_off(no);
                break;
            }
            // What does not fit now is first in its turn next time; to look further would let small jobs pass it
            // for ever.
            let Some(lease) = self.lease(no, worker, want, &mut room) else {
                break;
            };
            leases.push(lease);
            if wary {
                break;
            }
        }
        leases
    }

    fn has_wary_in_hand(&self, worker: WorkerId) -> bool {
        let mut leased = self.leases.values().filter_map(|no| self.groups.get(*no));
        leased.any(|group| {
            group.health.wary && group.lease.as_ref().is_some_and(|lease| lease.worker == worker)
        })
    }

    /// A wary group waits while its worker has another one in hand.
    fn put_off(&mut self, no: No<Group>) {
        let until = self.now.plus(WARY_WAIT);
        if let Some(group) = self.groups.get_mut(no) {
            group.wait = Some(Wait { until, retry: false });
        }
        self.relist(no);
    }

    /// Leases the first due jobs of a group; `None` when there is no room for the first.
    fn lease(&mut self, no: No<Group>, worker: WorkerId, want: &Want, room: &mut Room) -> Option<Lease> {
        let batch = self.batch(no, want, room);
        if batch.is_empty() {
            return None;
        }
        let fence = self.next_fence();
        let until = self.now.plus(want.lease);
        let group = self.groups.get_mut(no)?;
        for job_no in &batch {
            if let Some(job) = self.jobs.get_mut(*job_no) {
                group.leave_line(job);
                job.stand = Stand::Leased;
                // Whatever comes for this key from now on is a trigger that this run has not seen.
                if job.window_until.take().is_some() {
                    group.windows.retain(|window| window != job_no);
                }
                self.routes.leave(job.route, In::Waiting);
                self.routes.enter(job.route, In::Leased);
            }
        }
        let first = batch.first().and_then(|job| self.jobs.get(*job));
        let failures = first.map_or(0, |job| group.health.failures_at(job.id));
        group.wait = None;
        group.lease = Some(Live {
            fence,
            worker,
            until,
            kind: LeaseKind::Work {
                attempt: failures.saturating_add(1),
            },
            previous: group.previous,
            completed: group.completed,
            jobs: batch,
        });
        let tenant = group.tenant;
        self.leases.insert(fence, no);
        self.deadlines.insert((until, fence));
        self.tenants.serve(tenant);
        self.relist(no);
        self.rank(tenant);
        self.hand_out(fence)
    }

    /// The first due jobs of a group up to one that the worker does not know or that does not fit.
    fn batch(&self, no: No<Group>, want: &Want, room: &mut Room) -> Vec<No<Job>> {
        let Some(group) = self.groups.get(no) else {
            return Vec::new();
        };
        let mut last_known = None;
        let mut knows = |job: &Job| {
            let known = last_known == Some(job.route)
                || self
                    .routes
                    .name(job.route)
                    .is_some_and(|route| want.capabilities.routes.contains_key(route))
                    && self.is_open(job.route)
                    && !self.breaker.is_shut(job.route, group.tenant);
            if known {
                last_known = Some(job.route);
            }
            known && job.content.format <= want.capabilities.format
        };
        let due = group.due.values().take(want.max_jobs_per_group);
        due.take_while(|no| {
            self.jobs
                .get(**no)
                .is_some_and(|job| knows(job) && room.admits(job.content.stored_bytes()))
        })
        .copied()
        .collect()
    }

    /// The last token that was given.
    pub(super) fn given(&self) -> Option<Fence> {
        (self.last_fence > 0).then_some(Fence(self.last_fence))
    }

    /// Above every token given before, and by the store's clock where that is further.
    pub(super) fn next_fence(&mut self) -> Fence {
        let micros = u64::try_from(self.now.0).unwrap_or(0).saturating_mul(1_000);
        self.last_fence = micros.min(MAX_FLOOR).max(self.last_fence.saturating_add(1));
        Fence(self.last_fence)
    }

    /// The grants of an earlier call that are still live.
    pub(super) fn still_live(&self, fences: &[Fence]) -> Vec<Lease> {
        let live = |fence: &&Fence| {
            let group = self.leases.get(fence).and_then(|no| self.groups.get(*no));
            group
                .and_then(|group| group.lease.as_ref())
                .is_some_and(|live| self.now < live.until)
        };
        fences
            .iter()
            .filter(live)
            .filter_map(|fence| self.hand_out(*fence))
            .collect()
    }

    /// A lease as its worker gets it.
    fn hand_out(&self, fence: Fence) -> Option<Lease> {
        let group = self.groups.get(*self.leases.get(&fence)?)?;
        let live = group.lease.as_ref()?;
        let LeaseKind::Work { attempt } = live.kind else {
            return None;
        };
        let hand = |no: &No<Job>| {
            let job = self.jobs.get(*no)?;
            Some(HandedJob {
                id: job.id,
                route: self.routes.name(job.route)?.clone(),
                position: job.content.position,
                staged_at: job.staged_at,
                format: job.content.format,
                header: job.content.header.clone(),
                body: job.content.body.clone(),
                context: job.content.context.as_ref().map(|context| context.body.clone()),
            })
        };
        Some(Lease {
            group: group.id.clone(),
            fence,
            until: live.until,
            previous: live.previous,
            completed: live.completed,
            attempt,
            jobs: live.jobs.iter().filter_map(hand).collect(),
        })
    }
}
