//! Leases, tokens and heartbeats.
use crate::{
    Fixture,
    kit::{Bed, LEASE, Seen, WORKER, all_of, group, ids, job, retry, secs, settlement, want},
};
use foldwright_ports::{Fence, LeaseEnd, LeaseRef, Outcome, Rest, Settlement, Want};

/// Q-02, G4: a group has one live lease, over all handles.
pub async fn a_group_has_one_live_lease(fixture: &dyn Fixture) {
    let bed = Bed::open(fixture).await;
    let second = fixture.reopen(&bed.harness).await;
    bed.stage_new(&[&job(1, &group("a")), &job(2, &group("a"))]).await;
    let single = Want {
        max_jobs_per_group: 1,
        ..want()
    };
    let lease = bed.claim_as(&single).await.pop().unwrap();
    bed.nothing_is_claimable().await;
    let other = second.queue.claim(bed.nonce(), WORKER, &want()).await.unwrap();
    assert!(other.is_empty());
    bed.complete(&lease).await;
    let other = second.queue.claim(bed.nonce(), WORKER, &want()).await.unwrap();
    assert_eq!(other.len(), 1);
    bed.nothing_is_claimable().await;
}

/// over all groups, handles and clocks that step back.
pub async fn tokens_strictly_increase(fixture: &dyn Fixture) {
    let bed = Bed::open(fixture).await;
    let second = fixture.reopen(&bed.harness).await;
    let mut last = Fence(0);
    for n in 0..12 {
        for key in 0..5 {
            bed.stage_new(&[&job(10 * n + key, &group(&format!("g{key}")))])
                .await;
        }
        let queue = if n % 2 == 0 { bed.queue() } else { &*second.queue };
        let leases = queue.claim(bed.nonce(), WORKER, &want()).await.unwrap();
        assert_eq!(leases.len(), 5);
        let mut fences: Vec<_> = leases.iter().map(|lease| lease.fence).collect();
        fences.sort_unstable();
        for fence in fences {
            assert!(fence > last, "{fence:?} after {last:?}");
            last = fence;
        }
        for lease in &leases {
            bed.complete(lease).await;
        }
        match n {
            3 => bed.elapse(secs(60)).await,
            5 => bed.harness.clock.set(bed.now().minus(secs(3_600))),
            _ => {}
        }
    }
}

/// tokens follow the store's time in microseconds, so that a store that lost its counter gives no old ones.
pub async fn tokens_follow_the_time(fixture: &dyn Fixture) {
    let bed = Bed::open(fixture).await;
    bed.stage_new(&[&job(1, &group("a"))]).await;
    bed.elapse(secs(1)).await;
    let before = u64::try_from(bed.now().0).unwrap() * 1_000;
    let lease = bed.claim_one().await;
    assert!(lease.fence.0 >= before, "{:?} is below {before} µs", lease.fence);
}

/// all jobs come back in their order, none is lost, and no attempt is spent.
pub async fn a_lapsed_lease_gives_its_jobs_back(fixture: &dyn Fixture) {
    let bed = Bed::open(fixture).await;
    let jobs: Vec<_> = (0..10).map(|n| job(n, &group("a"))).collect();
    bed.stage_new(&jobs.iter().collect::<Vec<_>>()).await;
    let lease = bed.claim_one().await;
    bed.elapse(LEASE.saturating_sub(secs(1))).await;
    assert_eq!(bed.reap().await, 0, "it is live until its deadline");
    bed.nothing_is_claimable().await;
    assert_eq!(bed.depth().await.leased, 10);
    bed.elapse(secs(2)).await;
    bed.reap().await;
    let again = bed.claim_one().await;
    assert_eq!(ids(&again), ids(&lease));
    assert_eq!((again.previous, again.attempt), (LeaseEnd::Lapsed, 1));
    assert!(again.fence > lease.fence);
    assert_eq!((bed.waiting().await, bed.depth().await.leased), (0, 10));
}

/// with batching off too.
pub async fn a_lapsed_single_job_is_first_again(fixture: &dyn Fixture) {
    let bed = Bed::open(fixture).await;
    let jobs: Vec<_> = (0..3).map(|n| job(n, &group("a"))).collect();
    bed.stage_new(&jobs.iter().collect::<Vec<_>>()).await;
    let single = Want {
        max_jobs_per_group: 1,
        ..want()
    };
    bed.claim_as(&single).await;
    assert_eq!(bed.lapse().await, 1);
    let lease = bed.claim_as(&single).await.pop().unwrap();
    assert_eq!(ids(&lease), [jobs[0].id]);
}

