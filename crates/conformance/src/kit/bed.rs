//! A store under test with the calls that most cases make.
use super::{COMMAND, FOLD, MAP, SUBSCRIBER, route, secs};
use crate::{Fixture, Harness};
use foldwright_domain::Millis;
use foldwright_ports::{
    BlobRef, Capabilities, Capability, Depth, GroupId, GroupQueue, GroupView, Held, JobId, Kind, Lease,
    LeaseRef, NewJob, Nonce, Outcome, QueueAdmin, QueueSettings, Rest, Room, Settled, Settlement, Staged,
    Verdict, Want, WorkerId,
};
use std::{cell::Cell, sync::Arc, time::Duration};

/// How long the leases of the suites live.
pub(crate) const LEASE: Duration = secs(30);

/// The worker of the suites.
pub(crate) const WORKER: WorkerId = WorkerId(0x5eed);

/// A verdict that can be compared.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Seen {
    Applied,
    Lost,
    Already,
    Refused(Kind),
}

/// A verdict as it is compared.
pub(crate) fn seen(verdict: &Verdict) -> Seen {
    match verdict {
        Verdict::Applied => Seen::Applied,
        Verdict::Lost => Seen::Lost,
        Verdict::Already => Seen::Already,
        Verdict::Refused(error) => Seen::Refused(error.kind()),
    }
}

/// A settlement without answers and follow-ups.
pub(crate) fn settlement(lease: &Lease, outcome: Outcome) -> Settlement {
    Settlement {
        lease: lease.reference(),
        outcome,
        answers: Vec::new(),
        then: Vec::new(),
    }
}

/// All jobs of a lease are done.
pub(crate) fn all_of(lease: &Lease) -> Outcome {
    Outcome::complete(lease.jobs.len())
}

/// The jobs of a lease.
pub(crate) fn ids(lease: &Lease) -> Vec<JobId> {
    lease.jobs.iter().map(|job| job.id).collect()
}

/// As much as there is, of the routes of the suites.
pub(crate) fn want() -> Want {
    let routes = [FOLD, MAP, COMMAND, SUBSCRIBER].map(|text| (route(text), Capability { version: 1 }));
    Want {
        capabilities: Arc::new(Capabilities {
            routes: routes.into_iter().collect(),
            format: 1,
        }),
        max_groups: 10_000,
        max_jobs_per_group: 10_000,
        max_bytes: 1 << 40,
        lease: LEASE,
    }
}

/// A fresh store under test.
pub(crate) struct Bed<'a> {
    pub(crate) fixture: &'a dyn Fixture,
    pub(crate) harness: Harness,
    nonces: Cell<u128>,
}

impl<'a> Bed<'a> {
    pub(crate) async fn open(fixture: &'a dyn Fixture) -> Self {
        Self::open_with(fixture, &QueueSettings::default()).await
    }

    pub(crate) async fn open_with(fixture: &'a dyn Fixture, settings: &QueueSettings) -> Self {
        Self {
            harness: fixture.open_with(*settings).await,
            fixture,
            nonces: Cell::new(0),
        }
    }

    /// The same store after the death of its process.
    pub(crate) async fn restart(self) -> Self {
        Self {
            harness: self.fixture.restart(self.harness).await,
            fixture: self.fixture,
            nonces: self.nonces,
        }
    }

    pub(crate) fn queue(&self) -> &dyn GroupQueue {
        &*self.harness.ports.queue
    }

    pub(crate) fn admin(&self) -> &dyn QueueAdmin {
        &*self.harness.ports.queue_admin
    }

    /// The store's time.
    pub(crate) fn now(&self) -> Millis {
        self.harness.ports.clock.now()
    }

    /// A nonce that no other call of this case carries.
    pub(crate) fn nonce(&self) -> Nonce {
        self.nonces.set(self.nonces.get() + 1);
        Nonce(self.nonces.get())
    }

    pub(crate) async fn elapse(&self, by: Duration) {
        self.fixture.elapse(&self.harness, by).await;
    }

    pub(crate) async fn stage(&self, jobs: Vec<NewJob>) -> Vec<Staged> {
        self.queue()
            .stage(self.nonce(), jobs, Room::Sender)
            .await
            .unwrap()
    }

