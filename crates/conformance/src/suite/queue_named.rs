//! Holds of named groups.
use crate::{
    Fixture,
    kit::{
        Bed, JobExt, LEASE, Seen, WORKER, all_of, cap, granted, group, ids, job, retry, secs, seen,
        settlement, want,
    },
};
use foldwright_ports::{
    Depth, GroupId, Hold, Lease, LeaseEnd, Outcome, Rest, Scope, Settlement, Want, WorkerId,
};
use std::time::Duration;

const HOLDER: WorkerId = WorkerId(0xa);
const OTHER: WorkerId = WorkerId(0xb);

/// A second less than a hold lives.
const NEARLY: Duration = secs(29);

fn abc() -> [GroupId; 3] {
    ["a", "b", "c"].map(group)
}

fn single() -> Want {
    Want {
        max_jobs_per_group: 1,
        ..want()
    }
}

async fn leased(bed: &Bed<'_>, key: &str, first: u64, jobs: u64) -> Lease {
    for n in first..first + jobs {
        bed.stage_new(&[&job(n, &group(key))]).await;
    }
    let mut leases = bed.claim_as(&single()).await;
    leases.retain(|lease| lease.group == group(key));
    leases.remove(0)
}

fn is_reserved(hold: &Hold) -> bool {
    matches!(hold, Hold::Reserved { .. })
}

/// A group without a job can be held; what comes in meanwhile waits for the end of the hold.
pub async fn an_empty_group_is_held(fixture: &dyn Fixture) {
    let bed = Bed::open(fixture).await;
    let answers = bed.hold(HOLDER, &[group("a")]).await;
    let Hold::Granted { lease, until, .. } = &answers[0] else {
        panic!("it is free: {answers:?}")
    };
    assert_eq!((&lease.group, *until), (&group("a"), bed.now().plus(LEASE)));
    bed.stage_new(&[&job(1, &group("a")), &job(2, &group("b"))]).await;
    assert_eq!(bed.claim_one().await.group, group("b"));
    assert_eq!(bed.waiting().await, 1, "a hold runs no job");
    bed.let_go(lease).await;
    let got = bed.claim_one().await;
    assert_eq!(
        (ids(&got), got.previous),
        (vec![job(1, &group("a")).id], LeaseEnd::None)
    );
    assert!(got.fence > lease.fence);
}

/// a hold of an empty group leaves nothing behind.
pub async fn a_hold_leaves_no_trace(fixture: &dyn Fixture) {
    let bed = Bed::open(fixture).await;
    let mut last = None;
    for group in abc() {
        let lease = bed.hold_one(HOLDER, &group).await;
        assert!(last < Some(lease.fence), "its token is above those before");
        last = Some(lease.fence);
        bed.let_go(&lease).await;
        assert_eq!(bed.view(&group).await, None);
        assert_eq!(bed.why(&group).await, None);
    }
    assert_eq!(bed.depth().await, Depth::default());
    bed.nothing_is_claimable().await;
}

/// Waiting, blocked and paused groups are held like any other; nothing of them runs meanwhile.
pub async fn a_group_is_held_whatever_it_does(fixture: &dyn Fixture) {
    for way in ["waiting", "blocked", "paused", "backing off", "delayed"] {
        let bed = Bed::open(fixture).await;
        let first = job(1, &group("a"));
        if way == "delayed" {
            bed.stage_new(&[&first.delayed(secs(5))]).await;
        } else {
            bed.stage_new(&[&first]).await;
        }
        if way == "blocked" || way == "backing off" {
            let lease = bed.claim_one().await;
            let error = "bad".to_owned();
            let rest = if way == "blocked" {
                Rest::Quarantine { error }
            } else {
                retry("boom")
            };
            bed.give_up(&lease, rest).await;
        }
        if way == "paused" {
            bed.pause(&Scope::All).await;
        }
        let lease = bed.hold_one(HOLDER, &group("a")).await;
        if way == "paused" {
            bed.resume(&Scope::All).await;
        }
        bed.elapse(secs(10)).await;
        bed.nothing_is_claimable().await;
        bed.let_go(&lease).await;
        if way == "blocked" {
            bed.nothing_is_claimable().await;
            assert!(bed.admin().unblock(&group("a")).await.unwrap());
        }
        assert_eq!(bed.claim_one().await.jobs.len(), 1, "{way}");
    }
}

