//! What holds of a group queue whatever happens, checked on the answers that it gives.
use foldwright_domain::{Millis, TenantId};
use foldwright_ports::{Depth, Fence, GroupId, JobId, Lease, LeaseRef, Route};
use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
};

/// An invariant that does not hold.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Violation(String);

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Violation {}

/// Watches a queue. Tell it of each grant after the call that made it, and of each end before the call that asks
/// for it; then it may be shared by tasks that work at once.
#[derive(Clone, Debug, Default)]
pub struct Invariants {
    live: BTreeMap<GroupId, Fence>,
    highest: BTreeMap<GroupId, Fence>,
    given: BTreeSet<Fence>,
    completed: BTreeSet<(TenantId, JobId)>,
}

impl Invariants {
    /// A job was staged and is new: it may run, also when it did before.
    pub fn staged(&mut self, tenant: &TenantId, job: JobId) {
        self.completed.remove(&(tenant.clone(), job));
    }

    /// A lease was handed out.
    ///
    /// # Errors
    /// When the group has another live lease, the token is not above those before or was given before, or a
    /// completed job is among its jobs.
    pub fn granted(&mut self, lease: &Lease) -> Result<(), Violation> {
        let reference = lease.reference();
        self.held(&reference)?;
        let group = &reference.group;
        for job in &lease.jobs {
            if self.completed.contains(&(group.tenant.clone(), job.id)) {
                return broken(format!("{:?} of {group} is completed", job.id));
            }
        }
        Ok(())
    }

    /// A hold was granted that was not there before.
    ///
    /// # Errors
    /// When the group has another live lease, or the token is not above those before or was given before.
    pub fn held(&mut self, lease: &LeaseRef) -> Result<(), Violation> {
        let (group, fence) = (lease.group.clone(), lease.fence);
        if let Some(other) = self.live.insert(group.clone(), fence) {
            return broken(format!("{group} has two live leases: {other:?} and {fence:?}"));
        }
        if let Some(before) = self.highest.insert(group.clone(), fence).filter(|b| *b >= fence) {
            return broken(format!(
                "a token of {group} is not above the one before: {fence:?} after {before:?}"
            ));
        }
        if !self.given.insert(fence) {
            return broken(format!("{fence:?} was given twice"));
        }
        Ok(())
    }

    /// A live lease is about to end, with these jobs done.
    pub fn ended(&mut self, lease: &LeaseRef, done: impl IntoIterator<Item = JobId>) {
        if self.live.get(&lease.group) == Some(&lease.fence) {
            self.live.remove(&lease.group);
            let tenant = &lease.group.tenant;
            self.completed
                .extend(done.into_iter().map(|job| (tenant.clone(), job)));
        }
    }

    /// Whether a lease is live.
    #[must_use]
    pub fn is_live(&self, lease: &LeaseRef) -> bool {
        self.live.get(&lease.group) == Some(&lease.fence)
    }
}

/// Jobs are handed out by `(score, stage sequence)`.
///
/// # Errors
/// When one comes before another that it should follow.
pub fn in_order(jobs: impl IntoIterator<Item = (Millis, u64)>) -> Result<(), Violation> {
    let mut last = None;
    for place in jobs {
        if last >= Some(place) {
            return broken(format!("{place:?} comes after {last:?}"));
        }
        last = Some(place);
    }
    Ok(())
}

/// The counters equal what is counted.
///
/// # Errors
/// When they do not; routes without a job may be left out.
pub fn counters_equal(
    counters: &BTreeMap<Route, Depth>,
    counted: &BTreeMap<Route, Depth>,
) -> Result<(), Violation> {
    let routes: BTreeSet<_> = counters.keys().chain(counted.keys()).collect();
    for route in routes {
        let [said, found] = [counters, counted].map(|depths| depths.get(route).copied().unwrap_or_default());
        if said != found {
            return broken(format!(
                "the counters of {route} say {said:?}, a count finds {found:?}"
            ));
        }
    }
    Ok(())
}

fn broken<T>(what: String) -> Result<T, Violation> {
    Err(Violation(what))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kit::{FOLD, group, job, route};
    use foldwright_ports::{HandedJob, LeaseEnd};

    fn lease(key: &str, fence: u64) -> Lease {
        let staged = job(1, &group(key));
        let handed = HandedJob {
            id: staged.id,
            route: staged.route,
            position: None,
            staged_at: Millis(0),
            format: 1,
            header: staged.header,
            body: staged.body,
            context: None,
        };
        Lease {
            group: group(key),
            fence: Fence(fence),
            until: Millis(9),
            previous: LeaseEnd::None,
            completed: None,
            attempt: 1,
            jobs: vec![handed],
        }
    }

    ///
    #[test]
    fn each_broken_rule_is_found() {
        let mut watch = Invariants::default();
        watch.granted(&lease("a", 5)).unwrap();
        assert!(watch.is_live(&lease("a", 5).reference()));
        assert!(watch.granted(&lease("a", 6)).is_err(), "two live leases");

        let mut watch = Invariants::default();
        watch.granted(&lease("a", 5)).unwrap();
        assert!(watch.granted(&lease("b", 5)).is_err(), "one token twice");

        let mut watch = Invariants::default();
        watch.granted(&lease("a", 5)).unwrap();
        watch.ended(&lease("a", 5).reference(), []);
        assert!(watch.granted(&lease("a", 4)).is_err(), "a lower token");

        let mut watch = Invariants::default();
        let first = lease("a", 5);
        watch.granted(&first).unwrap();
        watch.ended(&first.reference(), [first.jobs[0].id]);
        assert!(watch.clone().granted(&lease("a", 6)).is_err(), "a completed job");
        watch.staged(&group("a").tenant, first.jobs[0].id);
        watch.granted(&lease("a", 6)).unwrap();
    }

    ///
    #[test]
    fn order_and_counters_are_compared() {
        in_order([(Millis(1), 2), (Millis(1), 3), (Millis(2), 1)]).unwrap();
        assert!(in_order([(Millis(1), 3), (Millis(1), 2)]).is_err());
        let one = Depth {
            waiting: 1,
            ..Depth::default()
        };
        let zero = [(route(FOLD), Depth::default())].into();
        counters_equal(&zero, &BTreeMap::new()).unwrap();
        assert!(counters_equal(&zero, &[(route(FOLD), one)].into()).is_err());
    }
}
