//! What follows from a settlement: the jobs it stages, and the next work.
use crate::{
    Fixture,
    kit::{
        Bed, JobExt, SUBSCRIBER, Seen, WORKER, all_of, group, group_of, ids, job, retry, secs, seen,
        settlement, want,
    },
};
use foldwright_ports::{Lease, LeaseEnd, NewJob, Outcome, Rest, Settlement, Want};

async fn staged(bed: &Bed<'_>, jobs: u64) -> Vec<NewJob> {
    let jobs: Vec<_> = (0..jobs).map(|n| job(n, &group("a"))).collect();
    bed.stage_new(&jobs.iter().collect::<Vec<_>>()).await;
    jobs
}

fn with_then(lease: &Lease, outcome: Outcome, then: Vec<NewJob>) -> Settlement {
    Settlement {
        then,
        ..settlement(lease, outcome)
    }
}

/// G7, Q-23: what follows is staged with the outcome, whatever the outcome is.
pub async fn follow_ups_are_staged_with_the_outcome(fixture: &dyn Fixture) {
    let bed = Bed::open(fixture).await;
    staged(&bed, 3).await;
    let then = |n| vec![job(n, &group("next")), job(n + 1, &group("a"))];
    let lease = bed.claim_one().await;
    let partly = Outcome {
        done: 1,
        rest: retry("boom"),
    };
    assert_eq!(
        bed.settle(vec![with_then(&lease, partly, then(100))]).await,
        [Seen::Applied]
    );
    assert_eq!(bed.waiting().await, 4);
    bed.elapse(secs(2)).await;
    let leases = bed.claim().await;
    let of = |key: &str| leases.iter().find(|lease| lease.group == group(key)).unwrap();
    assert_eq!(ids(of("next")), [job(100, &group("next")).id]);
    assert_eq!(of("a").jobs.len(), 3);
    let all = with_then(of("a"), all_of(of("a")), then(200));
    assert_eq!(bed.settle(vec![all]).await, [Seen::Applied]);
    let lease = bed.claim_one().await;
    assert_eq!(
        (ids(&lease), lease.previous),
        (vec![job(201, &group("a")).id], LeaseEnd::Completed)
    );
}

/// G2, C-02: what follows has its own id, so that staging it again adds nothing.
pub async fn follow_ups_staged_again_are_known(fixture: &dyn Fixture) {
    let bed = Bed::open(fixture).await;
    staged(&bed, 1).await;
    let then = vec![
        job(100, &group("next")),
        job(101, &group("next")),
        job(100, &group("next")),
    ];
    for _ in 0..2 {
        let lease = bed.claim_of(&group("a")).await;
        bed.settle(vec![with_then(&lease, Outcome::none(Rest::Back), then.clone())])
            .await;
    }
    assert_eq!(bed.depth().await.waiting + bed.depth().await.leased, 3);
    assert_eq!(bed.view(&group("next")).await.unwrap().depth, 2);
}

/// G-02: what follows and is merged into a job that waits is counted, also where the call comes again.
pub async fn merged_follow_ups_are_counted(fixture: &dyn Fixture) {
    let bed = Bed::open(fixture).await;
    staged(&bed, 2).await;
    let run = |n| job(n, &group_of("acme", SUBSCRIBER, "key")).dedup(secs(60), false, false);
    let other = |n| job(n, &group("other"));
    let lease = bed.claim_one().await;
    let one = Outcome {
        done: 1,
        rest: Rest::Back,
    };
    let nonce = bed.nonce();
    let settle = |lease: &Lease, outcome: &Outcome, then| vec![with_then(lease, outcome.clone(), then)];
    let first = settle(&lease, &one, vec![run(100), other(101), run(102), run(103)]);
    for _ in 0..2 {
        let settled = bed
            .queue()
            .settle(nonce, WORKER, first.clone(), None)
            .await
            .unwrap();
        assert_eq!(settled.squashed, 2);
    }
    let lease = bed.claim_of(&group("a")).await;
    let known = settle(&lease, &all_of(&lease), vec![run(100), other(101)]);
    assert_eq!(bed.settle_next(known.clone(), None).await.squashed, 0);
    // It is settled already, so nothing follows from it any more.
    assert_eq!(bed.settle_next(known, None).await.squashed, 0);
}

