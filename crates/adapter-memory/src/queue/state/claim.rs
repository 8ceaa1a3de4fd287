//! Handing out work.
use super::{
    State,
    first::{First, reused},
    group::{Group, Live},
    job::{Job, Stand, When},
    no::No,
    ready::Lane,
    routes::In,
    settle::MAX_FLOOR,
};
use foldwright_domain::Millis;
use foldwright_ports::{Capabilities, Fence, HandedJob, Lease, Nonce, Result, Want};
use std::{cmp::Reverse, collections::BinaryHeap};

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
    pub(in crate::queue) fn claim(&mut self, nonce: Nonce, want: &Want) -> Result<Vec<Lease>> {
        match self.nonces.get(self.now, nonce) {
            Some(First::Claimed(fences)) => return Ok(self.still_live(fences)),
            Some(_) => return Err(reused("claim")),
            None => {}
        }
        let leases = self.grant(want);
        let fences = leases.iter().map(|lease| lease.fence).collect();
        self.nonces.put(self.now, nonce, First::Claimed(fences));
        Ok(leases)
    }

    pub(in crate::queue) fn outlook(&self, capabilities: &Capabilities) -> Outlook {
        if self.ready.known(&self.routes, capabilities).next().is_some() {
            return Outlook::Ready;
        }
        match self.timers.first() {
            Some((at, _)) => Outlook::At(*at),
            None => Outlook::Nothing,
        }
    }

    /// The next work of the lanes that the worker knows, by turn: one comparison per lane, then O(log n) a group.
    pub(super) fn grant(&mut self, want: &Want) -> Vec<Lease> {
        let mut leases = Vec::new();
        if want.max_jobs_per_group == 0 {
            return leases;
        }
        let mut room = Room {
            bytes: want.max_bytes,
            untouched: true,
        };
        let known = self.ready.known(&self.routes, &want.capabilities);
        let mut turns: BinaryHeap<Reverse<(When, Lane)>> = known.map(Reverse).collect();
        while leases.len() < want.max_groups
            && let Some(Reverse((_, lane))) = turns.pop()
            && let Some((_, group)) = self.ready.first(lane)
        {
            // What does not fit now is first in its turn next time; to look further would let small jobs pass it
            // for ever.
            let Some(lease) = self.lease(group, want, &mut room) else {
                break;
            };
            leases.push(lease);
            turns.extend(self.ready.first(lane).map(|(turn, _)| Reverse((turn, lane))));
        }
        leases
    }

    /// Leases the first due jobs of a group; `None` when there is no room for the first.
    fn lease(&mut self, no: No<Group>, want: &Want, room: &mut Room) -> Option<Lease> {
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
        group.closed_until = None;
        group.lease = Some(Live {
            fence,
            until,
            previous: group.previous,
            completed: group.completed,
            attempt: group.failures.saturating_add(1),
            jobs: batch,
        });
        self.leases.insert(fence, no);
        self.deadlines.insert((until, fence));
        self.relist(no);
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
                    .is_some_and(|route| want.capabilities.routes.contains_key(route));
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

    /// Above every token given before, and by the store's clock where that is further.
    /// The last token that was given.
    pub(super) fn given(&self) -> Option<Fence> {
        (self.last_fence > 0).then_some(Fence(self.last_fence))
    }

    fn next_fence(&mut self) -> Fence {
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
            attempt: live.attempt,
            jobs: live.jobs.iter().filter_map(hand).collect(),
        })
    }
}
