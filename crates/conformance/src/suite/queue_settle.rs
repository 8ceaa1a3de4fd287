//! Settling leases.
use crate::{
    Fixture,
    kit::{
        Bed, COMMAND, Seen, all_of, group, group_of, ids, job, retry, secs, seen, settlement, tenant, want,
    },
};
use bytes::Bytes;
use foldwright_ports::{
    Answer, Capabilities, Capability, Fence, Kind, Lease, LeaseEnd, NewJob, Outcome, Rest, Settlement, Want,
};
use std::sync::Arc;

async fn staged(bed: &Bed<'_>, jobs: u64) -> Vec<NewJob> {
    let jobs: Vec<_> = (0..jobs).map(|n| job(n, &group("a"))).collect();
    bed.stage_new(&jobs.iter().collect::<Vec<_>>()).await;
    jobs
}

/// done jobs are gone for good.
pub async fn completed_jobs_are_gone(fixture: &dyn Fixture) {
    let bed = Bed::open(fixture).await;
    staged(&bed, 3).await;
    let lease = bed.claim_one().await;
    bed.complete(&lease).await;
    assert_eq!(bed.depth().await, foldwright_ports::Depth::default());
    assert_eq!(bed.view(&group("a")).await, None);
    bed.lapse().await;
    bed.nothing_is_claimable().await;
}

///
pub async fn a_done_prefix_leaves_the_others_in_place(fixture: &dyn Fixture) {
    let bed = Bed::open(fixture).await;
    let jobs = staged(&bed, 10).await;
    let lease = bed.claim_one().await;
    let newer = job(50, &group("a"));
    bed.stage_new(&[&newer]).await;
    let outcome = Outcome {
        done: 3,
        rest: Rest::Back,
    };
    bed.end(&lease, outcome).await;
    assert_eq!((bed.waiting().await, bed.depth().await.leased), (8, 0));
    let expected: Vec<_> = jobs[3..].iter().chain([&newer]).map(|job| job.id).collect();
    let lease = bed.claim_one().await;
    assert_eq!(ids(&lease), expected);
    assert_eq!((lease.previous, lease.attempt), (LeaseEnd::Completed, 1));
}

/// each way of giving the rest back, behind a done prefix and without one.
pub async fn every_rest_keeps_the_order(fixture: &dyn Fixture) {
    let error = || "boom".to_owned();
    let rests: [(Rest, usize); 6] = [
        (Rest::Back, 0),
        (retry("boom"), 0),
        (Rest::Quarantine { error: error() }, 0),
        (Rest::DeadLetter { error: error() }, 1),
        (Rest::Defer { after: secs(1) }, 0),
        (
            Rest::Release {
                floor: None,
                need: None,
            },
            0,
        ),
    ];
    for (rest, lost) in rests {
        for done in [0, 2] {
            let bed = Bed::open(fixture).await;
            let jobs = staged(&bed, 5).await;
            let lease = bed.claim_one().await;
            bed.stage_new(&[&job(50, &group("a"))]).await;
            bed.end(
                &lease,
                Outcome {
                    done,
                    rest: rest.clone(),
                },
            )
            .await;
            bed.admin().unblock(&group("a")).await.unwrap();
            bed.elapse(secs(2)).await;
            let mut expected: Vec<_> = jobs[done + lost..].iter().map(|job| job.id).collect();
            expected.push(job(50, &group("a")).id);
            assert_eq!(ids(&bed.claim_one().await), expected, "{rest:?} after {done}");
        }
    }
}

/// the group waits, no attempt is spent, other groups run.
pub async fn a_deferred_group_waits_and_spends_no_attempt(fixture: &dyn Fixture) {
    let bed = Bed::open(fixture).await;
    let jobs = staged(&bed, 2).await;
    for _ in 0..30 {
        let lease = bed.claim_one().await;
        assert_eq!((lease.attempt, ids(&lease)), (1, vec![jobs[0].id, jobs[1].id]));
        bed.give_up(&lease, Rest::Defer { after: secs(10) }).await;
        assert!(bed.view(&group("a")).await.unwrap().closed_until.is_some());
        bed.elapse(secs(9)).await;
        bed.nothing_is_claimable().await;
        bed.elapse(secs(1)).await;
    }
    bed.stage_new(&[&job(9, &group("b"))]).await;
    assert_eq!(bed.claim().await.len(), 2);
}

