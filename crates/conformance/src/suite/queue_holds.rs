//! Who holds a body.
use crate::{
    Fixture,
    kit::{Bed, JobExt, SUBSCRIBER, blob, context, group, group_of, hash_of, job, retry, secs, tenant},
};
use foldwright_ports::{BlobRef, Body, Context, Held, NewJob, Rest, Staged};

fn holding(n: u64, text: &str) -> NewJob {
    job(n, &group("a")).in_blob(text, 5_000)
}

async fn released(bed: &Bed<'_>, of: BlobRef) -> bool {
    matches!(bed.held(of).await, Held::Released(at) if at <= bed.now())
}

/// B-11, B-12, Q-08: through every state, however long; body and context alike.
pub async fn a_job_holds_its_bodies_until_it_is_gone(fixture: &dyn Fixture) {
    let bed = Bed::open(fixture).await;
    let mut staged = holding(1, "body");
    let body = Body::Blob {
        hash: hash_of("context"),
        bytes: 6_000,
    };
    staged.context = Some(Context { body, of: [1; 16] });
    let held = || async {
        assert_eq!(bed.held(blob("body")).await, Held::Yes);
        assert_eq!(bed.held(blob("context")).await, Held::Yes);
    };
    assert_eq!(bed.held(blob("body")).await, Held::Never);
    bed.stage_new(&[&staged]).await;
    held().await;
    bed.elapse(secs(30 * 24 * 60 * 60)).await;
    bed.reap().await;
    held().await;
    let lease = bed.claim_one().await;
    held().await;
    bed.lapse().await;
    held().await;
    drop(lease);
    let lease = bed.claim_one().await;
    bed.give_up(&lease, retry("boom")).await;
    held().await;
    bed.elapse(secs(1)).await;
    let lease = bed.claim_one().await;
    let error = || "bad".to_owned();
    bed.give_up(&lease, Rest::Quarantine { error: error() }).await;
    held().await;
    assert!(bed.admin().unblock(&group("a")).await.unwrap());
    let lease = bed.claim_one().await;
    bed.give_up(&lease, Rest::DeadLetter { error: error() }).await;
    bed.elapse(secs(30 * 24 * 60 * 60)).await;
    bed.reap().await;
    held().await;
    assert!(bed.admin().requeue(&tenant("acme"), staged.id).await.unwrap());
    held().await;
    let lease = bed.claim_one().await;
    bed.complete(&lease).await;
    assert!(released(&bed, blob("body")).await && released(&bed, blob("context")).await);
}

/// B-11: the last of eight releases it; staging it again takes it anew.
pub async fn the_last_release_counts(fixture: &dyn Fixture) {
    let bed = Bed::open(fixture).await;
    for n in 0..8 {
        let group = group(&format!("g{n}"));
        bed.stage_new(&[&job(n, &group).in_blob("shared", 5_000)]).await;
    }
    let leases = bed.claim().await;
    for lease in &leases[1..] {
        bed.complete(lease).await;
        bed.elapse(secs(1)).await;
        assert_eq!(bed.held(blob("shared")).await, Held::Yes);
    }
    let before = bed.now();
    bed.complete(&leases[0]).await;
    match bed.held(blob("shared")).await {
        Held::Released(at) => assert!(at >= before && at <= bed.now()),
        other => panic!("released, not {other:?}"),
    }
    bed.elapse(secs(600)).await;
    bed.stage_new(&[&holding(50, "shared")]).await;
    assert_eq!(bed.held(blob("shared")).await, Held::Yes);
    assert_eq!(bed.admin().drain(&group("a"), 10).await.unwrap(), 1);
    match bed.held(blob("shared")).await {
        Held::Released(at) => assert!(at >= before.plus(secs(600))),
        other => panic!("released anew, not {other:?}"),
    }
}

