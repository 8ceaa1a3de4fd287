//! Failures in a row, whatever job they are at.
use crate::{
    Fixture,
    kit::{Bed, JobExt, group, ids, job, retry, secs, want},
};
use foldwright_ports::{Lease, NewJob, Outcome, QueueSettings, Rest, Want};

fn with_streak(streak: u32) -> QueueSettings {
    QueueSettings {
        streak,
        ..QueueSettings::default()
    }
}

/// A job that comes before all of the group's jobs with a lower number.
fn head(bed: &Bed<'_>, n: u64) -> NewJob {
    job(n, &group("a")).at(bed.now().minus(secs(60 * n)))
}

/// Fails the first job of the group, each time another one, `times` times; the number of the first is `from`.
async fn fail_heads(bed: &Bed<'_>, from: u64, times: u64, error: &str) {
    for n in from..from + times {
        let fresh = head(bed, n);
        bed.stage_new(&[&fresh]).await;
        bed.elapse(secs(1)).await;
        let lease = bed.claim_one().await;
        assert_eq!(
            (ids(&lease)[0], lease.attempt),
            (fresh.id, 1),
            "a count of its own"
        );
        bed.give_up(&lease, retry(error)).await;
        bed.elapse(secs(1)).await;
    }
}

async fn blocked_by(bed: &Bed<'_>) -> Option<String> {
    bed.view(&group("a")).await.unwrap().blocked_by
}

/// fresh heads hide no failing group; the error names the streak and the last one.
pub async fn a_streak_over_many_jobs_quarantines(fixture: &dyn Fixture) {
    let bed = Bed::open_with(fixture, &with_streak(7)).await;
    fail_heads(&bed, 1, 6, "boom").await;
    assert_eq!(blocked_by(&bed).await, None);
    fail_heads(&bed, 7, 1, "last straw").await;
    let error = blocked_by(&bed).await.expect("it is quarantined");
    assert!(error.contains('7') && error.contains("last straw"), "{error}");
    let depth = bed.depth().await;
    assert_eq!((depth.blocked, depth.waiting), (7, 0), "no job is lost");
    bed.elapse(secs(7 * 24 * 60 * 60)).await;
    bed.nothing_is_claimable().await;
    let listed = bed
        .admin()
        .blocked(None, None, foldwright_ports::Limits::items(9));
    let listed = listed.await.unwrap().items;
    assert_eq!((listed.len(), listed[0].error.as_str()), (1, error.as_str()));
    assert_eq!(listed[0].job, job(7, &group("a")).id);
}

/// 0 switches it off.
pub async fn no_streak_is_no_bound(fixture: &dyn Fixture) {
    let bed = Bed::open_with(fixture, &with_streak(0)).await;
    fail_heads(&bed, 1, 40, "boom").await;
    assert_eq!(blocked_by(&bed).await, None);
    assert_eq!(bed.waiting().await, 40);
}

/// one job done, and the streak starts from zero.
pub async fn a_success_ends_a_streak(fixture: &dyn Fixture) {
    let bed = Bed::open_with(fixture, &with_streak(4)).await;
    for round in 0..3 {
        fail_heads(&bed, 10 * round + 1, 3, "boom").await;
        let done = 1;
        let lease = bed.claim_one().await;
        bed.end(
            &lease,
            Outcome {
                done,
                rest: Rest::Back,
            },
        )
        .await;
        assert_eq!(blocked_by(&bed).await, None, "round {round}");
    }
    fail_heads(&bed, 50, 3, "boom").await;
    let lease = bed.claim_one().await;
    let done = 1;
    bed.end(
        &lease,
        Outcome {
            done,
            rest: retry("boom"),
        },
    )
    .await;
    bed.elapse(secs(1)).await;
    fail_heads(&bed, 60, 2, "boom").await;
    assert_eq!(blocked_by(&bed).await, None);
    fail_heads(&bed, 70, 1, "boom").await;
    assert!(blocked_by(&bed).await.is_some());
}

/// no way of starting anew leaves anything of a streak behind.
pub async fn what_starts_anew_has_no_streak(fixture: &dyn Fixture) {
    for way in ["unblocked", "drained", "dead-lettered", "requeued"] {
        let bed = Bed::open_with(fixture, &with_streak(4)).await;
        fail_heads(&bed, 1, 3, "boom").await;
        let error = || "bad".to_owned();
        if way == "drained" {
            assert_eq!(bed.admin().drain(&group("a"), 100).await.unwrap(), 3);
        } else {
            let lease = bed.claim_one().await;
            let rest = match way {
                "unblocked" => Rest::Quarantine { error: error() },
                _ => Rest::DeadLetter { error: error() },
            };
            bed.give_up(&lease, rest).await;
        }
        if way == "unblocked" {
            assert!(bed.admin().unblock(&group("a")).await.unwrap());
        }
        if way == "requeued" {
            fail_heads(&bed, 10, 3, "boom").await;
            let dead = job(3, &group("a")).id;
            assert!(bed.admin().requeue(&group("a").tenant, dead).await.unwrap());
        }
        fail_heads(&bed, 20, 3, "boom").await;
        assert_eq!(blocked_by(&bed).await, None, "{way}");
        fail_heads(&bed, 30, 1, "boom").await;
        assert!(blocked_by(&bed).await.is_some(), "{way}");
    }
}

/// attempts are counted at the job that failed, not at the one before it.
pub async fn attempts_belong_to_the_job_that_failed(fixture: &dyn Fixture) {
    let bed = Bed::open(fixture).await;
    let old = head(&bed, 1);
    bed.stage_new(&[&old]).await;
    let single = Want {
        max_jobs_per_group: 1,
        ..want()
    };
    let next = async |bed: &Bed<'_>| -> Lease { bed.claim_as(&single).await.remove(0) };
    for attempt in 1..=4 {
        let lease = next(&bed).await;
        assert_eq!(lease.attempt, attempt);
        bed.give_up(&lease, retry("boom")).await;
        bed.elapse(secs(10)).await;
    }
    let older = head(&bed, 5);
    bed.stage_new(&[&older]).await;
    assert_eq!(
        bed.view(&group("a")).await.unwrap().failures,
        0,
        "it has not failed"
    );
    let lease = next(&bed).await;
    assert_eq!((ids(&lease), lease.attempt), (vec![older.id], 1));
    bed.give_up(&lease, retry("boom")).await;
    let view = bed.view(&group("a")).await.unwrap();
    assert_eq!((view.failures, view.jobs), (1, vec![older.id, old.id]));
    bed.elapse(secs(1)).await;
    let lease = next(&bed).await;
    assert_eq!((ids(&lease), lease.attempt), (vec![older.id], 2));
}