    /// Stages a job that was not there before.
    pub(crate) async fn stage_new(&self, jobs: &[&NewJob]) {
        let staged = self.stage(jobs.iter().copied().cloned().collect()).await;
        assert_eq!(staged, vec![Staged::New; jobs.len()]);
    }

    /// All that can be claimed.
    pub(crate) async fn claim(&self) -> Vec<Lease> {
        self.claim_as(&want()).await
    }

    pub(crate) async fn claim_as(&self, want: &Want) -> Vec<Lease> {
        self.queue().claim(self.nonce(), WORKER, want).await.unwrap()
    }

    /// The one group that can be claimed.
    pub(crate) async fn claim_one(&self) -> Lease {
        let mut leases = self.claim().await;
        assert_eq!(leases.len(), 1, "one group is claimable: {leases:?}");
        leases.pop().unwrap()
    }

    /// The lease of one group, out of all that can be claimed.
    pub(crate) async fn claim_of(&self, group: &GroupId) -> Lease {
        let leases = self.claim().await;
        let found = leases.into_iter().find(|lease| lease.group == *group);
        found.expect("the group is claimable")
    }

    pub(crate) async fn nothing_is_claimable(&self) {
        let leases = self.claim().await;
        assert!(leases.is_empty(), "nothing is claimable, but got {leases:?}");
    }

    pub(crate) async fn settle(&self, settlements: Vec<Settlement>) -> Vec<Seen> {
        let settled = self.settle_next(settlements, None).await;
        assert!(settled.next.is_empty(), "no work was asked for");
        settled.verdicts.iter().map(seen).collect()
    }

    pub(crate) async fn settle_next(&self, settlements: Vec<Settlement>, next: Option<&Want>) -> Settled {
        let nonce = self.nonce();
        self.queue()
            .settle(nonce, WORKER, settlements, next)
            .await
            .unwrap()
    }

    /// Settles one lease, which is live.
    pub(crate) async fn end(&self, lease: &Lease, outcome: Outcome) {
        assert_eq!(
            self.settle(vec![settlement(lease, outcome)]).await,
            [Seen::Applied]
        );
    }

    /// Settles one lease with nothing done.
    pub(crate) async fn give_up(&self, lease: &Lease, rest: Rest) {
        self.end(lease, Outcome::none(rest)).await;
    }

    /// Completes a lease.
    pub(crate) async fn complete(&self, lease: &Lease) {
        self.end(lease, all_of(lease)).await;
    }

    /// Settles a lease that was settled before.
    pub(crate) async fn complete_again(&self, lease: &Lease) {
        let again = vec![settlement(lease, all_of(lease))];
        assert_eq!(self.settle(again).await, [Seen::Already]);
    }

    pub(crate) async fn extend(&self, leases: &[LeaseRef]) -> Vec<Seen> {
        let verdicts = self.queue().extend(leases, LEASE).await.unwrap();
        verdicts.iter().map(seen).collect()
    }

    pub(crate) async fn reap(&self) -> usize {
        self.queue().reap(10_000).await.unwrap().lapsed
    }

    /// Lets every lease lapse and reaps it.
    pub(crate) async fn lapse(&self) -> usize {
        self.elapse(LEASE + secs(1)).await;
        self.reap().await
    }

    pub(crate) async fn view(&self, group: &GroupId) -> Option<GroupView> {
        self.admin().group(group).await.unwrap()
    }

    /// How many jobs are in which state, all routes together.
    pub(crate) async fn depth(&self) -> Depth {
        let depths = self.admin().depth().await.unwrap();
        depths.values().fold(Depth::default(), |sum, one| Depth {
            waiting: sum.waiting + one.waiting,
            leased: sum.leased + one.leased,
            blocked: sum.blocked + one.blocked,
            dead: sum.dead + one.dead,
        })
    }

    pub(crate) async fn waiting(&self) -> u64 {
        self.depth().await.waiting
    }

    pub(crate) async fn held(&self, blob: BlobRef) -> Held {
        let held = self.queue().held(&[blob]).await.unwrap();
        assert_eq!(held.len(), 1);
        held[0]
    }
}
