//! Repeating a call after a lost reply.
use crate::{
    Fixture,
    kit::{Bed, Seen, WORKER, all_of, group, ids, job, retry, secs, seen, settlement, want},
};
use foldwright_domain::Millis;
use foldwright_ports::{Lease, Nonce, Outcome, Room, Settlement, Staged, Want};

/// What a repeated grant has in common with the first: a heartbeat may have moved its deadline.
fn grants(leases: &[Lease]) -> Vec<(foldwright_ports::LeaseRef, Vec<foldwright_ports::JobId>)> {
    leases
        .iter()
        .map(|lease| (lease.reference(), ids(lease)))
        .collect()
}

async fn settle(
    bed: &Bed<'_>,
    nonce: Nonce,
    settlements: &[Settlement],
    next: Option<&Want>,
) -> (Vec<Seen>, Vec<Lease>) {
    let settled = bed
        .queue()
        .settle(nonce, WORKER, settlements.to_vec(), next)
        .await
        .unwrap();
    (settled.verdicts.iter().map(seen).collect(), settled.next)
}

/// a repeated stage answers as the first time, even when its jobs are gone since.
pub async fn a_repeated_stage_stages_nothing(fixture: &dyn Fixture) {
    let bed = Bed::open(fixture).await;
    bed.stage_new(&[&job(1, &group("a"))]).await;
    let nonce = bed.nonce();
    let jobs = vec![job(1, &group("a")), job(2, &group("a"))];
    let first = bed
        .queue()
        .stage(nonce, jobs.clone(), Room::Sender)
        .await
        .unwrap();
    assert_eq!(first, [Staged::Known, Staged::New]);
    for settled in [false, true] {
        if settled {
            let lease = bed.claim_one().await;
            bed.complete(&lease).await;
        }
        let again = bed
            .queue()
            .stage(nonce, jobs.clone(), Room::Sender)
            .await
            .unwrap();
        assert_eq!(again, first);
        assert_eq!(bed.waiting().await, if settled { 0 } else { 2 });
    }
}

/// a repeated claim takes no more, whatever has become claimable since.
pub async fn a_repeated_claim_grants_the_same(fixture: &dyn Fixture) {
    let bed = Bed::open(fixture).await;
    for n in 0..4 {
        bed.stage_new(&[&job(n, &group(&format!("g{n}")))]).await;
    }
    let two = Want {
        max_groups: 2,
        ..want()
    };
    let nonce = bed.nonce();
    let first = bed.queue().claim(nonce, WORKER, &two).await.unwrap();
    assert_eq!(first.len(), 2);
    bed.stage_new(&[&job(10, &first[0].group), &job(11, &group("new"))])
        .await;
    bed.elapse(secs(5)).await;
    let again = bed.queue().claim(nonce, WORKER, &two).await.unwrap();
    assert_eq!(grants(&again), grants(&first));
    assert_eq!((bed.depth().await.leased, bed.waiting().await), (2, 4));
    assert_eq!(
        (again[0].previous, again[0].completed),
        (first[0].previous, first[0].completed)
    );
    assert_eq!(again[0].attempt, first[0].attempt);
}

/// what is settled or lapsed meanwhile is not granted again.
pub async fn a_repeated_claim_grants_only_what_is_live(fixture: &dyn Fixture) {
    let bed = Bed::open(fixture).await;
    for n in 0..4 {
        bed.stage_new(&[&job(n, &group(&format!("g{n}")))]).await;
    }
    let nonce = bed.nonce();
    let first = bed.queue().claim(nonce, WORKER, &want()).await.unwrap();
    assert_eq!(first.len(), 4);
    bed.complete(&first[0]).await;
    bed.end(&first[1], Outcome::none(retry("boom"))).await;
    bed.elapse(secs(20)).await;
    assert_eq!(bed.extend(&[first[3].reference()]).await, [Seen::Applied]);
    bed.elapse(secs(11)).await;
    bed.reap().await;
    let again = bed.queue().claim(nonce, WORKER, &want()).await.unwrap();
    assert_eq!(grants(&again), grants(&first[3..]));
    assert!(again[0].until > Millis(0) && again[0].until > bed.now());
    let other = bed.claim().await;
    assert_eq!(other.len(), 2, "the retried and the lapsed one are for anyone");
    let again = bed.queue().claim(nonce, WORKER, &want()).await.unwrap();
    assert_eq!(
        grants(&again),
        grants(&first[3..]),
        "another's lease is not handed out again"
    );
}

/// a claim that found nothing finds nothing when it is repeated.
pub async fn a_repeated_empty_claim_stays_empty(fixture: &dyn Fixture) {
    let bed = Bed::open(fixture).await;
    let nonce = bed.nonce();
    assert!(
        bed.queue()
            .claim(nonce, WORKER, &want())
            .await
            .unwrap()
            .is_empty()
    );
    bed.stage_new(&[&job(1, &group("a"))]).await;
    assert!(
        bed.queue()
            .claim(nonce, WORKER, &want())
            .await
            .unwrap()
            .is_empty()
    );
    bed.claim_one().await;
}

