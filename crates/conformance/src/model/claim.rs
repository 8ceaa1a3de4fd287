//! Checking what a claim took.
use super::state::{Ensure, Grant, Group, Job, Live, Maybe, Model, ensure};
use crate::invariants::in_order;
use foldwright_domain::Millis;
use foldwright_ports::{Capabilities, GroupId, HandedJob, Lease, LeaseEnd, NewJob, Want};

/// Whether a worker may have a group.
#[derive(PartialEq, Eq)]
pub(super) enum Claimable {
    Yes,
    /// It is the adapter's choice.
    Maybe,
    No,
}

impl Model {
    /// A claim was answered: each lease is legal, and no claimable group was left out while there was room.
    pub(crate) fn claim(&mut self, now: Millis, want: &Want, leases: &[Lease]) -> Ensure<Vec<Grant>> {
        ensure(leases.len() <= want.max_groups, || {
            "claim: more groups than asked for".into()
        })?;
        let mut cut_by_bytes = false;
        let bytes: u64 = leases.iter().flat_map(|lease| &lease.jobs).map(bytes_of).sum();
        let jobs: usize = leases.iter().map(|lease| lease.jobs.len()).sum();
        ensure(bytes <= want.max_bytes || jobs == 1, || {
            format!("claim: {jobs} jobs of {bytes} bytes")
        })?;
        for lease in leases {
            cut_by_bytes |= self.check_lease(now, want, lease, bytes)?;
        }
        let left: Vec<_> = self
            .groups
            .iter()
            .filter(|(id, _)| leases.iter().all(|lease| lease.group != **id))
            .filter(|(id, group)| self.claimable(id, group, now, &want.capabilities) == Claimable::Yes)
            .filter(|(id, _)| self.has_slot_after(&id.tenant, leases))
            .map(|(id, group)| {
                (
                    id,
                    self.batch(group, now, &want.capabilities)[0].job.stored_bytes(),
                )
            })
            .collect();
        let full = leases.len() == want.max_groups
            || cut_by_bytes
            || left.iter().any(|(_, first)| bytes + first > want.max_bytes) && jobs > 0;
        ensure(full || left.is_empty(), || {
            format!("claim: left out although there was room: {left:?}")
        })?;
        self.check_turns(now, want, leases)?;
        let mut grants = Vec::new();
        let mut fences: Vec<_> = leases.iter().map(|lease| lease.fence).collect();
        fences.sort_unstable();
        fences.insert(0, self.last_fence);
        ensure(fences.windows(2).all(|pair| pair[0] < pair[1]), || {
            format!("claim: tokens do not increase: {fences:?}")
        })?;
        self.last_fence = fences.pop().unwrap();
        if !leases.is_empty() {
            self.last_given = Some(self.last_fence);
        }
        for lease in leases {
            grants.push(self.adopt(lease));
        }
        self.serve(leases);
        Ok(grants)
    }

    /// Answers whether it holds fewer jobs than it might for want of bytes.
    fn check_lease(&self, now: Millis, want: &Want, lease: &Lease, bytes: u64) -> Ensure<bool> {
        let id = &lease.group;
        let Some(group) = self.groups.get(id) else {
            return Err(format!("claim: {id} holds no job"));
        };
        let legal = self.claimable(id, group, now, &want.capabilities) != Claimable::No;
        ensure(legal, || format!("claim: {id} is not claimable: {group:?}"))?;
        let batch = self.batch(group, now, &want.capabilities);
        in_order(batch.iter().map(|job| (job.score, job.seq))).map_err(|broken| broken.to_string())?;
        let expected: Vec<_> = batch
            .iter()
            .map(|job| job.job.id)
            .take(want.max_jobs_per_group)
            .collect();
        let handed: Vec<_> = lease.jobs.iter().map(|job| job.id).collect();
        ensure(!handed.is_empty() && expected.starts_with(&handed), || {
            format!("claim: {id} hands out {handed:?}, due are {expected:?}")
        })?;
        let cut = handed.len() < expected.len();
        if cut {
            let next = batch[handed.len()].job.stored_bytes();
            ensure(bytes + next > want.max_bytes, || {
                format!("claim: {id} had room for one job more")
            })?;
        }
        for (handed, staged) in lease.jobs.iter().zip(&batch) {
            check_job(handed, staged)?;
        }
        let lapsed = group.lease.as_ref().is_some_and(|live| live.holder.is_none());
        let ended = if lapsed {
            lease.previous == LeaseEnd::Lapsed
        } else {
            group.ended_as(lease.previous)
        };
        ensure(ended, || {
            format!("claim: {id} ended {:?}, not {:?}", lease.previous, group.previous)
        })?;
        let (low, high) = group.completed;
        ensure(low <= lease.completed && lease.completed <= high, || {
            format!(
                "claim: {id} is accounted for up to {:?}, not {low:?}",
                lease.completed
            )
        })?;
        let failures = group.failures_of(lease.jobs[0].id);
        ensure(lease.attempt == failures + 1, || {
            format!(
                "claim: {id} is at attempt {} after {failures} failures",
                lease.attempt
            )
        })?;
        ensure(lease.until == now.plus(want.lease), || {
            format!("claim: {id} lives until {:?}", lease.until)
        })?;
        Ok(cut)
    }

