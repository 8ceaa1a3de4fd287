//! The invariants of the state: whatever is kept twice must agree.
use super::{
    State,
    group::Listing,
    job::{Job, Stand},
    no::No,
    routes::In,
};
use foldwright_ports::{BlobHash, Depth, Held, Route};
use std::collections::{BTreeMap, BTreeSet};

impl State {
    /// Panics at the first broken invariant. `hashes` are all blobs that any job may refer to.
    pub(super) fn check(&self, hashes: &[BlobHash]) {
        self.every_job_is_in_one_state();
        self.indexes_list_what_they_should();
        self.holds_are_those_of_jobs(hashes);
    }

    fn every_job_is_in_one_state(&self) {
        let mut found: BTreeMap<No<Job>, In> = BTreeMap::new();
        let mut meet = |no: No<Job>, state| {
            assert!(self.jobs.get(no).is_some(), "an index names a job that is gone");
            assert!(found.insert(no, state).is_none(), "a job is in two states");
        };
        for no in self.groups.all() {
            let group = self.groups.get(no).unwrap();
            for (place, job) in &group.due {
                assert!(self.jobs.get(*job).unwrap().place == *place);
                meet(*job, group.waiting_in());
            }
            for (when, job) in &group.delayed {
                assert!(self.jobs.get(*job).unwrap().turn() == *when);
                meet(*job, group.waiting_in());
            }
            for job in group.lease.iter().flat_map(|live| &live.jobs) {
                meet(*job, In::Leased);
            }
            let mut routes = BTreeSet::new();
            for window in &group.windows {
                let job = self.jobs.get(*window).unwrap();
                assert!(matches!(job.stand, Stand::Waiting) && job.window_until.is_some());
                assert!(routes.insert(job.route), "two windows of one route");
            }
        }
        for (_, job) in self.dead.of_all(None) {
            meet(job, In::Dead);
        }
        let mut depths: BTreeMap<Route, Depth> = BTreeMap::new();
        for (no, job) in self.jobs.all() {
            let state = found.remove(&no).expect("every job is in a state");
            let depth = depths
                .entry(self.routes.name(job.route).unwrap().clone())
                .or_default();
            match state {
                In::Waiting => depth.waiting += 1,
                In::Leased => depth.leased += 1,
                In::Blocked => depth.blocked += 1,
                In::Dead => depth.dead += 1,
            }
            let stands = match job.stand {
                Stand::Waiting => matches!(state, In::Waiting | In::Blocked),
                Stand::Leased => state == In::Leased,
                Stand::Dead(_) => state == In::Dead,
            };
            assert!(stands, "a job knows where it stands");
        }
        assert_eq!(self.routes.depths(), depths, "counters equal a recount");
    }

    fn indexes_list_what_they_should(&self) {
        let (mut ready, mut timers) = (Vec::new(), BTreeSet::new());
        let (mut leases, mut deadlines) = (BTreeMap::new(), BTreeSet::new());
        let mut blocked = BTreeSet::new();
        for no in self.groups.all() {
            let group = self.groups.get(no).unwrap();
            let forgettable = matches!(
                group.previous,
                foldwright_ports::LeaseEnd::None | foldwright_ports::LeaseEnd::Completed
            );
            assert!(!group.is_empty() || !forgettable, "an empty group is forgotten");
            let open = group.lease.is_none()
                && group.block.is_none()
                && group.closed_until.is_none_or(|until| until <= self.now);
            assert_eq!(
                group.listing.ready.is_some(),
                open && !group.due.is_empty(),
                "a due group is claimable, and no other"
            );
            let Listing { ready: listed, timer } = group.listing;
            ready.extend(listed.map(|(lane, turn)| (lane, turn, no)));
            timers.extend(timer.map(|at| (at, no)));
            if let Some(live) = &group.lease {
                assert!(!live.jobs.is_empty());
                leases.insert(live.fence, no);
                deadlines.insert((live.until, live.fence));
            }
            blocked.extend(group.block.as_ref().map(|block| (block.when, no)));
        }
        ready.sort_unstable();
        assert_eq!(self.ready.all(), ready);
        assert_eq!(
            (&self.timers, &self.leases, &self.deadlines),
            (&timers, &leases, &deadlines)
        );
        assert_eq!(self.blocked.of_all(None).collect::<BTreeSet<_>>(), blocked);
    }

    fn holds_are_those_of_jobs(&self, hashes: &[BlobHash]) {
        let held: BTreeSet<_> = self
            .jobs
            .all()
            .flat_map(|(_, job)| job.content.blobs().map(|hash| (job.tenant, hash)))
            .collect();
        for (tenant, _) in self.tenants.all() {
            for hash in hashes {
                let expected = held.contains(&(tenant, *hash));
                assert_eq!(self.holds.held(tenant, *hash) == Held::Yes, expected);
            }
        }
    }
}
