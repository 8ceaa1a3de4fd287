//! Which tenant's group is handed out next.
use crate::{
    Fixture,
    kit::{
        Bed, FOLD, JobExt, MAP, by_tenant, cap, group_of, ids, job, retry, route, secs, settlement, tenant,
        up_to, want, weight,
    },
};
use foldwright_ports::{Lease, NewJob, Outcome, Scope, Want};

/// `groups` groups of a tenant with one job each.
fn backlog(owner: &str, groups: u64) -> Vec<NewJob> {
    let of = |n| job(n, &group_of(owner, FOLD, &format!("g{n}")));
    (0..groups).map(of).collect()
}

/// One group of a tenant with `jobs` jobs.
fn queue_of(owner: &str, jobs: u64) -> Vec<NewJob> {
    (0..jobs)
        .map(|n| job(n, &group_of(owner, FOLD, "only")))
        .collect()
}

async fn stage(bed: &Bed<'_>, jobs: Vec<NewJob>) {
    bed.stage_new(&jobs.iter().collect::<Vec<_>>()).await;
}

fn count(leases: &[Lease], owner: &str) -> usize {
    by_tenant(leases).get(owner).copied().unwrap_or(0)
}

/// One job of one group.
fn one() -> Want {
    Want {
        max_jobs_per_group: 1,
        ..up_to(1)
    }
}

/// Whose turn it is when one worker takes one job after the other, each done before the next.
async fn turns(bed: &Bed<'_>, turns: usize) -> Vec<String> {
    let mut served = Vec::new();
    for _ in 0..turns {
        let leases = bed.claim_as(&one()).await;
        assert_eq!(leases.len(), 1, "there is work for every turn");
        bed.complete(&leases[0]).await;
        served.push(leases[0].group.tenant.to_string());
    }
    served
}

fn turns_of(served: &[String], owner: &str) -> usize {
    served.iter().filter(|one| *one == owner).count()
}

/// F-01: nobody else is there, so every slot is its.
pub async fn a_tenant_alone_takes_every_slot(fixture: &dyn Fixture) {
    let bed = Bed::open(fixture).await;
    stage(&bed, backlog("acme", 120)).await;
    let leases = bed.claim_as(&up_to(100)).await;
    assert_eq!(leases.len(), 100);
    let view = bed.tenant_view("acme").await;
    assert_eq!((view.in_flight, view.jobs, view.capped), (100, 120, false));
}

/// F-02, G6: however long one waited before the other.
pub async fn two_tenants_share_the_slots_in_halves(fixture: &dyn Fixture) {
    let bed = Bed::open(fixture).await;
    stage(&bed, backlog("acme", 200)).await;
    bed.elapse(secs(60)).await;
    stage(&bed, backlog("globex", 200)).await;
    let mut flying = bed.claim_as(&up_to(100)).await;
    assert_eq!((count(&flying, "acme"), count(&flying, "globex")), (50, 50));
    for _ in 0..60 {
        let done = flying.remove(0);
        flying.extend(bed.complete_and_take(&done, 1).await);
        assert_eq!(flying.len(), 100, "no slot idles");
        let mine = count(&flying, "acme");
        assert!((49..=51).contains(&mine), "{mine} of 100");
    }
}

/// F-03: what one does not need the other takes.
pub async fn spare_slots_go_to_whoever_has_work(fixture: &dyn Fixture) {
    let bed = Bed::open(fixture).await;
    stage(&bed, backlog("acme", 200)).await;
    stage(&bed, backlog("globex", 10)).await;
    let leases = bed.claim_as(&up_to(100)).await;
    assert_eq!((count(&leases, "acme"), count(&leases, "globex")), (90, 10));
}

/// F-04, G6: slots under contention are as the weights.
pub async fn slots_are_shared_by_weight(fixture: &dyn Fixture) {
    let bed = Bed::open(fixture).await;
    bed.limit("acme", weight(3)).await;
    stage(&bed, backlog("globex", 200)).await;
    stage(&bed, backlog("acme", 200)).await;
    let mut flying = Vec::new();
    for _ in 0..10 {
        flying.extend(bed.claim_as(&up_to(10)).await);
    }
    assert_eq!((count(&flying, "acme"), count(&flying, "globex")), (75, 25));
    assert_eq!(bed.in_flight("acme").await, 75);
    bed.admin().limit(&tenant("acme"), None).await.unwrap();
    let next = bed.claim_as(&up_to(50)).await;
    assert_eq!(count(&next, "globex"), 50, "it catches up to the new share");
}