/// the same verdicts and the same next work, with other calls in between; nothing changes once more.
pub async fn a_repeated_settle_answers_the_same(fixture: &dyn Fixture) {
    let bed = Bed::open(fixture).await;
    for n in 0..6 {
        bed.stage_new(&[&job(n, &group(&format!("g{}", n % 3)))]).await;
    }
    let single = Want {
        max_jobs_per_group: 1,
        ..want()
    };
    let leases = bed.claim_as(&single).await;
    let mut settlements: Vec<_> = leases
        .iter()
        .map(|lease| settlement(lease, all_of(lease)))
        .collect();
    settlements[0].then = vec![job(50, &group("then"))];
    settlements[1].lease.fence.0 += 1_000;
    let one = Want {
        max_groups: 1,
        max_jobs_per_group: 1,
        ..want()
    };
    let nonce = bed.nonce();
    let (verdicts, next) = settle(&bed, nonce, &settlements, Some(&one)).await;
    assert_eq!(verdicts, [Seen::Applied, Seen::Lost, Seen::Applied]);
    assert_eq!(next.len(), 1);

    let depth = bed.depth().await;
    let (again, granted) = settle(&bed, nonce, &settlements, Some(&one)).await;
    assert_eq!((again, grants(&granted)), (verdicts.clone(), grants(&next)));
    assert_eq!(bed.depth().await, depth);

    bed.complete(&next[0]).await;
    let follow_up = bed.claim_as(&single).await;
    assert!(
        follow_up.iter().any(|lease| lease.group == group("then")),
        "it was staged once"
    );
    for lease in &follow_up {
        bed.complete(lease).await;
    }
    bed.stage_new(&[&job(60, &group("g0"))]).await;
    let depth = bed.depth().await;
    let (again, granted) = settle(&bed, nonce, &settlements, Some(&one)).await;
    assert_eq!(again, verdicts);
    assert!(granted.is_empty(), "what was settled since is not granted again");
    assert_eq!(bed.depth().await, depth, "and nothing was staged again");
}

/// nonces are kept for their time and then forgotten.
pub async fn a_nonce_is_forgotten_after_its_time(fixture: &dyn Fixture) {
    let bed = Bed::open(fixture).await;
    let nonce = bed.nonce();
    let jobs = vec![job(1, &group("a"))];
    bed.queue()
        .stage(nonce, jobs.clone(), Room::Sender)
        .await
        .unwrap();
    let lease = bed.claim_one().await;
    bed.complete(&lease).await;
    bed.elapse(bed.harness.settings.nonce_ttl.saturating_sub(secs(1)))
        .await;
    bed.reap().await;
    assert_eq!(
        bed.queue()
            .stage(nonce, jobs.clone(), Room::Sender)
            .await
            .unwrap(),
        [Staged::New]
    );
    assert_eq!(bed.waiting().await, 0);
    bed.elapse(secs(2)).await;
    bed.reap().await;
    assert_eq!(
        bed.queue()
            .stage(nonce, jobs.clone(), Room::Sender)
            .await
            .unwrap(),
        [Staged::New]
    );
    assert_eq!(bed.waiting().await, 1, "an old nonce is a new call");
}

/// through another handle, and after the death of the process.
pub async fn nonces_hold_for_every_handle(fixture: &dyn Fixture) {
    let bed = Bed::open(fixture).await;
    let second = fixture.reopen(&bed.harness).await;
    bed.stage_new(&[&job(1, &group("a")), &job(2, &group("b"))]).await;
    let nonce = bed.nonce();
    let first = bed.queue().claim(nonce, WORKER, &want()).await.unwrap();
    assert_eq!(first.len(), 2);
    let again = second.queue.claim(nonce, WORKER, &want()).await.unwrap();
    assert_eq!(grants(&again), grants(&first));
    drop(second);
    let settle_nonce = bed.nonce();
    let settlements = [settlement(&first[0], all_of(&first[0]))];
    let (verdicts, _) = settle(&bed, settle_nonce, &settlements, None).await;
    assert_eq!(verdicts, [Seen::Applied]);
    let bed = bed.restart().await;
    let again = bed.queue().claim(nonce, WORKER, &want()).await.unwrap();
    let (verdicts, _) = settle(&bed, settle_nonce, &settlements, None).await;
    if fixture.declares().durable {
        assert_eq!(grants(&again), grants(&first[1..]));
        assert_eq!(verdicts, [Seen::Applied]);
    } else {
        assert!(again.is_empty());
        assert_eq!(verdicts, [Seen::Lost]);
    }
}
