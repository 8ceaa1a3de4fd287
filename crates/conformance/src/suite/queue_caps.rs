//! A tenant's cap on its groups in flight.
use crate::{
    Fixture,
    kit::{Bed, FOLD, Seen, by_tenant, cap, group_of, job, retry, secs, settlement, tenant, up_to},
};
use foldwright_ports::{Kind, Lease, NewJob, Outcome, Rest, TenantLimits};

/// Groups `g0`, `g1` … of a tenant, a second apart.
async fn backlog(bed: &Bed<'_>, owner: &str, groups: u64) -> Vec<NewJob> {
    let of = |n| job(n, &group_of(owner, FOLD, &format!("g{n:03}")));
    let jobs: Vec<_> = (0..groups).map(of).collect();
    for job in &jobs {
        bed.stage_new(&[job]).await;
        bed.elapse(secs(1)).await;
    }
    jobs
}

fn groups(leases: &[Lease]) -> Vec<String> {
    leases.iter().map(|lease| lease.group.key.to_string()).collect()
}

/// F-07, G6: never more than the cap, in one claim or over many; the same claim serves others.
pub async fn a_cap_bounds_what_is_in_flight(fixture: &dyn Fixture) {
    let bed = Bed::open(fixture).await;
    bed.limit("acme", cap(5)).await;
    backlog(&bed, "acme", 12).await;
    backlog(&bed, "globex", 12).await;
    let leases = bed.claim_as(&up_to(14)).await;
    let counted = by_tenant(&leases);
    assert_eq!((counted["acme"], counted["globex"]), (5, 9));
    let view = bed.tenant_view("acme").await;
    assert_eq!((view.in_flight, view.capped, view.limits), (5, true, cap(5)));
    let rest = bed.claim().await;
    assert_eq!(by_tenant(&rest)["globex"], 3);
    assert_eq!(rest.len(), 3);
    bed.nothing_is_claimable().await;
    assert!(!bed.tenant_view("globex").await.capped);
}

/// F-07: no cap is the default, and limits with a fault are refused.
pub async fn faulty_limits_are_refused(fixture: &dyn Fixture) {
    let bed = Bed::open(fixture).await;
    let default = TenantLimits::default();
    assert_eq!(bed.tenant_view("acme").await.limits, default);
    let owner = tenant("acme");
    for faulty in [
        TenantLimits {
            cap: Some(0),
            ..default
        },
        TenantLimits { weight: 0, ..default },
        TenantLimits {
            weight: 1_001,
            ..default
        },
    ] {
        let refused = bed.admin().limit(&owner, Some(faulty)).await.unwrap_err();
        assert_eq!(refused.kind(), Kind::Invalid);
    }
    assert_eq!(bed.tenant_view("acme").await.limits, default);
    bed.limit("acme", cap(7)).await;
    assert_eq!(bed.tenant_view("acme").await.limits, cap(7));
    bed.admin().limit(&owner, None).await.unwrap();
    assert_eq!(bed.tenant_view("acme").await.limits, default);
}

/// F-08: one lease ends, one parked group comes back: the oldest. By itself or as a chain claim.
pub async fn one_slot_brings_back_the_oldest(fixture: &dyn Fixture) {
    let bed = Bed::open(fixture).await;
    bed.limit("acme", cap(2)).await;
    backlog(&bed, "acme", 6).await;
    let mut flying = bed.claim().await;
    assert_eq!(groups(&flying), ["g000", "g001"]);
    bed.complete(&flying.remove(0)).await;
    let next = bed.claim().await;
    assert_eq!(groups(&next), ["g002"]);
    flying.extend(next);
    let next = bed.complete_and_take(&flying.remove(0), 10).await;
    assert_eq!(groups(&next), ["g003"]);
    flying.extend(next);
    let both: Vec<_> = flying
        .iter()
        .map(|lease| settlement(lease, Outcome::none(retry("boom"))))
        .collect();
    let settled = bed.settle_next(both, Some(&up_to(10))).await;
    assert_eq!(
        groups(&settled.next),
        ["g004", "g005"],
        "a failure frees the slot as well"
    );
    assert_eq!(bed.in_flight("acme").await, 2);
}

