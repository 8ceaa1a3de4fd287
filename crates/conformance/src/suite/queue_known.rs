//! Staging what is there already.
use crate::{
    Fixture,
    kit::{Bed, JobExt, group, ids, job, retry, secs},
};
use bytes::Bytes;
use foldwright_ports::{Body, NewJob, Rest, Staged};

fn body_of(text: &'static str) -> Body {
    Body::Inline(Bytes::from_static(text.as_bytes()))
}

async fn known(bed: &Bed<'_>, job: &NewJob) {
    assert_eq!(bed.stage(vec![job.clone()]).await, [Staged::Known]);
}

/// nothing is added, whatever state the job is in.
pub async fn a_known_job_is_not_added(fixture: &dyn Fixture) {
    let bed = Bed::open(fixture).await;
    let first = job(1, &group("a"));
    bed.stage_new(&[&first, &job(2, &group("a"))]).await;
    known(&bed, &first).await;
    let depth = bed.depth().await;
    assert_eq!((depth.waiting, depth.leased), (2, 0));

    let lease = bed.claim_one().await;
    assert_eq!(
        ids(&lease),
        [first.id, job(2, &group("a")).id],
        "its place is unchanged"
    );
    known(&bed, &first).await;
    assert_eq!((bed.depth().await.waiting, bed.depth().await.leased), (0, 2));

    bed.give_up(&lease, Rest::Quarantine { error: "bad".into() })
        .await;
    known(&bed, &first).await;
    assert_eq!(bed.depth().await.blocked, 2);

    assert!(bed.admin().unblock(&group("a")).await.unwrap());
    let lease = bed.claim_one().await;
    bed.give_up(&lease, Rest::DeadLetter { error: "bad".into() })
        .await;
    known(&bed, &first).await;
    assert_eq!((bed.depth().await.waiting, bed.depth().await.dead), (1, 1));

    let lease = bed.claim_one().await;
    bed.complete(&lease).await;
    assert_eq!(
        bed.stage(vec![job(2, &group("a"))]).await,
        [Staged::New],
        "a completed job is forgotten"
    );
}

/// one call may hold a job twice.
pub async fn a_job_twice_in_one_call_is_one(fixture: &dyn Fixture) {
    let bed = Bed::open(fixture).await;
    let first = job(1, &group("a"));
    let staged = bed
        .stage(vec![first.clone(), job(2, &group("a")), first.clone()])
        .await;
    assert_eq!(staged, [Staged::New, Staged::New, Staged::Known]);
    assert_eq!(bed.waiting().await, 2);
}

/// only when asked, only by a canonically later one, only while it waits; the place stays.
pub async fn a_waiting_body_is_replaced_by_a_later_one(fixture: &dyn Fixture) {
    let bed = Bed::open(fixture).await;
    let now = bed.now();
    let first = job(1, &group("a")).at(now.minus(secs(10))).with_body("first");
    let neighbour = job(2, &group("a")).at(now.minus(secs(5)));
    bed.stage_new(&[&first, &neighbour]).await;
    let unasked = first.clone().at(now).with_body("unasked");
    let same = first.clone().with_body("same").replacing();
    let earlier = first
        .clone()
        .at(now.minus(secs(11)))
        .with_body("earlier")
        .replacing();
    for ignored in [unasked, same, earlier] {
        known(&bed, &ignored).await;
    }
    let lease = bed.claim_one().await;
    assert_eq!(lease.jobs[0].body, body_of("first"));
    bed.give_up(&lease, Rest::Back).await;

    known(&bed, &first.clone().at(now).with_body("later").replacing()).await;
    let between = first
        .clone()
        .at(now.minus(secs(1)))
        .with_body("between")
        .replacing();
    known(&bed, &between).await;
    let lease = bed.claim_one().await;
    assert_eq!(ids(&lease), [first.id, neighbour.id], "its place is unchanged");
    assert_eq!(
        lease.jobs[0].body,
        body_of("later"),
        "the latest body so far decides"
    );
    assert_eq!(bed.depth().await.leased, 2);
    let late = first.clone().at(now.plus(secs(1))).with_body("late").replacing();
    known(&bed, &late).await;
    bed.give_up(&lease, Rest::Back).await;
    assert_eq!(
        bed.claim_one().await.jobs[0].body,
        body_of("later"),
        "a leased body stays"
    );
}

/// without a place, every body is later than the ones before.
pub async fn without_a_place_every_body_is_later(fixture: &dyn Fixture) {
    let bed = Bed::open(fixture).await;
    let first = job(1, &group("a")).with_body("first").replacing();
    bed.stage_new(&[&first]).await;
    for text in ["second", "third"] {
        known(&bed, &first.clone().with_body(text)).await;
    }
    assert_eq!(bed.claim_one().await.jobs[0].body, body_of("third"));
}

/// staged again during its backoff, even with another body, it waits as long and keeps its ladder.
pub async fn staging_again_does_not_shorten_a_backoff(fixture: &dyn Fixture) {
    let bed = Bed::open(fixture).await;
    let first = job(1, &group("a")).with_body("first").replacing();
    bed.stage_new(&[&first]).await;
    for _ in 0..4 {
        let lease = bed.claim_one().await;
        bed.give_up(&lease, retry("boom")).await;
        bed.elapse(secs(10)).await;
    }
    let lease = bed.claim_one().await;
    assert_eq!(lease.attempt, 5);
    bed.give_up(&lease, retry("boom")).await;
    let before = bed.view(&group("a")).await.unwrap();
    known(&bed, &first.clone().with_body("second")).await;
    let after = bed.view(&group("a")).await.unwrap();
    assert_eq!(before, after);
    assert_eq!((after.depth, after.failures), (1, 5));
    bed.elapse(secs(7)).await;
    bed.nothing_is_claimable().await;
    bed.elapse(secs(2)).await;
    let lease = bed.claim_one().await;
    assert_eq!((lease.attempt, &lease.jobs[0].body), (6, &body_of("second")));
}

/// a delay of the repeat does not move the job.
pub async fn staging_again_does_not_delay(fixture: &dyn Fixture) {
    let bed = Bed::open(fixture).await;
    let first = job(1, &group("a")).replacing();
    bed.stage_new(&[&first]).await;
    known(&bed, &first.clone().delayed(secs(60))).await;
    assert_eq!(ids(&bed.claim_one().await), [first.id]);
}
