//! What a lease tells of those before it.
use crate::{
    Fixture,
    kit::{Bed, group, job, retry, secs},
};
use foldwright_ports::{LeaseEnd, Outcome, Rest};

/// Q-07, S-04: a successor learns how the lease before it ended.
pub async fn a_lease_tells_how_the_one_before_ended(fixture: &dyn Fixture) {
    let bed = Bed::open(fixture).await;
    let jobs: Vec<_> = (0..20).map(|n| job(n, &group("a"))).collect();
    bed.stage_new(&jobs.iter().collect::<Vec<_>>()).await;
    let error = || "boom".to_owned();
    let ends = [
        (Outcome::none(Rest::Back), LeaseEnd::Released),
        (
            Outcome::none(Rest::Release {
                floor: None,
                need: None,
            }),
            LeaseEnd::Released,
        ),
        (Outcome::none(retry("boom")), LeaseEnd::Retried),
        (Outcome::none(Rest::Defer { after: secs(1) }), LeaseEnd::Retried),
        (
            Outcome::none(Rest::DeadLetter { error: error() }),
            LeaseEnd::Retried,
        ),
        (
            Outcome {
                done: 1,
                rest: retry("boom"),
            },
            LeaseEnd::Completed,
        ),
        (
            Outcome {
                done: 1,
                rest: Rest::Back,
            },
            LeaseEnd::Completed,
        ),
        (
            Outcome {
                done: 1,
                rest: Rest::Release {
                    floor: None,
                    need: None,
                },
            },
            LeaseEnd::Completed,
        ),
        (
            Outcome {
                done: 1,
                rest: Rest::Quarantine { error: error() },
            },
            LeaseEnd::Completed,
        ),
        (
            Outcome::none(Rest::Quarantine { error: error() }),
            LeaseEnd::Retried,
        ),
    ];
    let mut previous = LeaseEnd::None;
    for (outcome, end) in ends {
        let lease = bed.claim_one().await;
        assert_eq!(lease.previous, previous);
        bed.end(&lease, outcome).await;
        assert_eq!(bed.view(&group("a")).await.unwrap().previous, end);
        previous = end;
        bed.admin().unblock(&group("a")).await.unwrap();
        bed.elapse(secs(2)).await;
    }
    let lease = bed.claim_one().await;
    assert_eq!(lease.previous, LeaseEnd::Retried);
    bed.lapse().await;
    let lease = bed.claim_one().await;
    assert_eq!(lease.previous, LeaseEnd::Lapsed);
    bed.complete(&lease).await;
    bed.stage_new(&[&job(99, &group("a"))]).await;
    assert_eq!(
        bed.claim_one().await.previous,
        LeaseEnd::None,
        "completed and forgotten"
    );
}

/// S-04, X-03: a group that was emptied in another way than by completing remembers its last lease.
pub async fn an_emptied_group_remembers_an_unfinished_lease(fixture: &dyn Fixture) {
    let bed = Bed::open(fixture).await;
    for (n, key) in (0..).zip(["drained", "dead", "lapsed"]) {
        bed.stage_new(&[&job(n, &group(key))]).await;
    }
    let leases = bed.claim().await;
    let of = |key: &str| leases.iter().find(|lease| lease.group == group(key)).unwrap();
    bed.give_up(of("drained"), retry("boom")).await;
    let dead = Rest::DeadLetter { error: "bad".into() };
    bed.give_up(of("dead"), dead).await;
    bed.lapse().await;
    for key in ["drained", "lapsed"] {
        assert_eq!(bed.admin().drain(&group(key), 10).await.unwrap(), 1);
    }
    for (n, key) in (10..).zip(["drained", "dead", "lapsed"]) {
        assert_eq!(bed.view(&group(key)).await, None);
        bed.stage_new(&[&job(n, &group(key))]).await;
    }
    bed.elapse(secs(60)).await;
    bed.reap().await;
    let leases = bed.claim().await;
    for (key, end) in [
        ("drained", LeaseEnd::Retried),
        ("dead", LeaseEnd::Retried),
        ("lapsed", LeaseEnd::Lapsed),
    ] {
        let lease = leases.iter().find(|lease| lease.group == group(key)).unwrap();
        assert_eq!((lease.previous, lease.attempt), (end, 1), "{key}");
    }
}