/// Q-09, G4
pub async fn a_late_settle_is_lost(fixture: &dyn Fixture) {
    let bed = Bed::open(fixture).await;
    bed.stage_new(&[&job(1, &group("a")), &job(2, &group("a"))]).await;
    let first = bed.claim_one().await;
    bed.lapse().await;
    let second = bed.claim_one().await;
    let (depth, view) = (bed.depth().await, bed.view(&group("a")).await);
    for outcome in [
        all_of(&first),
        Outcome::none(Rest::Back),
        Outcome::none(retry("late")),
        Outcome::none(Rest::Quarantine { error: "late".into() }),
        Outcome::none(Rest::DeadLetter { error: "late".into() }),
        Outcome::none(Rest::Release {
            floor: None,
            need: Some(9),
        }),
    ] {
        assert_eq!(bed.settle(vec![settlement(&first, outcome)]).await, [Seen::Lost]);
        assert_eq!(
            (bed.depth().await, bed.view(&group("a")).await),
            (depth, view.clone())
        );
        bed.nothing_is_claimable().await;
    }
    assert_eq!(bed.extend(&[first.reference()]).await, [Seen::Lost]);
    bed.complete(&second).await;
    assert_eq!(bed.view(&group("a")).await, None);
}

/// Q-09, G4: its holder cannot know whether anybody has looked at it yet.
pub async fn a_lapsed_lease_settles_nothing(fixture: &dyn Fixture) {
    let bed = Bed::open(fixture).await;
    bed.stage_new(&[&job(1, &group("a"))]).await;
    let lease = bed.claim_one().await;
    bed.elapse(LEASE + secs(1)).await;
    let late = Settlement {
        then: vec![job(2, &group("b"))],
        ..settlement(&lease, all_of(&lease))
    };
    assert_eq!(bed.settle(vec![late]).await, [Seen::Lost]);
    assert_eq!(bed.view(&group("b")).await, None);
    bed.reap().await;
    let again = bed.claim_one().await;
    assert_eq!((again.group, again.jobs.len()), (group("a"), 1));
}

/// settled before is told apart from never or no longer live.
pub async fn a_settled_token_is_already_settled(fixture: &dyn Fixture) {
    let bed = Bed::open(fixture).await;
    bed.stage_new(&[&job(1, &group("a")), &job(2, &group("a"))]).await;
    let single = Want {
        max_jobs_per_group: 1,
        ..want()
    };
    let first = bed.claim_as(&single).await.pop().unwrap();
    bed.complete(&first).await;
    let again = settlement(&first, all_of(&first));
    assert_eq!(bed.settle(vec![again.clone()]).await, [Seen::Already]);
    let second = bed.claim_one().await;
    assert_eq!(bed.settle(vec![again.clone()]).await, [Seen::Already]);
    let mut of_another = again;
    of_another.lease.group = group("b");
    assert_eq!(bed.settle(vec![of_another]).await, [Seen::Lost]);
    assert_eq!(bed.depth().await.leased, 1);
    let mut forged = settlement(&second, all_of(&second));
    forged.lease.fence = Fence(second.fence.0 + 1);
    assert_eq!(bed.settle(vec![forged]).await, [Seen::Lost]);
    let mut elsewhere = settlement(&second, all_of(&second));
    elsewhere.lease.group = group("b");
    assert_eq!(bed.settle(vec![elsewhere]).await, [Seen::Lost]);
    bed.complete(&second).await;
}

///
pub async fn a_heartbeat_moves_the_deadline(fixture: &dyn Fixture) {
    let bed = Bed::open(fixture).await;
    bed.stage_new(&[&job(1, &group("a")), &job(2, &group("b"))]).await;
    let leases = bed.claim().await;
    let [kept, left] = leases.as_slice() else {
        panic!("two groups are claimable: {leases:?}")
    };
    for _ in 0..5 {
        bed.elapse(secs(20)).await;
        assert_eq!(bed.extend(&[kept.reference()]).await, [Seen::Applied]);
        bed.reap().await;
    }
    let again = bed.claim_one().await;
    assert_eq!(again.group, left.group, "only those named are extended");
    bed.complete(kept).await;
}

