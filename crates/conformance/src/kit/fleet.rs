//! The calls that are about tenants, workers and operators.
use super::{Bed, LEASE, Seen, WORKER, seen, tenant, want};
use foldwright_ports::{
    GroupId, GroupState, Hold, Kind, Lease, LeaseRef, NewJob, Outcome, Reaped, Rest, Room, Scope, Settlement,
    TenantLimits, TenantView, Want, Why, WorkerId,
};
use std::{collections::BTreeMap, time::Duration};

/// As much as there is of up to `groups` groups.
pub(crate) fn up_to(groups: usize) -> Want {
    Want {
        max_groups: groups,
        ..want()
    }
}

/// The default limits with a weight.
pub(crate) fn weight(weight: u32) -> TenantLimits {
    TenantLimits {
        weight,
        ..TenantLimits::default()
    }
}

/// The default limits with a cap.
pub(crate) fn cap(cap: u32) -> TenantLimits {
    TenantLimits {
        cap: Some(cap),
        ..TenantLimits::default()
    }
}

/// How many of the leases are whose.
pub(crate) fn by_tenant(leases: &[Lease]) -> BTreeMap<String, usize> {
    let mut counted = BTreeMap::new();
    for lease in leases {
        *counted.entry(lease.group.tenant.to_string()).or_default() += 1;
    }
    counted
}

/// The lease that a hold was granted.
pub(crate) fn granted(hold: &Hold) -> LeaseRef {
    match hold {
        Hold::Granted { lease, .. } => lease.clone(),
        other => panic!("it is not granted: {other:?}"),
    }
}

impl Bed<'_> {
    pub(crate) async fn claim_by(&self, worker: WorkerId, want: &Want) -> Vec<Lease> {
        self.queue().claim(self.nonce(), worker, want).await.unwrap()
    }

    /// Completes a lease and takes up to `groups` groups in the same call.
    pub(crate) async fn complete_and_take(&self, lease: &Lease, groups: usize) -> Vec<Lease> {
        let one = super::settlement(lease, super::all_of(lease));
        let settled = self.settle_next(vec![one], Some(&up_to(groups))).await;
        assert_eq!(
            settled.verdicts.iter().map(seen).collect::<Vec<_>>(),
            [Seen::Applied]
        );
        settled.next
    }

    pub(crate) async fn limit(&self, owner: &str, limits: TenantLimits) {
        self.admin().limit(&tenant(owner), Some(limits)).await.unwrap();
    }

    pub(crate) async fn tenant_view(&self, owner: &str) -> TenantView {
        self.admin().tenant(&tenant(owner)).await.unwrap()
    }

    pub(crate) async fn in_flight(&self, owner: &str) -> u64 {
        self.tenant_view(owner).await.in_flight
    }

    /// Pauses a scope that was not paused.
    pub(crate) async fn pause(&self, scope: &Scope) {
        assert!(
            self.admin().pause(scope, "ops: upgrade").await.unwrap(),
            "{scope}"
        );
    }

    /// Ends a pause that there is.
    pub(crate) async fn resume(&self, scope: &Scope) {
        assert!(self.admin().resume(scope).await.unwrap(), "{scope}");
    }

    pub(crate) async fn hold(&self, worker: WorkerId, groups: &[GroupId]) -> Vec<Hold> {
        let held = self.queue().hold(self.nonce(), worker, groups, LEASE).await;
        let held = held.unwrap();
        assert_eq!(held.len(), groups.len(), "an answer for each group");
        held
    }

    /// Holds one group, which is free.
    pub(crate) async fn hold_one(&self, worker: WorkerId, group: &GroupId) -> LeaseRef {
        granted(&self.hold(worker, std::slice::from_ref(group)).await[0])
    }

    /// Ends a hold, which is live.
    pub(crate) async fn let_go(&self, lease: &LeaseRef) {
        let settlement = Settlement {
            lease: lease.clone(),
            outcome: Outcome::none(Rest::Back),
            answers: Vec::new(),
            then: Vec::new(),
        };
        assert_eq!(self.settle(vec![settlement]).await, [Seen::Applied]);
    }

    /// A worker that knows what the suites know says that it lives.
    pub(crate) async fn beat(&self, worker: WorkerId, ttl: Duration) {
        self.beat_as(worker, &want(), ttl).await;
    }

    pub(crate) async fn beat_as(&self, worker: WorkerId, knows: &Want, ttl: Duration) {
        let beat = self.queue().beat(worker, &knows.capabilities, ttl).await;
        beat.unwrap();
    }

    /// The worker of the suites lives for as long as a case takes.
    pub(crate) async fn live(&self) {
        self.beat(WORKER, super::secs(365 * 24 * 60 * 60)).await;
    }

    pub(crate) async fn reaped(&self) -> Reaped {
        self.queue().reap(10_000).await.unwrap()
    }

    /// A sender's jobs are refused for want of room: they come back, nothing of them is there, and a wait is named.
    pub(crate) async fn is_full_for(&self, jobs: &[NewJob]) {
        let before = self.admin().depth().await.unwrap();
        let refused = self
            .queue()
            .stage(self.nonce(), jobs.to_vec(), Room::Sender)
            .await;
        let refused = refused.expect_err("there is no room");
        assert_eq!(refused.error.kind(), Kind::Full);
        assert!(refused.error.wait().is_some(), "a wait is named");
        assert_eq!(refused.jobs, jobs, "the jobs come back");
        assert_eq!(
            self.admin().depth().await.unwrap(),
            before,
            "nothing is half staged"
        );
    }

    pub(crate) async fn why(&self, group: &GroupId) -> Option<Why> {
        self.admin().why(group).await.unwrap()
    }

    /// What a group is doing; it is there.
    pub(crate) async fn state(&self, group: &GroupId) -> GroupState {
        self.why(group).await.expect("the group is there").state
    }
}
