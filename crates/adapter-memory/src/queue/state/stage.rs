//! Staging.
use super::{
    State,
    first::{First, reused},
    group::Group,
    job::{Content, Job, Place, Stand},
    no::No,
};
use foldwright_domain::{Millis, TenantId};
use foldwright_ports::{Error, GroupId, Kind, NewJob, Nonce, Result, Room, StageRefused, Staged};

impl State {
    pub(in crate::queue) fn stage(
        &mut self,
        nonce: Nonce,
        jobs: Vec<NewJob>,
        room: Room,
    ) -> Result<Vec<Staged>, StageRefused> {
        let error = match self.nonces.get(self.now, nonce) {
            Some(First::Staged(answers)) => return Ok(answers.to_vec()),
            Some(_) => Some(reused("stage")),
            None => {
                let unfit = jobs.iter().find_map(|job| fits(job, "stage").err());
                unfit.or_else(|| self.full(&jobs).filter(|_| room == Room::Sender))
            }
        };
        if let Some(error) = error {
            return Err(StageRefused { jobs, error });
        }
        let answers: Vec<_> = jobs.into_iter().map(|job| self.stage_one(job)).collect();
        self.nonces
            .put(self.now, nonce, First::Staged(answers.as_slice().into()));
        Ok(answers)
    }

    pub(super) fn stage_one(&mut self, new: NewJob) -> Staged {
        let tenant = self.tenants.number_or_add(&new.group.tenant);
        if let Some(known) = self.jobs.number(tenant, new.id) {
            if new.replace {
                self.replace(known, new);
            }
            return Staged::Known;
        }
        let route = self.routes.number_or_add(&new.route);
        let group = self.group_or_add(&new.group, tenant);
        if let Some(dedup) = new.dedup
            && let Some(waiting) = self.window(group, route, dedup.window)
        {
            self.squash(group, waiting, new, dedup);
            return Staged::Squashed;
        }
        let timing = self.timing(group, route, &new);
        let place = Place {
            score: self.score(&new),
            sequence: self.next_sequence(),
        };
        let no = self.jobs.insert(Job {
            id: new.id,
            tenant,
            route,
            place,
            staged_at: self.now,
            due_at: timing.due_at,
            window_until: timing.window_until,
            group,
            content: Content {
                position: new.position,
                format: new.format,
                header: new.header,
                body: new.body,
                context: new.context,
            },
            stand: Stand::Waiting,
        });
        if let Some(job) = self.jobs.get(no) {
            for hash in job.content.blobs() {
                self.holds.take(tenant, hash, place.sequence);
            }
        }
        if timing.window_until.is_some() {
            self.open_window(group, no);
        }
        self.wait_in_line(group, no);
        Staged::New
    }

    /// Puts a job that stands nowhere yet into the line of its group, and counts it.
    pub(super) fn wait_in_line(&mut self, group_no: No<Group>, no: No<Job>) {
        if let (Some(group), Some(job)) = (self.groups.get_mut(group_no), self.jobs.get(no)) {
            let bytes = job.content.stored_bytes();
            group.line_up(no, job, self.now);
            group.bytes += bytes;
            self.tenants.gain(job.tenant, bytes);
            self.routes.enter(job.route, group.waiting_in());
        }
        self.relist(group_no);
    }

    pub(super) fn group_or_add(&mut self, id: &GroupId, tenant: No<TenantId>) -> No<Group> {
        if let Some(no) = self.groups.number(id) {
            return no;
        }
        let no = self.groups.add(id, tenant, self.given());
        if let Some(group) = self.groups.get_mut(no) {
            group.paused = self.pauses.cover_group(id);
        }
        no
    }

    fn score(&self, new: &NewJob) -> Millis {
        let earliest = self.now.minus(self.settings.score_past);
        let latest = self.now.plus(self.settings.score_future);
        new.position.map_or(self.now, |position| {
            position.occurred_at.max(earliest).min(latest)
        })
    }
}

/// Whether a job keeps the limits that its type states.
pub(super) fn fits(job: &NewJob, operation: &'static str) -> Result<()> {
    key_fits(&job.group, operation)?;
    if job.header.len() > NewJob::MAX_HEADER_BYTES {
        return Err(Error::new(
            Kind::Invalid,
            operation,
            "the header of a job has at most 4096 bytes",
        ));
    }
    Ok(())
}

/// Whether a group's name keeps its limit.
pub(super) fn key_fits(group: &GroupId, operation: &'static str) -> Result<()> {
    if group.key.len() > GroupId::MAX_KEY_BYTES {
        return Err(Error::new(
            Kind::Invalid,
            operation,
            "the key of a group has at most 1024 bytes",
        ));
    }
    Ok(())
}