/// without a floor or a need the group is due again at once, and no attempt is spent.
pub async fn a_released_group_is_due_again_at_once(fixture: &dyn Fixture) {
    let bed = Bed::open(fixture).await;
    staged(&bed, 2).await;
    for rest in [
        Rest::Back,
        Rest::Release {
            floor: None,
            need: None,
        },
    ] {
        let lease = bed.claim_one().await;
        assert_eq!(lease.attempt, 1);
        bed.give_up(&lease, rest).await;
    }
    assert_eq!(bed.claim_one().await.attempt, 1);
}

/// further tokens of the store, of every group, are above the floor.
pub async fn a_floor_raises_the_next_tokens(fixture: &dyn Fixture) {
    let bed = Bed::open(fixture).await;
    staged(&bed, 1).await;
    let lease = bed.claim_one().await;
    let floor = Fence(lease.fence.0 + 1_000_000_000_000);
    let release = Rest::Release {
        floor: Some(floor),
        need: None,
    };
    bed.give_up(&lease, release).await;
    bed.stage_new(&[&job(9, &group("b"))]).await;
    let leases = bed.claim().await;
    assert_eq!(leases.len(), 2);
    assert!(leases.iter().all(|lease| lease.fence > floor));
    for lease in &leases {
        bed.complete(lease).await;
    }
    staged(&bed, 1).await;
    let low = bed.claim_one().await;
    let release = Rest::Release {
        floor: Some(Fence(1)),
        need: None,
    };
    bed.give_up(&low, release).await;
    assert!(
        bed.claim_one().await.fence > low.fence,
        "a low floor lowers nothing"
    );
}

/// a group that was released with a need waits for a worker that declares it.
pub async fn a_need_waits_for_a_newer_worker(fixture: &dyn Fixture) {
    let bed = Bed::open(fixture).await;
    let jobs = staged(&bed, 2).await;
    bed.stage_new(&[&job(9, &group("other"))]).await;
    let lease = bed.claim_of(&group("a")).await;
    let release = Rest::Release {
        floor: None,
        need: Some(3),
    };
    bed.give_up(&lease, release).await;
    let worker = |version| {
        let known = Capabilities {
            routes: [(jobs[0].route.clone(), Capability { version })].into(),
            format: 1,
        };
        Want {
            capabilities: Arc::new(known),
            ..want()
        }
    };
    for version in [0, 1, 2] {
        assert!(bed.claim_as(&worker(version)).await.is_empty(), "{version}");
    }
    assert_eq!(bed.waiting().await, 2, "stranded jobs wait");
    let lease = bed.claim_as(&worker(3)).await.pop().unwrap();
    assert_eq!((lease.attempt, ids(&lease)), (1, vec![jobs[0].id, jobs[1].id]));
    bed.lapse().await;
    let leases = bed.claim_as(&worker(2)).await;
    assert_eq!(leases.len(), 1, "the other group");
    assert_eq!(leases[0].group, group("other"));
    assert_eq!(bed.claim_as(&worker(4)).await.len(), 1);
}

///
pub async fn one_lost_of_fifty_fails_alone(fixture: &dyn Fixture) {
    let bed = Bed::open(fixture).await;
    for n in 0..50 {
        bed.stage_new(&[&job(n, &group(&format!("g{n}")))]).await;
    }
    let leases = bed.claim().await;
    let mut settlements: Vec<_> = leases
        .iter()
        .map(|lease| settlement(lease, all_of(lease)))
        .collect();
    settlements[31].lease.fence = Fence(1);
    let nonce = bed.nonce();
    let mut expected = vec![Seen::Applied; 50];
    expected[31] = Seen::Lost;
    for _ in 0..2 {
        let settled = bed
            .queue()
            .settle(nonce, crate::kit::WORKER, settlements.clone(), None)
            .await
            .unwrap();
        assert_eq!(settled.verdicts.iter().map(seen).collect::<Vec<_>>(), expected);
        assert_eq!((bed.depth().await.leased, bed.waiting().await), (1, 0));
    }
    let mut again = vec![Seen::Already; 50];
    again[31] = Seen::Lost;
    assert_eq!(bed.settle(settlements).await, again);
    assert_eq!((bed.depth().await.leased, bed.waiting().await), (1, 0));
    bed.complete(&leases[31]).await;
}

