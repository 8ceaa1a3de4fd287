//! Staging.
use super::{
    state::{Ensure, Job, Model, Recall, Window, ensure},
    throttle::{Turn, is_throttled},
};
use foldwright_domain::Millis;
use foldwright_ports::{Dedup, JobId, MergeWindow, NewJob, Nonce, Staged};

impl Model {
    /// A stage was answered.
    pub(crate) fn stage(&mut self, now: Millis, nonce: Nonce, jobs: &[NewJob], answer: &[Staged]) -> Ensure {
        ensure(answer.len() == jobs.len(), || {
            "stage: an answer for each job".into()
        })?;
        for (job, answer) in jobs.iter().zip(answer) {
            let mine = self.stage_one(now, job, Some(*answer));
            ensure(mine == *answer, || {
                format!("stage of {:?}: {answer:?} instead of {mine:?}", job.id)
            })?;
        }
        self.remember(nonce, now, Recall::Staged(answer.to_vec()));
        Ok(())
    }

    /// Stages a job. `answer` is the adapter's, where it gave one; it decides where the contract does not.
    pub(super) fn stage_one(&mut self, now: Millis, job: &NewJob, answer: Option<Staged>) -> Staged {
        if self.is_dead(job) {
            self.did_not_take(job);
            return Staged::Known;
        }
        let group = self.group_mut(&job.group);
        let blocked = group.blocked.is_some();
        if let Some(known) = group.jobs.iter().position(|known| known.job.id == job.id) {
            let known = &group.jobs[known];
            let waits = !known.leased && !blocked;
            if job.replace && waits && is_later(job, &known.job) {
                self.swap(now, job, job.id);
            } else {
                self.did_not_take(job);
            }
            return Staged::Known;
        }
        if is_throttled(job) {
            return self.stage_throttled(now, job);
        }
        let into = group.windows.get(&job.route).filter(|window| {
            let merged = group.jobs.iter().find(|known| known.job.id == window.job);
            let waits = merged.is_some_and(|known| !known.leased && !known.handed_out) && !blocked;
            let stands = window.certain || answer != Some(Staged::New);
            job.dedup.is_some() && waits && window.until > now && stands
        });
        match (into.map(|window| window.job), job.dedup) {
            (Some(into), Some(dedup)) => {
                self.squash(now, job, dedup, into);
                Staged::Squashed
            }
            _ => {
                self.stage_new(now, job);
                Staged::New
            }
        }
    }

    fn stage_throttled(&mut self, now: Millis, job: &NewJob) -> Staged {
        match (self.turn(now, job), job.dedup) {
            (Turn::Into(into), Some(dedup)) => {
                self.squash(now, job, dedup, into);
                Staged::Squashed
            }
            (Turn::At(runs, ends), _) => {
                self.stage_new(now, job);
                let group = self.group_mut(&job.group);
                let staged = group.jobs.iter_mut().find(|known| known.job.id == job.id);
                staged.unwrap().not_before = runs;
                self.open_window(job, ends);
                Staged::New
            }
            (Turn::Into(_), None) => unreachable!("only a job with a key is throttled"),
        }
    }

    fn stage_new(&mut self, now: Millis, job: &NewJob) {
        self.next_seq += 1;
        let seq = self.next_seq;
        let (low, high) = (
            now.minus(self.settings.score_past),
            now.plus(self.settings.score_future),
        );
        let score = job
            .position
            .map_or(now, |place| place.occurred_at.clamp(low, high));
        let last = self.last_given.map(|_| self.last_fence);
        let group = self.group_mut(&job.group);
        group.may_be_anew(last);
        group.insert(Job {
            job: job.clone(),
            score,
            seq,
            not_before: now.plus(job.delay),
            staged_at: now,
            leased: false,
            handed_out: false,
            swapped: false,
        });
        // A window goes with its job: the same id, staged anew, opens its own or none.
        group.windows.retain(|_, window| window.job != job.id);
        if let Some(dedup) = job.dedup.filter(|_| !is_throttled(job)) {
            let window = Window {
                job: job.id,
                until: now.plus(dedup.ttl),
                certain: true,
            };
            group.windows.insert(job.route.clone(), window);
        }
    }

    fn squash(&mut self, now: Millis, job: &NewJob, dedup: Dedup, into: JobId) {
        let group = self.group_mut(&job.group);
        let merged = group.jobs.iter_mut().find(|known| known.job.id == into).unwrap();
        if dedup.window == MergeWindow::Sliding {
            merged.not_before = now.plus(job.delay);
            group.windows.get_mut(&job.route).unwrap().until = now.plus(dedup.ttl);
        }
        if dedup.replace && is_later(job, &merged.job) {
            self.swap(now, job, into);
        } else if dedup.replace && is_of_the_same(job, &merged.job) {
            self.swap_context(now, job, into);
        } else {
            self.did_not_take(job);
        }
    }

    /// The job `into` carries from now on the state that `from` brought.
    fn swap_context(&mut self, now: Millis, from: &NewJob, into: JobId) {
        let group = self.group_mut(&from.group);
        let job = group.jobs.iter_mut().find(|known| known.job.id == into).unwrap();
        let before = job.holds();
        job.job.context.clone_from(&from.context);
        self.release(now, before);
        self.did_not_take(from);
    }

    /// The job `into` carries from now on what `from` brought.
    fn swap(&mut self, now: Millis, from: &NewJob, into: JobId) {
        let group = self.group_mut(&from.group);
        let job = group.jobs.iter_mut().find(|known| known.job.id == into).unwrap();
        let before = job.holds();
        job.job.format = from.format;
        job.job.header = from.header.clone();
        job.job.body = from.body.clone();
        job.job.context.clone_from(&from.context);
        job.job.position = from.position;
        job.swapped |= from.id == into;
        self.release(now, before);
    }
}

/// Whether both carry a state of the same thing.
fn is_of_the_same(job: &NewJob, there: &NewJob) -> bool {
    match (&job.context, &there.context) {
        (Some(mine), Some(other)) => mine.of == other.of,
        _ => false,
    }
}

/// Whether `job` is canonically later than what is there; without a place it always is.
fn is_later(job: &NewJob, there: &NewJob) -> bool {
    match (job.position, there.position) {
        (None, _) => true,
        (Some(mine), Some(other)) => mine > other,
        // The suite stages no job with a place over one without: what then is later is not promised.
        (Some(_), None) => false,
    }
}