/// A leased group is reserved and granted at its turn, before any chain claim.
pub async fn a_leased_group_is_granted_at_its_turn(fixture: &dyn Fixture) {
    let bed = Bed::open(fixture).await;
    let lease = leased(&bed, "a", 1, 3).await;
    let answers = bed.hold(HOLDER, &[group("a")]).await;
    assert_eq!(
        answers,
        [Hold::Reserved {
            until: bed.now().plus(LEASE)
        }]
    );
    assert_eq!(bed.extend(&[lease.reference()]).await, [Seen::Applied]);
    let settled = bed
        .settle_next(vec![settlement(&lease, all_of(&lease))], Some(&want()))
        .await;
    assert_eq!(
        settled.verdicts.iter().map(seen).collect::<Vec<_>>(),
        [Seen::Applied]
    );
    assert!(settled.next.is_empty(), "it is reserved");
    bed.nothing_is_claimable().await;
    let held = bed.hold_one(HOLDER, &group("a")).await;
    assert!(held.fence > lease.fence);
    bed.nothing_is_claimable().await;
    bed.let_go(&held).await;
    assert_eq!(bed.claim_one().await.jobs.len(), 2);
}

/// A reservation that nobody comes back for ends by itself.
pub async fn a_reservation_lapses(fixture: &dyn Fixture) {
    let bed = Bed::open(fixture).await;
    let lease = leased(&bed, "a", 1, 2).await;
    assert!(is_reserved(&bed.hold(HOLDER, &[group("a")]).await[0]));
    bed.complete(&lease).await;
    bed.elapse(NEARLY).await;
    bed.nothing_is_claimable().await;
    bed.elapse(secs(2)).await;
    bed.reap().await;
    assert_eq!(ids(&bed.claim_one().await), [job(2, &group("a")).id]);
}

/// Groups are taken in their order, whatever the order of the call, up to the first that is not free.
pub async fn groups_are_held_in_their_order(fixture: &dyn Fixture) {
    let bed = Bed::open(fixture).await;
    let lease = leased(&bed, "b", 1, 1).await;
    let [a, b, c] = abc();
    let answers = bed.hold(HOLDER, &[c.clone(), b.clone(), a.clone()]).await;
    assert_eq!(answers[0], Hold::Waiting);
    assert!(is_reserved(&answers[1]));
    let first = granted(&answers[2]);
    assert_eq!(first.group, a);
    bed.stage_new(&[&job(5, &c)]).await;
    assert_eq!(bed.claim_one().await.group, c, "one that waits is not held");
    bed.complete(&lease).await;
    let answers = bed.hold(HOLDER, &[b.clone(), a.clone()]).await;
    assert_eq!(granted(&answers[1]), first, "what it holds it keeps");
    assert_eq!(granted(&answers[0]).group, b);
}

/// Two holders of overlapping groups never wait for each other.
pub async fn overlapping_holds_do_not_block_each_other(fixture: &dyn Fixture) {
    let bed = Bed::open(fixture).await;
    let [a, b, c] = abc();
    let mine = bed.hold(HOLDER, std::slice::from_ref(&b)).await;
    let theirs = bed.hold(OTHER, &[c.clone(), b.clone(), a.clone()]).await;
    assert_eq!(theirs[0], Hold::Waiting);
    assert!(is_reserved(&theirs[1]));
    granted(&theirs[2]);
    let more = bed.hold(HOLDER, &[c.clone(), b.clone()]).await;
    assert_eq!(granted(&more[1]), granted(&mine[0]));
    let last = granted(&more[0]);
    bed.let_go(&granted(&mine[0])).await;
    bed.let_go(&last).await;
    let theirs = bed.hold(OTHER, &[c, b, a]).await;
    let mut held: Vec<_> = theirs.iter().map(granted).collect();
    held.sort();
    held.dedup();
    assert_eq!(held.len(), 3);
    for lease in &held {
        bed.let_go(lease).await;
    }
}

/// a hold lapses like any lease, its late end is lost, and no longer keeps the group.
pub async fn a_hold_lapses(fixture: &dyn Fixture) {
    let bed = Bed::open(fixture).await;
    bed.stage_new(&[&job(1, &group("a"))]).await;
    let held = bed.hold_one(HOLDER, &group("a")).await;
    bed.elapse(NEARLY).await;
    assert_eq!(bed.extend(std::slice::from_ref(&held)).await, [Seen::Applied]);
    bed.elapse(NEARLY).await;
    bed.reap().await;
    bed.nothing_is_claimable().await;
    bed.elapse(secs(2)).await;
    bed.reap().await;
    let late = Settlement {
        lease: held.clone(),
        outcome: Outcome::none(Rest::Back),
        answers: Vec::new(),
        then: Vec::new(),
    };
    assert_eq!(bed.settle(vec![late]).await, [Seen::Lost]);
    assert_eq!(bed.extend(&[held]).await, [Seen::Lost]);
    let lease = bed.claim_one().await;
    assert_eq!((lease.previous, lease.attempt), (LeaseEnd::None, 1));
}

