//! The operator's verbs.
use super::state::{Ensure, Letter, Model, ensure};
use foldwright_domain::{Millis, TenantId};
use foldwright_ports::{GroupId, JobId, NewJob};

impl Model {
    pub(super) fn is_dead(&self, job: &NewJob) -> bool {
        let tenant = &job.group.tenant;
        self.dead.iter().any(|letter| letter.is(tenant, job.id))
    }

    pub(crate) fn unblock(&mut self, id: &GroupId, said: bool) -> Ensure {
        let group = self.groups.get_mut(id);
        let was = group.as_ref().is_some_and(|group| group.blocked.is_some());
        ensure(said == was, || format!("unblock of {id}: {said}"))?;
        if let Some(group) = group.filter(|_| was) {
            group.blocked = None;
            group.start_from_zero();
        }
        Ok(())
    }

    pub(crate) fn drain(&mut self, now: Millis, id: &GroupId, limit: usize, said: usize) -> Ensure {
        let Some(group) = self.groups.get_mut(id) else {
            return ensure(said == 0, || format!("drain of {id}: {said} of nothing"));
        };
        let jobs: Vec<_> = group
            .jobs
            .iter()
            .filter(|job| !job.leased)
            .take(limit)
            .cloned()
            .collect();
        ensure(said == jobs.len(), || {
            format!("drain of {id}: {said} instead of {}", jobs.len())
        })?;
        if jobs.is_empty() {
            return Ok(());
        }
        group
            .jobs
            .retain(|job| jobs.iter().all(|gone| gone.job.id != job.job.id));
        group.start_from_zero();
        group.closed.certain = group.closed.value.is_none();
        if let Some(blocked) = &mut group.blocked {
            blocked.exhausted = false;
        }
        self.doubt_window(id);
        self.release(now, jobs.iter().flat_map(super::state::Job::holds).collect());
        self.tidy(id);
        Ok(())
    }

    /// The letters that can be asked for, in a fixed order.
    pub(crate) fn letters(&self) -> Vec<(GroupId, JobId)> {
        let mut all: Vec<_> = self
            .dead
            .iter()
            .map(|letter| (letter.job.job.group.clone(), letter.job.job.id))
            .collect();
        all.sort_unstable();
        all
    }

    fn take(&mut self, tenant: &TenantId, job: JobId) -> Option<Letter> {
        let at = self.dead.iter().position(|letter| letter.is(tenant, job))?;
        Some(self.dead.remove(at))
    }

    /// A requeue was answered; `order` is the group's as it stands then, which decides between equal scores.
    pub(crate) fn requeue(&mut self, tenant: &TenantId, job: JobId, said: bool, order: &[JobId]) -> Ensure {
        let letter = self.take(tenant, job);
        ensure(said == letter.is_some(), || format!("requeue of {job:?}: {said}"))?;
        let Some(Letter { job, .. }) = letter else {
            return Ok(());
        };
        let id = job.job.group.clone();
        self.doubt_window(&id);
        let last = self.last_given.map(|_| self.last_fence);
        let group = self.group_mut(&id);
        group.may_be_anew(last);
        group.insert(job);
        group.start_from_zero();
        group.closed.certain = group.closed.value.is_none();
        if let Some(blocked) = &mut group.blocked {
            blocked.exhausted = false;
        }
        let mut seqs: Vec<_> = group.jobs.iter().map(|job| job.seq).collect();
        seqs.sort_unstable();
        let place = |id| order.iter().position(|at| *at == id);
        ensure(group.jobs.iter().all(|job| place(job.job.id).is_some()), || {
            format!("requeue: the group holds {order:?}")
        })?;
        group.jobs.sort_by_key(|job| place(job.job.id));
        let scores: Vec<_> = group.jobs.iter().map(|job| job.score).collect();
        ensure(scores.is_sorted(), || {
            format!("requeue: out of place: {order:?} have the scores {scores:?}")
        })?;
        for (job, seq) in group.jobs.iter_mut().zip(seqs) {
            job.seq = seq;
        }
        Ok(())
    }

    pub(crate) fn discard(&mut self, now: Millis, tenant: &TenantId, job: JobId, said: bool) -> Ensure {
        let letter = self.take(tenant, job);
        ensure(said == letter.is_some(), || format!("discard of {job:?}: {said}"))?;
        self.release(now, letter.iter().flat_map(|letter| letter.job.holds()).collect());
        Ok(())
    }
}

impl Letter {
    fn is(&self, tenant: &TenantId, job: JobId) -> bool {
        self.job.job.group.tenant == *tenant && self.job.job.id == job
    }
}