/// F-04: one slot goes round by weight, although nobody has anything in flight when the next is chosen.
pub async fn one_slot_goes_round_by_weight(fixture: &dyn Fixture) {
    let bed = Bed::open(fixture).await;
    bed.limit("acme", weight(3)).await;
    stage(&bed, queue_of("acme", 80)).await;
    stage(&bed, queue_of("globex", 80)).await;
    let served = turns(&bed, 80).await;
    let heavy = turns_of(&served, "acme");
    assert!((59..=61).contains(&heavy), "{heavy} of 80");
}

/// F-04: a heavy tenant with nothing due holds no slot back.
pub async fn a_tenant_that_runs_dry_claims_no_share(fixture: &dyn Fixture) {
    let bed = Bed::open(fixture).await;
    bed.limit("acme", weight(1_000)).await;
    stage(&bed, backlog("acme", 5)).await;
    let delayed = job(90, &group_of("acme", FOLD, "later")).delayed(secs(600));
    stage(&bed, vec![delayed]).await;
    stage(&bed, backlog("globex", 200)).await;
    let leases = bed.claim_as(&up_to(100)).await;
    assert_eq!((count(&leases, "acme"), count(&leases, "globex")), (5, 95));
    let more = bed.claim_as(&up_to(100)).await;
    assert_eq!(count(&more, "globex"), 100);
}

/// F-05, G6: the slots freed next are the newcomer's, up to its share, and none stood empty before.
pub async fn a_newcomer_gets_the_next_slots(fixture: &dyn Fixture) {
    let bed = Bed::open(fixture).await;
    stage(&bed, backlog("acme", 300)).await;
    let flying = bed.claim_as(&up_to(100)).await;
    assert_eq!(flying.len(), 100);
    stage(&bed, backlog("globex", 100)).await;
    let mut theirs = 0;
    for (at, done) in flying.iter().take(50).enumerate() {
        let next = if at % 2 == 0 {
            bed.complete_and_take(done, 1).await
        } else {
            bed.complete(done).await;
            bed.claim_as(&up_to(1)).await
        };
        theirs += count(&next, "globex");
        assert_eq!(theirs, at + 1, "slot {at} went to {next:?}");
    }
    assert_eq!(
        (bed.in_flight("acme").await, bed.in_flight("globex").await),
        (50, 50)
    );
}

/// F-05: what failed gave its slot back as well.
pub async fn a_failed_group_frees_its_slot(fixture: &dyn Fixture) {
    let bed = Bed::open(fixture).await;
    stage(&bed, backlog("acme", 20)).await;
    let flying = bed.claim_as(&up_to(10)).await;
    stage(&bed, backlog("globex", 20)).await;
    let failed = flying
        .iter()
        .map(|lease| settlement(lease, Outcome::none(retry("boom"))));
    let settled = bed.settle_next(failed.collect(), Some(&up_to(10))).await;
    assert_eq!(
        (count(&settled.next, "acme"), count(&settled.next, "globex")),
        (5, 5)
    );
}

/// F-06: with the next claim, however deep the other's backlog is.
pub async fn a_single_job_starts_with_the_next_claim(fixture: &dyn Fixture) {
    let bed = Bed::open(fixture).await;
    stage(&bed, backlog("acme", 3_000)).await;
    let flying = bed.claim_as(&up_to(10)).await;
    assert_eq!(flying.len(), 10);
    bed.elapse(secs(1)).await;
    let single = job(1, &group_of("globex", FOLD, "one"));
    stage(&bed, vec![single.clone()]).await;
    let next = bed.claim_as(&up_to(1)).await;
    assert_eq!(next.iter().map(ids).collect::<Vec<_>>(), [vec![single.id]]);
}