/// Whichever way a hold ends, the group is as it was.
pub async fn a_hold_changes_nothing_of_its_group(fixture: &dyn Fixture) {
    for lapses in [false, true] {
        let bed = Bed::open(fixture).await;
        let done = leased(&bed, "a", 1, 3).await;
        bed.complete(&done).await;
        let failed = bed.claim_one().await;
        bed.give_up(&failed, retry("boom")).await;
        let before = bed.view(&group("a")).await.unwrap();
        let answers = bed.hold(HOLDER, &[group("a")]).await;
        let Hold::Granted { lease, completed, .. } = &answers[0] else {
            panic!("it is free: {answers:?}")
        };
        assert_eq!(*completed, Some(done.fence));
        if lapses {
            bed.lapse().await;
        } else {
            bed.let_go(lease).await;
            let after = bed.view(&group("a")).await.unwrap();
            assert_eq!((after.jobs, after.failures), (before.jobs, before.failures));
            assert_eq!(
                (after.previous, after.last_error),
                (before.previous, before.last_error)
            );
        }
        bed.elapse(secs(5)).await;
        let next = bed.claim_one().await;
        assert_eq!((next.previous, next.attempt), (LeaseEnd::Retried, 2));
        assert_eq!((next.completed, ids(&next)), (Some(done.fence), ids(&failed)));
    }
}

/// Jobs that follow from a hold are staged with its end.
pub async fn jobs_may_follow_from_a_hold(fixture: &dyn Fixture) {
    let bed = Bed::open(fixture).await;
    let held = bed.hold_one(HOLDER, &group("a")).await;
    let end = Settlement {
        lease: held,
        outcome: Outcome::none(Rest::Back),
        answers: Vec::new(),
        then: vec![job(1, &group("a")), job(2, &group("b"))],
    };
    let settled = bed.settle_next(vec![end], Some(&want())).await;
    assert_eq!(
        settled.verdicts.iter().map(seen).collect::<Vec<_>>(),
        [Seen::Applied]
    );
    assert_eq!(settled.next.len(), 2);
}

/// under its nonce, and for the worker that holds already.
pub async fn a_repeated_hold_is_the_same(fixture: &dyn Fixture) {
    let bed = Bed::open(fixture).await;
    bed.stage_new(&[&job(1, &group("a"))]).await;
    let nonce = bed.nonce();
    let groups = [group("a"), group("b")];
    let first = bed.queue().hold(nonce, HOLDER, &groups, LEASE).await.unwrap();
    let again = bed.queue().hold(nonce, HOLDER, &groups, LEASE).await.unwrap();
    assert_eq!(first, again);
    let fresh: Vec<_> = bed.hold(HOLDER, &groups).await.iter().map(granted).collect();
    assert_eq!(fresh, first.iter().map(granted).collect::<Vec<_>>());
    assert!(
        is_reserved(&bed.hold(OTHER, &groups).await[0]),
        "another one has to wait"
    );
}

/// F-07: a hold is no slot: it is not counted in flight, and no cap stands in its way.
pub async fn a_hold_takes_no_slot(fixture: &dyn Fixture) {
    let bed = Bed::open(fixture).await;
    bed.limit("acme", cap(1)).await;
    bed.stage_new(&[&job(1, &group("a")), &job(2, &group("b")), &job(3, &group("c"))])
        .await;
    bed.hold_one(HOLDER, &group("a")).await;
    assert_eq!(bed.in_flight("acme").await, 0);
    let lease = bed.claim_one().await;
    assert_eq!(bed.in_flight("acme").await, 1);
    let free = ["b", "c"]
        .map(group)
        .into_iter()
        .find(|g| *g != lease.group)
        .unwrap();
    bed.hold_one(HOLDER, &free).await;
    assert_eq!(bed.in_flight("acme").await, 1);
    bed.complete(&lease).await;
    assert_eq!(bed.in_flight("acme").await, 0);
    bed.nothing_is_claimable().await;
}

/// Every handle and every later process keeps to it.
pub async fn a_hold_outlives_the_process(fixture: &dyn Fixture) {
    let bed = Bed::open(fixture).await;
    bed.stage_new(&[&job(1, &group("a"))]).await;
    let held = bed.hold_one(HOLDER, &group("a")).await;
    let other = fixture.reopen(&bed.harness).await;
    let taken = other.queue.claim(bed.nonce(), WORKER, &want()).await.unwrap();
    assert!(taken.is_empty());
    drop(other);
    let bed = if fixture.declares().durable {
        bed.restart().await
    } else {
        bed
    };
    bed.nothing_is_claimable().await;
    assert_eq!(bed.hold_one(HOLDER, &group("a")).await, held);
    bed.let_go(&held).await;
    bed.claim_one().await;
}