///
pub async fn a_dead_lease_is_not_extended(fixture: &dyn Fixture) {
    let bed = Bed::open(fixture).await;
    for (n, key) in (0..).zip(["settled", "lapsed", "quarantined", "live"]) {
        bed.stage_new(&[&job(n, &group(key))]).await;
    }
    let leases = bed.claim().await;
    let of = |key: &str| {
        leases
            .iter()
            .find(|lease| lease.group == group(key))
            .unwrap()
            .clone()
    };
    bed.complete(&of("settled")).await;
    bed.give_up(&of("quarantined"), Rest::Quarantine { error: "bad".into() })
        .await;
    bed.elapse(secs(20)).await;
    assert_eq!(bed.extend(&[of("live").reference()]).await, [Seen::Applied]);
    bed.elapse(secs(11)).await;
    let asked: Vec<LeaseRef> = ["settled", "lapsed", "live", "quarantined"]
        .map(|key| of(key).reference())
        .into();
    let expected = [Seen::Lost, Seen::Lost, Seen::Applied, Seen::Lost];
    assert_eq!(
        bed.extend(&asked).await,
        expected,
        "past its deadline, though not reaped yet"
    );
    assert_eq!(bed.reap().await, 1);
    assert_eq!(bed.extend(&asked).await, expected);
    let mut forged = of("live").reference();
    forged.fence = Fence(forged.fence.0 + 1);
    assert_eq!(bed.extend(&[forged]).await, [Seen::Lost]);
    assert_eq!(bed.extend(&[]).await, []);
    let back = bed.claim().await;
    let groups: Vec<_> = back.iter().map(|lease| lease.group.clone()).collect();
    assert_eq!(groups, [group("lapsed")], "nothing else returns to ready");
}

/// a reap takes at most as many as it was allowed.
pub async fn a_reap_is_bounded(fixture: &dyn Fixture) {
    let bed = Bed::open(fixture).await;
    for n in 0..5 {
        bed.stage_new(&[&job(n, &group(&format!("g{n}")))]).await;
    }
    assert_eq!(bed.claim().await.len(), 5);
    bed.elapse(LEASE + secs(1)).await;
    let mut reaped = Vec::new();
    for _ in 0..4 {
        reaped.push(bed.queue().reap(2).await.unwrap().lapsed);
        let depth = bed.depth().await;
        assert_eq!(depth.waiting, reaped.iter().sum::<usize>() as u64);
        assert_eq!(depth.waiting + depth.leased, 5);
    }
    assert_eq!(reaped, [2, 2, 1, 0]);
}

/// waiting and leased jobs, tokens and blocks outlive the process.
pub async fn jobs_and_leases_outlive_the_process(fixture: &dyn Fixture) {
    let bed = Bed::open(fixture).await;
    for (n, key) in (0..).zip(["leased", "blocked", "lapsing"]) {
        bed.stage_new(&[&job(n, &group(key))]).await;
    }
    let leases = bed.claim().await;
    let of = |key: &str| leases.iter().find(|lease| lease.group == group(key)).unwrap();
    let error = || "bad".to_owned();
    bed.give_up(of("blocked"), Rest::Quarantine { error: error() })
        .await;
    bed.stage_new(&[&job(9, &group("waiting"))]).await;
    let before = bed.depth().await;
    assert_eq!((before.waiting, before.leased, before.blocked), (1, 2, 1));
    let bed = bed.restart().await;
    if !fixture.declares().durable {
        assert_eq!(bed.depth().await, foldwright_ports::Depth::default());
        return;
    }
    assert_eq!(bed.depth().await, before);
    bed.complete(of("leased")).await;
    let next = bed.claim_one().await;
    assert_eq!(next.group, group("waiting"));
    assert!(leases.iter().all(|lease| next.fence > lease.fence));
    bed.complete(&next).await;
    bed.lapse().await;
    assert_eq!(ids(&bed.claim_one().await), ids(of("lapsing")));
    assert!(bed.admin().unblock(&group("blocked")).await.unwrap());
    assert_eq!(ids(&bed.claim_one().await), ids(of("blocked")));
}