    fn adopt(&mut self, lease: &Lease) -> Grant {
        let group = self.groups.get_mut(&lease.group).unwrap();
        for job in &mut group.jobs {
            job.leased = lease.jobs.iter().any(|handed| handed.id == job.job.id);
            job.handed_out |= job.leased;
        }
        group.previous = lease.previous;
        group.loose = false;
        group.closed = Maybe::certain(None);
        group.lease = Some(Live {
            fence: lease.fence,
            until: lease.until,
            holder: None,
        });
        Grant {
            lease: lease.reference(),
            jobs: lease.jobs.iter().map(|job| job.id).collect(),
            attempt: lease.attempt,
            previous: lease.previous,
            completed: lease.completed,
        }
    }

    /// A grant was repeated: what is still live of the first, and nothing else.
    pub(crate) fn check_repeat(&self, now: Millis, first: &[Grant], again: &[Lease]) -> Ensure {
        let mut rest = again.iter().peekable();
        for grant in first {
            let live = self
                .groups
                .get(&grant.lease.group)
                .and_then(|group| group.lease.as_ref())
                .filter(|live| live.fence == grant.lease.fence);
            let repeated = rest.next_if(|lease| lease.reference() == grant.lease);
            match (live, repeated) {
                (None, Some(lease)) => return Err(format!("repeat: {lease:?} is no longer live")),
                (Some(live), None) if live.until > now => {
                    return Err(format!("repeat: {:?} is live and missing", grant.lease));
                }
                (_, Some(lease)) => {
                    let jobs: Vec<_> = lease.jobs.iter().map(|job| job.id).collect();
                    let same = jobs == grant.jobs
                        && lease.attempt == grant.attempt
                        && (lease.previous, lease.completed) == (grant.previous, grant.completed);
                    ensure(same, || format!("repeat: {lease:?} instead of {grant:?}"))?;
                }
                _ => {}
            }
        }
        ensure(rest.peek().is_none(), || {
            format!("repeat: granted more than the first time: {:?}", rest.peek())
        })
    }

    /// The due jobs, in order, up to the first that the worker does not know or whose route is paused.
    pub(super) fn batch<'a>(&self, group: &'a Group, now: Millis, knows: &Capabilities) -> Vec<&'a Job> {
        let due = group.jobs.iter().filter(|job| job.not_before <= now);
        due.take_while(|job| knows.routes.contains_key(&job.job.route) && job.job.format <= knows.format)
            .take_while(|job| !self.is_route_paused(&job.job.route))
            .collect()
    }

    pub(super) fn claimable(
        &self,
        id: &GroupId,
        group: &Group,
        now: Millis,
        knows: &Capabilities,
    ) -> Claimable {
        let batch = self.batch(group, now, knows);
        let Some(first) = batch.first() else {
            return Claimable::No;
        };
        let lapsed = group.lease.as_ref().map(|lease| lease.until < now);
        if group.blocked.is_some() || self.is_paused(id) || self.is_reserved(now, id) || lapsed == Some(false)
        {
            return Claimable::No;
        }
        let version = knows.routes[&first.job.route].version;
        let closed = group.closed.value.is_some_and(|until| until > now);
        let needs = group.need.value > version;
        if closed && group.closed.certain || needs && group.need.certain {
            return Claimable::No;
        }
        if closed || needs || lapsed == Some(true) {
            Claimable::Maybe
        } else {
            Claimable::Yes
        }
    }

    /// The group that a lease is of, if it is live by name: settled, reaped and foreign ones are not.
    pub(crate) fn live_jobs(&self, lease: &foldwright_ports::LeaseRef) -> Option<Vec<NewJob>> {
        let group = self.groups.get(&lease.group)?;
        group.lease.as_ref().filter(|live| live.fence == lease.fence)?;
        let leased = group.jobs.iter().filter(|job| job.leased);
        Some(leased.map(|job| job.job.clone()).collect())
    }
}

pub(super) fn bytes_of(job: &HandedJob) -> u64 {
    let context = job
        .context
        .as_ref()
        .map_or(0, foldwright_ports::Body::stored_bytes);
    job.header.len() as u64 + job.body.stored_bytes() + context
}

fn check_job(handed: &HandedJob, staged: &Job) -> Ensure {
    let job = &staged.job;
    let same = handed.route == job.route
        && handed.format == job.format
        && handed.header == job.header
        && handed.body == job.body
        && handed.context.as_ref() == job.context.as_ref().map(|context| &context.body)
        && handed.staged_at == staged.staged_at
        && (staged.swapped || handed.position == job.position);
    ensure(same, || format!("claim: {handed:?} was staged as {staged:?}"))
}