/// F-02, G6: over time also where one group at a time is in flight.
pub async fn one_slot_is_shared_over_time(fixture: &dyn Fixture) {
    let bed = Bed::open(fixture).await;
    for owner in ["acme", "globex", "initech"] {
        stage(&bed, queue_of(owner, 40)).await;
        bed.elapse(secs(1)).await;
    }
    let served = turns(&bed, 60).await;
    for owner in ["acme", "globex", "initech"] {
        let turns = turns_of(&served, owner);
        assert!((19..=21).contains(&turns), "{owner}: {turns} of 60: {served:?}");
    }
}

/// F-04: over time also where there are few slots, each taken anew as soon as it is free.
pub async fn few_slots_are_shared_by_weight_over_time(fixture: &dyn Fixture) {
    let bed = Bed::open(fixture).await;
    bed.limit("acme", weight(3)).await;
    stage(&bed, backlog("acme", 100)).await;
    stage(&bed, backlog("globex", 100)).await;
    let mut flying = bed.claim_as(&up_to(4)).await;
    let mut served = Vec::new();
    for _ in 0..80 {
        let done = flying.remove(0);
        served.push(done.group.tenant.to_string());
        flying.extend(bed.complete_and_take(&done, 1).await);
    }
    let mine = turns_of(&served, "acme");
    assert!((59..=61).contains(&mine), "{mine} of 80: {served:?}");
}

/// F-05: time that a tenant was away gives it no credit.
pub async fn who_was_away_gets_its_share_and_no_more(fixture: &dyn Fixture) {
    let bed = Bed::open(fixture).await;
    stage(&bed, queue_of("acme", 200)).await;
    let alone = turns(&bed, 60).await;
    assert_eq!(turns_of(&alone, "acme"), 60);
    stage(&bed, queue_of("globex", 200)).await;
    let served = turns(&bed, 20).await;
    let theirs = turns_of(&served, "globex");
    assert!((9..=11).contains(&theirs), "{theirs} of 20: {served:?}");
}

/// F-11, G6: a tenant whose work fails all the time takes no turn from another.
pub async fn failures_of_one_take_no_turn_of_another(fixture: &dyn Fixture) {
    let bed = Bed::open(fixture).await;
    stage(&bed, backlog("acme", 15)).await;
    stage(&bed, queue_of("globex", 40)).await;
    let mut theirs = 0;
    for _ in 0..20 {
        let leases = bed.claim_as(&one()).await;
        let lease = &leases[0];
        if lease.group.tenant == tenant("acme") {
            bed.give_up(lease, retry("boom")).await;
        } else {
            theirs += 1;
            bed.complete(lease).await;
        }
    }
    assert!(theirs >= 9, "{theirs} of 20");
}

/// F-14, F-07, G6: groups that cannot run, however old and many, are not in the way of others.
pub async fn what_cannot_run_is_in_nobodys_way(fixture: &dyn Fixture) {
    let bed = Bed::open(fixture).await;
    let many = |owner: &str, of: &str| -> Vec<NewJob> {
        let each = |n: u64| job(n, &group_of(owner, FOLD, &format!("g{n}"))).on(of);
        (0..400).map(each).collect()
    };
    stage(&bed, many("paused", FOLD)).await;
    stage(&bed, many("capped", FOLD)).await;
    stage(&bed, many("stranded", "shop/fold/strange")).await;
    stage(&bed, many("closed", MAP)).await;
    bed.limit("capped", cap(1)).await;
    assert_eq!(count(&bed.claim_as(&up_to(4)).await, "capped"), 1);
    bed.pause(&Scope::Tenant(tenant("paused"))).await;
    bed.pause(&Scope::Route(route(MAP))).await;
    bed.elapse(secs(60)).await;
    let live: Vec<_> = (0..8).map(|n| format!("live{n}")).collect();
    for owner in &live {
        stage(&bed, backlog(owner, 2)).await;
    }
    let first = bed.claim_as(&up_to(8)).await;
    let served: Vec<_> = by_tenant(&first).into_iter().collect();
    let expected: Vec<_> = live.iter().map(|owner| (owner.clone(), 1)).collect();
    assert_eq!(served, expected, "each of them at once");
    assert_eq!(bed.claim_as(&want()).await.len(), 8);
}