/// B-13: the merged job holds the body it carries now, and that one alone.
pub async fn a_squash_swaps_the_hold(fixture: &dyn Fixture) {
    let bed = Bed::open(fixture).await;
    let keyed = group_of("acme", SUBSCRIBER, "key");
    let now = bed.now();
    let replacing = |n: u64, back| {
        job(n, &keyed)
            .dedup(secs(60), false, true)
            .at(now.minus(secs(back)))
            .in_blob(&format!("body {n}"), 5_000)
    };
    bed.stage_new(&[&replacing(1, 9)]).await;
    for n in 2..6 {
        assert_eq!(bed.stage(vec![replacing(n, 9 - n)]).await, [Staged::Squashed]);
        assert_eq!(bed.held(blob(&format!("body {n}"))).await, Held::Yes);
        assert!(released(&bed, blob(&format!("body {}", n - 1))).await);
    }
    assert_eq!(bed.stage(vec![replacing(6, 60)]).await, [Staged::Squashed]);
    assert_ne!(
        bed.held(blob("body 6")).await,
        Held::Yes,
        "a discarded body keeps no hold"
    );
    assert_eq!(bed.held(blob("body 5")).await, Held::Yes);
    let mut newer_state = replacing(7, 60);
    newer_state.context = Some(context(Body::Blob {
        hash: hash_of("state"),
        bytes: 5_000,
    }));
    assert_eq!(bed.stage(vec![newer_state.clone()]).await, [Staged::Squashed]);
    assert_ne!(
        bed.held(blob("state")).await,
        Held::Yes,
        "there is no state that it is the newer one of"
    );
    let lease = bed.claim_one().await;
    bed.complete(&lease).await;
    assert!(released(&bed, blob("body 5")).await);

    let mut first = replacing(8, 3);
    first.context = Some(context(Body::Blob {
        hash: hash_of("old state"),
        bytes: 5_000,
    }));
    bed.stage_new(&[&first]).await;
    assert_eq!(bed.stage(vec![newer_state]).await, [Staged::Squashed]);
    assert_eq!(bed.held(blob("state")).await, Held::Yes);
    assert!(released(&bed, blob("old state")).await);
    assert_eq!(bed.held(blob("body 8")).await, Held::Yes);
    assert_ne!(bed.held(blob("body 7")).await, Held::Yes);
}

/// B-12: staging or releasing twice changes nothing; a repeat that is not taken keeps no hold.
pub async fn a_hold_is_taken_once(fixture: &dyn Fixture) {
    let bed = Bed::open(fixture).await;
    bed.stage_new(&[&holding(1, "body")]).await;
    for _ in 0..2 {
        assert_eq!(bed.stage(vec![holding(1, "body")]).await, [Staged::Known]);
    }
    assert_eq!(bed.stage(vec![holding(1, "other")]).await, [Staged::Known]);
    assert_ne!(bed.held(blob("other")).await, Held::Yes);
    let swap = holding(1, "later").replacing();
    assert_eq!(bed.stage(vec![swap]).await, [Staged::Known]);
    assert_eq!(bed.held(blob("later")).await, Held::Yes);
    assert!(released(&bed, blob("body")).await);
    let lease = bed.claim_one().await;
    bed.complete(&lease).await;
    let first = bed.held(blob("later")).await;
    assert!(matches!(first, Held::Released(_)));
    bed.elapse(secs(5)).await;
    bed.complete_again(&lease).await;
    assert_eq!(bed.held(blob("later")).await, first);
}

/// B-11, B-16: what drained and discarded jobs held is released too, and what a sweep has dealt with is forgotten.
pub async fn a_sweep_forgets_what_was_released(fixture: &dyn Fixture) {
    let bed = Bed::open(fixture).await;
    bed.stage_new(&[
        &holding(1, "discarded"),
        &holding(2, "drained"),
        &holding(3, "held"),
    ])
    .await;
    let lease = bed.claim_one().await;
    bed.give_up(&lease, Rest::DeadLetter { error: "bad".into() })
        .await;
    assert!(
        bed.admin()
            .discard(&tenant("acme"), holding(1, "").id)
            .await
            .unwrap()
    );
    assert_eq!(bed.admin().drain(&group("a"), 1).await.unwrap(), 1);
    let asked = ["discarded", "held", "drained", "unknown"].map(blob);
    let answers = bed.queue().held(&asked).await.unwrap();
    assert!(
        matches!(
            answers[..],
            [Held::Released(_), Held::Yes, Held::Released(_), Held::Never]
        ),
        "{answers:?}"
    );
    bed.queue().forget(&asked).await.unwrap();
    bed.queue().forget(&asked).await.unwrap();
    let answers = bed.queue().held(&asked).await.unwrap();
    assert_eq!(answers, [Held::Never, Held::Yes, Held::Never, Held::Never]);
    let lease = bed.claim_one().await;
    bed.complete(&lease).await;
    assert!(released(&bed, blob("held")).await);
}

/// B-09, T-05: a job holds bodies of its own tenant only.
pub async fn a_hold_belongs_to_its_tenant(fixture: &dyn Fixture) {
    let bed = Bed::open(fixture).await;
    bed.stage_new(&[&holding(1, "body")]).await;
    let theirs = BlobRef {
        tenant: tenant("globex"),
        hash: hash_of("body"),
    };
    assert_eq!(bed.held(theirs.clone()).await, Held::Never);
    bed.queue().forget(std::slice::from_ref(&theirs)).await.unwrap();
    assert_eq!(bed.held(blob("body")).await, Held::Yes);
    let lease = bed.claim_one().await;
    bed.complete(&lease).await;
    assert_eq!(bed.held(theirs.clone()).await, Held::Never);
    bed.queue().forget(&[theirs]).await.unwrap();
    assert!(released(&bed, blob("body")).await);
}
