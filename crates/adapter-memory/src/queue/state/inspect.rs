//! Looking into the queue.
use super::{
    State,
    job::{Stand, When},
};
use crate::{
    cursor::{Reader, Writer},
    pager::page,
};
use foldwright_domain::{Millis, TenantId};
use foldwright_ports::{
    BlockedGroup, Cursor, DeadLetter, Depth, GroupId, GroupView, Limits, Page, Result, Route,
};
use std::collections::BTreeMap;

const CURSOR: u8 = b'q';

/// How many jobs a view names.
const JOBS_IN_VIEW: usize = 100;

impl State {
    pub(in crate::queue) fn depth(&self) -> BTreeMap<Route, Depth> {
        self.routes.depths()
    }

    pub(in crate::queue) fn view(&self, group: &GroupId) -> Option<GroupView> {
        let group = self.groups.find(group).filter(|group| !group.is_empty())?;
        let leased = group.lease.as_ref().map_or(&[][..], |live| &live.jobs);
        let mut line = group.in_order(JOBS_IN_VIEW, &self.jobs);
        line.extend(leased);
        let mut jobs: Vec<_> = line
            .into_iter()
            .filter_map(|no| self.jobs.get(no))
            .map(|job| (job.place, job.id))
            .collect();
        jobs.sort_unstable();
        let next = group.next(self.now, &self.jobs);
        let failures = next.map_or(0, |job| group.health.failures_at(job.id));
        Some(GroupView {
            depth: group.jobs() as u64,
            failures,
            jobs: jobs.into_iter().map(|(_, id)| id).take(JOBS_IN_VIEW).collect(),
            leased: group.lease.is_some(),
            previous: group.previous,
            blocked_by: group.block.as_ref().map(|block| block.error.clone()),
            last_error: group.health.last_error.clone(),
            closed_until: group
                .wait
                .map(|wait| wait.until)
                .filter(|until| *until > self.now),
        })
    }

    pub(in crate::queue) fn blocked(
        &self,
        tenant: Option<&TenantId>,
        from: Option<Cursor>,
        limits: Limits,
    ) -> Result<Page<BlockedGroup>> {
        let from = from.map(|c| to_when(&c, "list blocked")).transpose()?;
        let row = |(when, no)| {
            let group = self.groups.get(no)?;
            let block = group.block.as_ref()?;
            let blocked = BlockedGroup {
                group: group.id.clone(),
                job: block.job,
                route: block.route.clone(),
                failures: block.failures,
                error: block.error.clone(),
                since: block.when.at,
            };
            let size = blocked.group.key.len() + blocked.error.len();
            Some((when, Some((blocked, size))))
        };
        Ok(match tenant {
            None => page(limits, self.blocked.of_all(from).filter_map(row), of_when),
            Some(tenant) => match self.tenants.number(tenant) {
                Some(no) => page(limits, self.blocked.of_tenant(no, from).filter_map(row), of_when),
                None => Page::last(Vec::new()),
            },
        })
    }

    pub(in crate::queue) fn dead_letters(
        &self,
        tenant: Option<&TenantId>,
        from: Option<Cursor>,
        limits: Limits,
    ) -> Result<Page<DeadLetter>> {
        let from = from.map(|c| to_when(&c, "list dead letters")).transpose()?;
        let row = |(when, no)| {
            let job = self.jobs.get(no)?;
            let Stand::Dead(death) = &job.stand else {
                return None;
            };
            let letter = DeadLetter {
                job: job.id,
                group: death.group.clone(),
                route: self.routes.name(job.route)?.clone(),
                header: job.content.header.clone(),
                error: death.error.clone(),
                since: death.when.at,
            };
            let size = letter.group.key.len() + letter.header.len() + letter.error.len();
            Some((when, Some((letter, size))))
        };
        Ok(match tenant {
            None => page(limits, self.dead.of_all(from).filter_map(row), of_when),
            Some(tenant) => match self.tenants.number(tenant) {
                Some(no) => page(limits, self.dead.of_tenant(no, from).filter_map(row), of_when),
                None => Page::last(Vec::new()),
            },
        })
    }
}

pub(super) fn of_when(when: &When) -> Cursor {
    Writer::new(CURSOR).i64(when.at.0).u64(when.sequence).done()
}

fn to_when(cursor: &Cursor, operation: &'static str) -> Result<When> {
    let mut reader = Reader::new(cursor, CURSOR, operation)?;
    let when = When {
        at: Millis(reader.i64()?),
        sequence: reader.u64()?,
    };
    reader.end()?;
    Ok(when)
}