/// F-09: without an operator's touch.
pub async fn a_raised_cap_frees_what_was_parked(fixture: &dyn Fixture) {
    let bed = Bed::open(fixture).await;
    bed.limit("acme", cap(1)).await;
    backlog(&bed, "acme", 8).await;
    assert_eq!(groups(&bed.claim().await), ["g000"]);
    bed.nothing_is_claimable().await;
    bed.limit("acme", cap(3)).await;
    assert_eq!(groups(&bed.claim().await), ["g001", "g002"]);
    bed.nothing_is_claimable().await;
    bed.admin().limit(&tenant("acme"), None).await.unwrap();
    assert_eq!(bed.claim().await.len(), 5);
}

/// F-07: what is in flight when a cap is lowered finishes, and nothing new starts until it fits.
pub async fn a_lowered_cap_lets_what_runs_finish(fixture: &dyn Fixture) {
    let bed = Bed::open(fixture).await;
    backlog(&bed, "acme", 6).await;
    let mut flying = bed.claim_as(&up_to(4)).await;
    bed.limit("acme", cap(2)).await;
    for left in [3, 2] {
        let done = flying.remove(0);
        assert!(bed.complete_and_take(&done, 10).await.is_empty());
        assert_eq!(bed.in_flight("acme").await, left);
    }
    let next = bed.complete_and_take(&flying.remove(0), 10).await;
    assert_eq!(groups(&next), ["g004"]);
}

/// F-10, F-17: slots go with their leases, and the figure is what lives.
pub async fn slots_lapse_with_their_leases(fixture: &dyn Fixture) {
    let bed = Bed::open(fixture).await;
    bed.limit("acme", cap(2)).await;
    backlog(&bed, "acme", 4).await;
    for _ in 0..3 {
        let dead = bed.claim().await;
        assert_eq!((dead.len(), bed.in_flight("acme").await), (2, 2));
        bed.nothing_is_claimable().await;
        assert_eq!(bed.lapse().await, 2);
        assert_eq!(bed.in_flight("acme").await, 0);
        let late = dead
            .iter()
            .map(|lease| settlement(lease, Outcome::none(Rest::Back)));
        assert_eq!(bed.settle(late.collect()).await, [Seen::Lost; 2]);
        assert_eq!(
            bed.in_flight("acme").await,
            0,
            "a late settle frees nothing twice"
        );
    }
    let mut done = 0;
    loop {
        let leases = bed.claim().await;
        assert!(leases.len() <= 2);
        let Some(lease) = leases.first() else { break };
        assert_eq!(bed.in_flight("acme").await, leases.len() as u64);
        let others = &leases[1..];
        bed.complete(lease).await;
        for other in others {
            bed.complete(other).await;
        }
        done += leases.len();
    }
    assert_eq!(done, 4);
}

/// F-17: a cap holds for every handle, and after the death of the process where anything outlives it.
pub async fn a_cap_outlives_the_process(fixture: &dyn Fixture) {
    let bed = Bed::open(fixture).await;
    bed.limit("acme", cap(2)).await;
    backlog(&bed, "acme", 4).await;
    let flying = bed.claim_as(&up_to(1)).await;
    let other = fixture.reopen(&bed.harness).await;
    let second = other
        .queue
        .claim(bed.nonce(), crate::kit::WORKER, &up_to(10))
        .await;
    assert_eq!(groups(&second.unwrap()), ["g001"]);
    if !fixture.declares().durable {
        return;
    }
    drop(other);
    let bed = bed.restart().await;
    let view = bed.tenant_view("acme").await;
    assert_eq!((view.in_flight, view.limits, view.jobs), (2, cap(2), 4));
    bed.nothing_is_claimable().await;
    assert_eq!(groups(&bed.complete_and_take(&flying[0], 10).await), ["g002"]);
}