/// the second settlement of one lease in a call comes too late.
pub async fn one_lease_twice_in_a_call_is_settled_once(fixture: &dyn Fixture) {
    let bed = Bed::open(fixture).await;
    staged(&bed, 2).await;
    let lease = bed.claim_one().await;
    let twice = vec![
        settlement(&lease, all_of(&lease)),
        settlement(&lease, Outcome::none(Rest::Back)),
    ];
    assert_eq!(bed.settle(twice).await, [Seen::Applied, Seen::Already]);
    assert_eq!(bed.depth().await, foldwright_ports::Depth::default());
}

/// a settlement that cannot be stored is refused, its lease lives on, and its neighbours take effect.
pub async fn a_refused_settlement_fails_alone(fixture: &dyn Fixture) {
    let bed = Bed::open(fixture).await;
    for n in 0..3 {
        bed.stage_new(&[&job(n, &group(&format!("g{n}")))]).await;
    }
    let leases = bed.claim().await;
    let mut settlements: Vec<_> = leases
        .iter()
        .map(|lease| settlement(lease, all_of(lease)))
        .collect();
    settlements[0].then = vec![job(50, &group("next")), job(51, &group(&"k".repeat(1_025)))];
    settlements[1].outcome.done = 2;
    let refused = Seen::Refused(Kind::Invalid);
    assert_eq!(bed.settle(settlements).await, [refused, refused, Seen::Applied]);
    assert_eq!(bed.view(&group("next")).await, None, "nothing of it was staged");
    assert_eq!((bed.waiting().await, bed.depth().await.leased), (0, 2));
    for lease in &leases[..2] {
        bed.complete(lease).await;
    }
}

/// C-01, C-04: kept for a while, for its sender alone, and only if the lease was live.
pub async fn answers_are_kept_for_their_senders(fixture: &dyn Fixture) {
    let bed = Bed::open(fixture).await;
    let commands = group_of("acme", COMMAND, "a");
    let [first, second] = [1, 2].map(|n| job(n, &commands));
    bed.stage_new(&[&first, &second]).await;
    let answering = |lease: &Lease, text: &'static [u8]| Settlement {
        answers: lease
            .jobs
            .iter()
            .map(|job| Answer {
                job: job.id,
                answer: Bytes::from_static(text),
            })
            .collect(),
        ..settlement(lease, all_of(lease))
    };
    let late = bed.claim_one().await;
    bed.lapse().await;
    let live = bed.claim_one().await;
    assert_eq!(bed.settle(vec![answering(&late, b"late")]).await, [Seen::Lost]);
    let answer = |owner: &'static str, job| {
        let bed = &bed;
        async move { bed.queue().answer(&tenant(owner), job).await.unwrap() }
    };
    assert_eq!(answer("acme", first.id).await, None);
    assert_eq!(bed.settle(vec![answering(&live, b"\0ok")]).await, [Seen::Applied]);
    for command in [&first, &second] {
        assert_eq!(
            answer("acme", command.id).await.as_deref(),
            Some(b"\0ok".as_slice())
        );
        assert_eq!(
            answer("acme", command.id).await.as_deref(),
            Some(b"\0ok".as_slice())
        );
        assert_eq!(answer("globex", command.id).await, None, "T-05");
    }
    let kept = bed.harness.settings.answer_ttl;
    bed.elapse(kept.saturating_sub(secs(1))).await;
    bed.reap().await;
    assert!(answer("acme", first.id).await.is_some());
    bed.elapse(secs(2)).await;
    bed.reap().await;
    assert_eq!(answer("acme", first.id).await, None);
}
