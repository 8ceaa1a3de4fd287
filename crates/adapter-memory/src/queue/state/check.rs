//! The invariants of the state: whatever is kept twice must agree.
use super::{
    State,
    group::{LeaseKind, Listing},
    job::{Job, Stand},
    no::No,
    ready::Rank,
    routes::In,
};
use foldwright_ports::{BlobHash, Depth, Held, Route};
use std::collections::{BTreeMap, BTreeSet};

impl State {
    /// Panics at the first broken invariant. `hashes` are all blobs that any job may refer to.
    pub(super) fn check(&self, hashes: &[BlobHash]) {
        self.every_job_is_in_one_state();
        self.indexes_list_what_they_should();
        self.tenants_are_listed_where_they_stand();
        self.figures_equal_a_recount();
        self.check_breaker();
        self.check_workers();
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
            for window in group.windows.iter().chain(group.due.values()) {
                assert!(
                    self.jobs.get(*window).unwrap().group == no,
                    "a job knows its group"
                );
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
            let remembered = group.remembered_until(self.now).is_some();
            assert!(
                !group.is_empty() || !forgettable || remembered,
                "an empty group is forgotten"
            );
            let open = group.lease.is_none()
                && group.block.is_none()
                && !group.paused
                && group.reservation(self.now).is_none()
                && group.wait.is_none_or(|wait| wait.until <= self.now);
            assert_eq!(
                group.listing.ready.is_some(),
                open && !group.due.is_empty(),
                "a due group is claimable, and no other"
            );
            let Listing { ready: listed, timer } = group.listing;
            ready.extend(listed.map(|(lane, turn)| (lane, group.tenant, turn, no)));
            timers.extend(timer.map(|at| (at, no)));
            if let Some(live) = &group.lease {
                assert_eq!(live.jobs.is_empty(), live.kind == LeaseKind::Hold);
                leases.insert(live.fence, no);
                deadlines.insert((live.until, live.fence));
            }
            blocked.extend(group.block.as_ref().map(|block| (block.when, no)));
        }
        ready.sort_unstable();
        assert_eq!(self.ready.all(self.tenants.numbers()).0, ready);
        assert_eq!(
            (&self.timers, &self.leases, &self.deadlines),
            (&timers, &leases, &deadlines)
        );
        assert_eq!(self.blocked.of_all(None).collect::<BTreeSet<_>>(), blocked);
    }

    /// Neither parked nor paused tenants have a place in a lane, nor such as its route is closed for; all others that have
    /// a group there do.
    fn tenants_are_listed_where_they_stand(&self) {
        let (seats, ranks) = self.ready.all(self.tenants.numbers());
        let mut expected = BTreeMap::new();
        for (lane, tenant, turn, _) in seats {
            let standing = self.tenants.get(tenant).unwrap().standing();
            let open = !self.breaker.is_shut(lane.route, tenant);
            if let Some(standing) = standing.filter(|_| open) {
                expected
                    .entry((lane, tenant))
                    .or_insert_with(|| (lane, Rank::new(standing, turn)));
            }
        }
        let mut expected: Vec<_> = expected.into_values().collect();
        expected.sort_unstable();
        assert_eq!(ranks, expected);
    }

    fn figures_equal_a_recount(&self) {
        let (mut busy, mut all) = (0, (0, 0));
        for no in self.tenants.numbers() {
            let tenant = self.tenants.get(no).unwrap();
            let jobs = self.jobs.all().map(|(_, job)| job);
            let jobs = jobs.filter(|job| job.tenant == no && !matches!(job.stand, Stand::Dead(_)));
            let bytes: Vec<_> = jobs.map(|job| job.content.stored_bytes()).collect();
            assert_eq!(
                (tenant.jobs, tenant.bytes),
                (bytes.len() as u64, bytes.iter().sum())
            );
            let groups = self.groups.behind(None).filter(|(_, group)| group.tenant == no);
            let work = groups.filter(|(_, group)| group.lease.is_some() && group.hold().is_none());
            assert_eq!(tenant.in_flight, work.count() as u64);
            busy += u64::from(tenant.jobs > 0);
            all = (all.0 + tenant.jobs, all.1 + tenant.bytes);
        }
        let said = (self.tenants.busy(), (self.tenants.jobs(), self.tenants.bytes()));
        assert_eq!(said, (busy, all));
        for (no, group) in self.groups.behind(None) {
            let jobs = self.jobs.all().map(|(_, job)| job);
            let jobs = jobs.filter(|job| job.group == no && !matches!(job.stand, Stand::Dead(_)));
            let bytes: Vec<_> = jobs.map(|job| job.content.stored_bytes()).collect();
            assert_eq!(
                (group.jobs(), group.bytes),
                (bytes.len(), bytes.iter().sum::<u64>())
            );
        }
    }

    fn holds_are_those_of_jobs(&self, hashes: &[BlobHash]) {
        let held: BTreeSet<_> = self
            .jobs
            .all()
            .flat_map(|(_, job)| job.content.blobs().map(|hash| (job.tenant, hash)))
            .collect();
        for tenant in self.tenants.numbers() {
            for hash in hashes {
                let expected = held.contains(&(tenant, *hash));
                assert_eq!(self.holds.held(tenant, *hash) == Held::Yes, expected);
            }
        }
    }
}