/// S-04, X-03: a successor learns which token completed last, however many leases ended otherwise since.
pub async fn a_lease_names_the_last_token_that_completed(fixture: &dyn Fixture) {
    let bed = Bed::open(fixture).await;
    let jobs: Vec<_> = (0..9).map(|n| job(n, &group("a"))).collect();
    bed.stage_new(&jobs.iter().collect::<Vec<_>>()).await;
    let ends = [
        (0, retry("boom")),
        (2, Rest::Back),
        (0, Rest::Back),
        (0, retry("boom")),
        (1, retry("boom")),
        (0, Rest::DeadLetter { error: "bad".into() }),
        (0, Rest::Quarantine { error: "bad".into() }),
    ];
    let mut completed = None;
    for (done, rest) in ends {
        let lease = bed.claim_one().await;
        assert_eq!(lease.completed, completed, "before {rest:?}");
        bed.end(&lease, Outcome { done, rest }).await;
        if done > 0 {
            completed = Some(lease.fence);
        }
        bed.admin().unblock(&group("a")).await.unwrap();
        bed.elapse(secs(2)).await;
    }
    bed.claim_one().await;
    bed.lapse().await;
    let drained = bed.admin().drain(&group("a"), 100).await.unwrap();
    assert_eq!(drained, 5);
    bed.stage_new(&[&job(50, &group("a"))]).await;
    let lease = bed.claim_one().await;
    assert_eq!(
        (lease.previous, lease.completed),
        (LeaseEnd::Lapsed, completed),
        "kept for as long as the previous end is"
    );
    bed.complete(&lease).await;
    bed.stage_new(&[&job(51, &group("a"))]).await;
    let anew = bed.claim_one().await;
    assert_eq!(
        anew.completed,
        Some(lease.fence),
        "forgotten because all of it was completed"
    );
    bed.end(
        &anew,
        Outcome {
            done: 0,
            rest: Rest::Back,
        },
    )
    .await;
    assert_eq!(
        bed.claim_one().await.completed,
        Some(lease.fence),
        "nothing was completed since"
    );
}

/// S-04, X-03: a group that is new, or was forgotten, is accounted for up to the last token given when it was staged
/// into, however many were given before its first lease.
pub async fn a_new_group_is_accounted_for_up_to_the_last_token(fixture: &dyn Fixture) {
    let bed = Bed::open(fixture).await;
    bed.stage_new(&[&job(1, &group("first"))]).await;
    let first = bed.claim_one().await;
    assert_eq!(first.completed, None, "no token was given before");
    bed.stage_new(&[&job(2, &group("a")), &job(3, &group("a"))]).await;
    bed.complete(&first).await;
    bed.stage_new(&[&job(4, &group("other"))]).await;
    let leases = bed.claim().await;
    let of = |key: &str| leases.iter().find(|lease| lease.group == group(key)).unwrap();
    assert_eq!(of("a").completed, Some(first.fence));
    assert_eq!(of("other").completed, Some(first.fence));
    bed.give_up(of("a"), Rest::Back).await;
    let again = bed.claim_one().await;
    assert_eq!(
        again.completed,
        Some(first.fence),
        "until one of its leases completes"
    );
    let one = Outcome {
        done: 1,
        rest: Rest::Back,
    };
    bed.end(&again, one).await;
    let third = bed.claim_one().await;
    assert_eq!(third.completed, Some(again.fence));
    bed.complete(&third).await;
    bed.stage_new(&[&job(5, &group("a"))]).await;
    let anew = bed.claim_one().await;
    assert_eq!(
        (anew.previous, anew.completed),
        (LeaseEnd::None, Some(third.fence))
    );
}
