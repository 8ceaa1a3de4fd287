//! Lists of groups and jobs.
use super::{
    State,
    group::Group,
    job::{Job, Place, Stand},
    no::No,
};
use crate::{
    cursor::{Reader, Writer},
    pager::page,
};
use foldwright_domain::{Millis, TenantId};
use foldwright_ports::{
    Cursor, Fingerprint, GroupFilter, GroupId, GroupLine, JobId, JobState, JobView, Limits, Page, Result,
};

const GROUPS: u8 = b'g';
const JOBS: u8 = b'j';

impl State {
    /// By the groups' numbers, which each keeps for as long as it is there.
    pub(in crate::queue) fn groups(
        &self,
        filter: &GroupFilter,
        from: Option<&Cursor>,
        limits: Limits,
    ) -> Result<Page<GroupLine>> {
        let from = from.map(|cursor| to_number(cursor, "list groups")).transpose()?;
        let rows = self.groups.behind(from).map(|(no, group)| {
            let line = self.selects(filter, group).then(|| self.line(group)).flatten();
            let sized = line.map(|line| {
                let error = line.error.as_ref().map_or(0, String::len);
                let size = line.group.key.len() + error;
                (line, size)
            });
            (no, sized)
        });
        Ok(page(limits, rows, |no| of_number(*no)))
    }

    pub(super) fn selects(&self, filter: &GroupFilter, group: &Group) -> bool {
        let fits = |job: &Job| {
            let route = filter.route.as_ref();
            route.is_none_or(|route| self.routes.name(job.route) == Some(route))
        };
        let tenant = filter.tenant.as_ref();
        let error = |wanted: Fingerprint| {
            let last = group.health.last_error.as_ref();
            last.is_some_and(|last| Fingerprint::of(last) == wanted)
        };
        tenant.is_none_or(|tenant| group.id.tenant == *tenant)
            && group.head(&self.jobs).is_some_and(fits)
            && filter.state.is_none_or(|state| self.state_of(group) == state)
            && filter.error.is_none_or(error)
    }

    fn line(&self, group: &Group) -> Option<GroupLine> {
        let head = group.head(&self.jobs)?;
        let blocked = group.block.as_ref().map(|block| block.when.at);
        Some(GroupLine {
            group: group.id.clone(),
            state: self.state_of(group),
            route: self.routes.name(head.route)?.clone(),
            jobs: group.jobs() as u64,
            bytes: group.bytes,
            failures: group.health.failures(),
            error: group.health.last_error.clone(),
            at: blocked.or_else(|| self.runs_at(group)),
        })
    }

    pub(in crate::queue) fn jobs(
        &self,
        group: &GroupId,
        from: Option<&Cursor>,
        limits: Limits,
    ) -> Result<Page<JobView>> {
        let from = from.map(to_place).transpose()?;
        let Some(group) = self.groups.find(group) else {
            return Ok(Page::last(Vec::new()));
        };
        let leased = group.lease.iter().flat_map(|live| &live.jobs);
        let all = group.due.values().chain(group.delayed.values()).chain(leased);
        let mut line: Vec<_> = all
            .filter_map(|no| self.jobs.get(*no))
            .filter(|job| from.is_none_or(|from| job.place > from))
            .collect();
        line.sort_unstable_by_key(|job| job.place);
        let rows = line.into_iter().map(|job| {
            let view = self.job_view(job);
            let sized = view.map(|view| {
                let size = view.header.len();
                (view, size)
            });
            (job.place, sized)
        });
        Ok(page(limits, rows, of_place))
    }

    pub(in crate::queue) fn job(&self, tenant: &TenantId, job: JobId) -> Option<JobView> {
        let no = self.jobs.number(self.tenants.number(tenant)?, job)?;
        self.job_view(self.jobs.get(no)?)
    }

    fn job_view(&self, job: &Job) -> Option<JobView> {
        let group = match &job.stand {
            Stand::Dead(death) => &death.group,
            _ => &self.groups.get(job.group)?.id,
        };
        let blocked = || {
            self.groups
                .get(job.group)
                .is_some_and(|group| group.block.is_some())
        };
        Some(JobView {
            id: job.id,
            group: group.clone(),
            route: self.routes.name(job.route)?.clone(),
            state: match job.stand {
                Stand::Dead(_) => JobState::Dead,
                Stand::Leased => JobState::Leased,
                Stand::Waiting if blocked() => JobState::Blocked,
                Stand::Waiting => JobState::Waiting,
            },
            score: job.place.score,
            staged_at: job.staged_at,
            not_before: job.due_at,
            header: job.content.header.clone(),
            bytes: job.content.stored_bytes(),
        })
    }
}

pub(super) fn of_number(no: No<Group>) -> Cursor {
    Writer::new(GROUPS).u64(no.index() as u64).done()
}

pub(super) fn to_number(cursor: &Cursor, operation: &'static str) -> Result<No<Group>> {
    let mut reader = Reader::new(cursor, GROUPS, operation)?;
    let index = usize::try_from(reader.u64()?).map_err(|_| reader.bad())?;
    reader.end()?;
    Ok(No::of(index))
}

fn of_place(place: &Place) -> Cursor {
    Writer::new(JOBS).i64(place.score.0).u64(place.sequence).done()
}

fn to_place(cursor: &Cursor) -> Result<Place> {
    let mut reader = Reader::new(cursor, JOBS, "list jobs")?;
    let place = Place {
        score: Millis(reader.i64()?),
        sequence: reader.u64()?,
    };
    reader.end()?;
    Ok(place)
}