/// Q-09, G4: a settlement that is lost or came before stages nothing.
pub async fn a_lost_settlement_stages_nothing(fixture: &dyn Fixture) {
    let bed = Bed::open(fixture).await;
    staged(&bed, 1).await;
    let late = bed.claim_one().await;
    bed.lapse().await;
    let live = bed.claim_one().await;
    let then = vec![job(100, &group("next"))];
    assert_eq!(
        bed.settle(vec![with_then(&late, all_of(&late), then.clone())])
            .await,
        [Seen::Lost]
    );
    assert_eq!(bed.view(&group("next")).await, None);
    bed.complete(&live).await;
    assert_eq!(
        bed.settle(vec![with_then(&live, all_of(&live), then)]).await,
        [Seen::Already]
    );
    assert_eq!(bed.view(&group("next")).await, None);
    assert_eq!(bed.depth().await, foldwright_ports::Depth::default());
}

/// settling hands over the next job in the same call.
pub async fn settling_hands_out_the_next_work(fixture: &dyn Fixture) {
    let bed = Bed::open(fixture).await;
    let jobs = staged(&bed, 100).await;
    let single = Want {
        max_groups: 1,
        max_jobs_per_group: 1,
        ..want()
    };
    let mut lease = bed.claim_as(&single).await.pop().unwrap();
    let mut handed = ids(&lease);
    for _ in 1..100 {
        let settled = bed
            .settle_next(vec![settlement(&lease, all_of(&lease))], Some(&single))
            .await;
        assert_eq!(
            settled.verdicts.iter().map(seen).collect::<Vec<_>>(),
            [Seen::Applied]
        );
        let [next] = settled.next.try_into().expect("one more lease");
        assert!(next.fence > lease.fence);
        lease = next;
        handed.extend(ids(&lease));
    }
    let settled = bed
        .settle_next(vec![settlement(&lease, all_of(&lease))], Some(&single))
        .await;
    assert!(settled.next.is_empty());
    assert_eq!(handed, jobs.iter().map(|job| job.id).collect::<Vec<_>>());
}

/// a chain claim is an ordinary claim, with its limits, and even beside a lost settlement.
pub async fn a_chain_claim_takes_what_is_due(fixture: &dyn Fixture) {
    let bed = Bed::open(fixture).await;
    staged(&bed, 1).await;
    let late = bed.claim_one().await;
    bed.lapse().await;
    for n in 10..15 {
        bed.stage_new(&[&job(n, &group(&format!("g{n}")))]).await;
    }
    let two = Want {
        max_groups: 2,
        ..want()
    };
    let settled = bed
        .settle_next(vec![settlement(&late, all_of(&late))], Some(&two))
        .await;
    assert_eq!(
        settled.verdicts.iter().map(seen).collect::<Vec<_>>(),
        [Seen::Lost]
    );
    assert_eq!(settled.next.len(), 2);
    let settled = bed.settle_next(Vec::new(), Some(&want())).await;
    assert_eq!((settled.verdicts.len(), settled.next.len()), (0, 4));
}

/// however many leases are settled at once, what they leave is handed out.
pub async fn a_chain_claim_follows_many_settlements(fixture: &dyn Fixture) {
    let bed = Bed::open(fixture).await;
    for n in 0..40 {
        bed.stage_new(&[&job(n, &group(&format!("g{}", n % 20)))]).await;
    }
    let single = Want {
        max_jobs_per_group: 1,
        ..want()
    };
    let leases = bed.claim_as(&single).await;
    let settlements: Vec<_> = leases
        .iter()
        .map(|lease| settlement(lease, all_of(lease)))
        .collect();
    let settled = bed.settle_next(settlements, Some(&single)).await;
    assert_eq!((settled.verdicts.len(), settled.next.len()), (20, 20));
    assert_eq!((bed.waiting().await, bed.depth().await.leased), (0, 20));
}
