//! Comparing what can be looked at.
use super::state::{Ensure, Group, Model, ensure};
use crate::invariants::counters_equal;
use bytes::Bytes;
use foldwright_domain::{Millis, TenantId};
use foldwright_ports::{BlockedGroup, DeadLetter, Depth, GroupId, GroupView, JobId, Route};
use std::collections::BTreeMap;

impl Model {
    pub(crate) fn check_depth(&self, said: &BTreeMap<Route, Depth>) -> Ensure {
        let mut counted: BTreeMap<Route, Depth> = BTreeMap::new();
        for group in self.groups.values() {
            for job in &group.jobs {
                let depth = counted.entry(job.job.route.clone()).or_default();
                if job.leased {
                    depth.leased += 1;
                } else if group.blocked.is_some() {
                    depth.blocked += 1;
                } else {
                    depth.waiting += 1;
                }
            }
        }
        for letter in &self.dead {
            counted.entry(letter.job.job.route.clone()).or_default().dead += 1;
        }
        counters_equal(said, &counted).map_err(|broken| broken.to_string())
    }

    pub(crate) fn check_view(&self, now: Millis, id: &GroupId, said: Option<&GroupView>) -> Ensure {
        let mine = self
            .groups
            .get(id)
            .filter(|group| !group.jobs.is_empty() || group.lease.is_some());
        match (mine, said) {
            (None, None) => Ok(()),
            // A hold without a job may read as a group or not.
            (Some(group), None) if group.jobs.is_empty() && is_held(group) => Ok(()),
            (Some(group), Some(view)) => view_of(group, now, view)
                .then_some(())
                .ok_or_else(|| format!("group {id} reads {view:?} and is {group:?}")),
            (mine, said) => Err(format!("group {id} reads {said:?} and is {mine:?}")),
        }
    }

    pub(crate) fn check_blocked(&self, said: &[BlockedGroup]) -> Ensure {
        ensure(said.is_sorted_by_key(|one| one.since), || {
            "blocked: not ordered by time".into()
        })?;
        let blocked = self
            .groups
            .iter()
            .filter_map(|(id, group)| Some((id, group.blocked.as_ref()?)));
        let mine: BTreeMap<_, _> = blocked.map(|(id, blocked)| (id, blocked.since)).collect();
        let theirs: BTreeMap<_, _> = said.iter().map(|one| (&one.group, one.since)).collect();
        ensure(mine == theirs && said.len() == mine.len(), || {
            format!("blocked are {theirs:?}, not {mine:?}")
        })?;
        for one in said {
            let group = &self.groups[&one.group];
            let blocked = group.blocked.as_ref().unwrap();
            ensure(blocked.says(&one.error), || {
                format!("blocked: {one:?}, not {blocked:?}")
            })?;
            let stays = group.jobs.iter().any(|job| job.job.id == blocked.job);
            ensure(!stays || one.job == blocked.job, || {
                format!("blocked: {one:?} at {:?}", blocked.job)
            })?;
        }
        Ok(())
    }

    pub(crate) fn check_dead(&self, said: &[DeadLetter]) -> Ensure {
        ensure(said.is_sorted_by_key(|one| one.since), || {
            "dead letters: not ordered by time".into()
        })?;
        let mut mine: Vec<_> = self
            .dead
            .iter()
            .map(|letter| {
                let job = &letter.job.job;
                (
                    job.id,
                    &job.group,
                    &job.route,
                    &job.header,
                    &letter.error,
                    letter.since,
                )
            })
            .collect();
        let mut theirs: Vec<_> = said
            .iter()
            .map(|one| {
                (
                    one.job,
                    &one.group,
                    &one.route,
                    &one.header,
                    &one.error,
                    one.since,
                )
            })
            .collect();
        mine.sort_unstable();
        theirs.sort_unstable();
        ensure(mine == theirs, || {
            format!("dead letters are {theirs:?}, not {mine:?}")
        })
    }

    /// The answers that must be there now.
    pub(crate) fn answers(&self, now: Millis) -> Vec<(TenantId, JobId, Bytes)> {
        self.answers
            .iter()
            .filter(|(_, (_, until))| *until > now)
            .map(|((tenant, job), (answer, _))| (tenant.clone(), *job, answer.clone()))
            .collect()
    }
}

fn view_of(group: &Group, now: Millis, view: &GroupView) -> bool {
    let jobs: Vec<_> = group.jobs.iter().take(100).map(|job| job.job.id).collect();
    let failures = match &group.blocked {
        Some(blocked) if !blocked.exhausted => true,
        _ => failures_are_legal(group, now, view.failures),
    };
    let closed = view.closed_until.filter(|until| *until > now);
    view.jobs == jobs
        && view.depth == group.jobs.len() as u64
        && (is_held(group) || view.leased == group.lease.is_some())
        && failures
        && group.ended_as(view.previous)
        && match (&view.blocked_by, &group.blocked) {
            (Some(error), Some(blocked)) => blocked.says(error),
            (error, blocked) => error.is_none() && blocked.is_none(),
        }
        && (group.blocked.is_some() || wait_is_legal(group, now, closed))
}

fn is_held(group: &Group) -> bool {
    let lease = group.lease.as_ref();
    lease.is_some_and(|live| live.holder.is_some())
}

/// Those of the job that is handed out or comes next; which one that is, is open where none is due.
fn failures_are_legal(group: &Group, now: Millis, said: u32) -> bool {
    let due = group.jobs.iter().find(|job| job.not_before <= now);
    let leased = group.jobs.iter().find(|job| job.leased);
    match leased.or(due) {
        Some(next) => said == group.failures_of(next.job.id),
        None => said == 0 || said == group.failures,
    }
}

/// A wait that may have been cut short is there or over.
fn wait_is_legal(group: &Group, now: Millis, said: Option<Millis>) -> bool {
    let mine = group.closed.value.filter(|until| *until > now);
    said == mine || said.is_none() && !group.closed.certain
}
