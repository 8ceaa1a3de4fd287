//! A sequence as people read it: one line for each call.
use foldwright_ports::{JobId, Lease, NewJob, Rest, Settlement, Want};
use std::fmt::Write as _;

/// The number that a job of the suites was made from.
const fn number(id: JobId) -> u16 {
    (id.0[13] as u16) << 4 | (id.0[14] >> 4) as u16
}

pub(super) fn jobs(jobs: &[NewJob]) -> String {
    let mut text = String::new();
    for job in jobs {
        let _ = write!(
            text,
            " {}@{}{}",
            number(job.id),
            job.group,
            if job.replace { " replace" } else { "" }
        );
        if let Some(place) = job.position {
            let _ = write!(text, " at {}", place.occurred_at.0);
        }
        if !job.delay.is_zero() {
            let _ = write!(text, " after {:?}", job.delay);
        }
        if let Some(dedup) = job.dedup {
            let _ = write!(text, " {dedup:?}");
        }
        text.push(';');
    }
    text
}

pub(super) fn want(want: &Want) -> String {
    format!(
        "{} groups, {} jobs, {} bytes of {} routes in format {} for {:?}",
        want.max_groups,
        want.max_jobs_per_group,
        want.max_bytes,
        want.capabilities.routes.len(),
        want.capabilities.format,
        want.lease
    )
}

pub(super) fn leases(leases: &[Lease]) -> String {
    let mut text = String::new();
    for lease in leases {
        let jobs: Vec<_> = lease.jobs.iter().map(|job| number(job.id)).collect();
        let _ = write!(
            text,
            " {}#{} {jobs:?} attempt {} after {:?};",
            lease.group, lease.fence.0, lease.attempt, lease.previous
        );
    }
    text
}

pub(super) fn settlements(settlements: &[Settlement]) -> String {
    let mut text = String::new();
    for one in settlements {
        let rest: &Rest = &one.outcome.rest;
        let _ = write!(
            text,
            " {}#{}: {} done, {rest:?}",
            one.lease.group, one.lease.fence.0, one.outcome.done
        );
        if !one.then.is_empty() {
            let _ = write!(text, ", then{}", jobs(&one.then));
        }
        text.push(';');
    }
    text
}
