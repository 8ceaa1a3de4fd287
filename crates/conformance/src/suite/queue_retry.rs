//! The failure ladder.
use crate::{
    Fixture,
    kit::{Bed, group, ids, job, millis, retry, secs, want},
};
use foldwright_ports::{Ladder, LeaseEnd, NewJob, Outcome, QueueSettings, Rest, Want};
use std::time::Duration;

async fn staged(bed: &Bed<'_>, jobs: u64) -> Vec<NewJob> {
    let jobs: Vec<_> = (0..jobs).map(|n| job(n, &group("a"))).collect();
    bed.stage_new(&jobs.iter().collect::<Vec<_>>()).await;
    jobs
}

/// The wait before attempt `failures + 1`, without its spread.
fn wait(ladder: Ladder, failures: u32) -> Duration {
    ladder
        .base
        .saturating_mul(2_u32.saturating_pow(failures - 1))
        .min(ladder.cap)
}

/// The group opens not before `low` and not after `high`.
async fn opens_between(bed: &Bed<'_>, low: Duration, high: Duration) {
    bed.elapse(low.saturating_sub(millis(1))).await;
    bed.nothing_is_claimable().await;
    bed.elapse(high.saturating_sub(low) + millis(2)).await;
}

/// 25 attempts with doubling waits, each within 10 %; then the group is blocked.
pub async fn the_ladder_doubles_and_ends_in_quarantine(fixture: &dyn Fixture) {
    let bed = Bed::open(fixture).await;
    let jobs = staged(&bed, 3).await;
    let ladder = bed.harness.settings.ladder;
    for attempt in 1..=ladder.attempts {
        let lease = bed.claim_one().await;
        assert_eq!(lease.attempt, attempt);
        assert_eq!(ids(&lease), jobs.iter().map(|job| job.id).collect::<Vec<_>>());
        bed.give_up(&lease, retry(&format!("boom {attempt}"))).await;
        if attempt < ladder.attempts {
            let view = bed.view(&group("a")).await.unwrap();
            assert_eq!(
                (view.failures, view.blocked_by, view.leased),
                (attempt, None, false)
            );
            assert_eq!(
                view.last_error.as_deref(),
                Some(format!("boom {attempt}").as_str())
            );
            assert_eq!(view.previous, LeaseEnd::Retried);
            let exact = wait(ladder, attempt);
            opens_between(&bed, exact * 9 / 10, exact * 11 / 10).await;
        }
    }
    let depth = bed.depth().await;
    assert_eq!((depth.waiting, depth.blocked, depth.dead), (0, 3, 0));
    bed.elapse(secs(7 * 24 * 60 * 60)).await;
    bed.nothing_is_claimable().await;
    let view = bed.view(&group("a")).await.unwrap();
    assert_eq!((view.failures, view.leased), (25, false));
    assert_eq!(view.blocked_by.as_deref(), Some("boom 25"));
}

/// an error's own wait is a floor, never a ceiling.
pub async fn a_floor_never_shortens_the_ladder(fixture: &dyn Fixture) {
    let bed = Bed::open(fixture).await;
    staged(&bed, 1).await;
    let asking = |wait| Rest::Retry {
        floor: Some(wait),
        error: "busy".into(),
    };
    let lease = bed.claim_one().await;
    bed.give_up(&lease, asking(secs(30))).await;
    opens_between(&bed, secs(30), secs(33)).await;
    for failures in 2..6 {
        let lease = bed.claim_one().await;
        bed.give_up(&lease, asking(millis(1))).await;
        let exact = wait(bed.harness.settings.ladder, failures);
        opens_between(&bed, exact * 9 / 10, exact * 11 / 10).await;
    }
    assert_eq!(bed.claim_one().await.attempt, 6);
}

/// its later jobs wait, other groups run, and no lease is held.
pub async fn a_backing_off_group_is_closed_and_holds_no_lease(fixture: &dyn Fixture) {
    let bed = Bed::open(fixture).await;
    let jobs = staged(&bed, 2).await;
    let single = Want {
        max_jobs_per_group: 1,
        ..want()
    };
    let lease = bed.claim_as(&single).await.pop().unwrap();
    bed.give_up(
        &lease,
        Rest::Retry {
            floor: Some(secs(60)),
            error: "boom".into(),
        },
    )
    .await;
    bed.stage_new(&[&job(9, &group("a")), &job(10, &group("b"))])
        .await;
    let depth = bed.depth().await;
    assert_eq!((depth.waiting, depth.leased), (4, 0));
    assert_eq!(bed.claim_one().await.group, group("b"));
    bed.nothing_is_claimable().await;
    bed.elapse(secs(61)).await;
    bed.reap().await;
    let lease = bed.claim_of(&group("a")).await;
    assert_eq!(ids(&lease), [jobs[0].id, jobs[1].id, job(9, &group("a")).id]);
}

/// one job done starts attempts and errors from zero.
pub async fn one_success_starts_from_zero(fixture: &dyn Fixture) {
    let bed = Bed::open(fixture).await;
    staged(&bed, 4).await;
    for _ in 0..5 {
        let lease = bed.claim_one().await;
        bed.give_up(&lease, retry("boom")).await;
        bed.elapse(secs(20)).await;
    }
    let lease = bed.claim_one().await;
    assert_eq!(lease.attempt, 6);
    bed.end(
        &lease,
        Outcome {
            done: 1,
            rest: Rest::Back,
        },
    )
    .await;
    let view = bed.view(&group("a")).await.unwrap();
    assert_eq!((view.failures, view.last_error), (0, None));
    let lease = bed.claim_one().await;
    assert_eq!((lease.attempt, lease.previous), (1, LeaseEnd::Completed));
    bed.end(
        &lease,
        Outcome {
            done: 1,
            rest: retry("boom"),
        },
    )
    .await;
    assert_eq!(bed.view(&group("a")).await.unwrap().failures, 1);
    let exact = wait(bed.harness.settings.ladder, 1);
    opens_between(&bed, exact * 9 / 10, exact * 11 / 10).await;
    assert_eq!(bed.claim_one().await.attempt, 2);
}

/// R-07, K-04: a full fresh ladder, however late; the failing job is first again.
pub async fn an_unblocked_group_has_a_fresh_ladder(fixture: &dyn Fixture) {
    let ladder = Ladder {
        attempts: 3,
        ..Ladder::default()
    };
    let settings = QueueSettings {
        ladder,
        ..QueueSettings::default()
    };
    for late in [secs(60), secs(7 * 24 * 60 * 60)] {
        let bed = Bed::open_with(fixture, &settings).await;
        let jobs = staged(&bed, 2).await;
        for life in 0..2 {
            for attempt in 1..=3 {
                let lease = bed.claim_one().await;
                assert_eq!((lease.attempt, ids(&lease)[0]), (attempt, jobs[0].id));
                bed.give_up(&lease, retry("boom")).await;
                if attempt < 3 {
                    assert_eq!(bed.depth().await.blocked, 0, "one failure more retries");
                    bed.elapse(secs(5)).await;
                }
            }
            assert_eq!(bed.depth().await.blocked, 2);
            bed.elapse(late).await;
            bed.nothing_is_claimable().await;
            assert!(bed.admin().unblock(&group("a")).await.unwrap(), "life {life}");
            assert_eq!(bed.view(&group("a")).await.unwrap().failures, 0);
            assert!(!bed.admin().unblock(&group("a")).await.unwrap());
        }
        assert_eq!(ids(&bed.claim_one().await), [jobs[0].id, jobs[1].id]);
    }
}

/// whatever emptied the group, a later job inherits no attempt.
pub async fn an_emptied_group_bequeaths_no_attempt(fixture: &dyn Fixture) {
    let error = || "bad".to_owned();
    for way in [
        "drained",
        "dead-lettered",
        "blocked and drained",
        "dead and discarded",
    ] {
        let bed = Bed::open(fixture).await;
        let old = staged(&bed, 1).await.remove(0);
        for _ in 0..3 {
            let lease = bed.claim_one().await;
            bed.give_up(&lease, retry("boom")).await;
            bed.elapse(secs(10)).await;
        }
        if way != "drained" {
            let lease = bed.claim_one().await;
            assert_eq!(lease.attempt, 4);
            let rest = if way == "blocked and drained" {
                Rest::Quarantine { error: error() }
            } else {
                Rest::DeadLetter { error: error() }
            };
            bed.give_up(&lease, rest).await;
        }
        if way.ends_with("drained") {
            assert_eq!(bed.admin().drain(&group("a"), 10).await.unwrap(), 1);
        }
        if way.ends_with("discarded") {
            assert!(bed.admin().discard(&group("a").tenant, old.id).await.unwrap());
        }
        bed.stage_new(&[&job(9, &group("a"))]).await;
        let view = bed.view(&group("a")).await.unwrap();
        assert_eq!((view.failures, view.blocked_by), (0, None), "{way}");
        let lease = bed.claim_one().await;
        assert_eq!((lease.attempt, lease.jobs.len()), (1, 1), "{way}");
        bed.give_up(&lease, retry("boom")).await;
        assert_eq!(bed.view(&group("a")).await.unwrap().failures, 1, "{way}");
    }
}

/// nor does it inherit the wait of the jobs that were drained.
pub async fn a_drained_group_is_open_for_new_jobs(fixture: &dyn Fixture) {
    let bed = Bed::open(fixture).await;
    staged(&bed, 1).await;
    let lease = bed.claim_one().await;
    let rest = Rest::Retry {
        floor: Some(secs(600)),
        error: "boom".into(),
    };
    bed.give_up(&lease, rest).await;
    assert_eq!(bed.admin().drain(&group("a"), 10).await.unwrap(), 1);
    bed.stage_new(&[&job(9, &group("a"))]).await;
    assert_eq!(ids(&bed.claim_one().await), [job(9, &group("a")).id]);
}

/// the count goes up and the job comes back in one step; what is given back otherwise spends nothing.
pub async fn only_a_failure_spends_an_attempt(fixture: &dyn Fixture) {
    let bed = Bed::open(fixture).await;
    staged(&bed, 2).await;
    let lease = bed.claim_one().await;
    bed.give_up(&lease, retry("boom")).await;
    bed.elapse(secs(1)).await;
    for rest in [
        Rest::Back,
        Rest::Defer {
            after: Duration::ZERO,
        },
        Rest::Release {
            floor: None,
            need: None,
        },
    ] {
        let lease = bed.claim_one().await;
        assert_eq!(lease.attempt, 2, "{rest:?}");
        bed.give_up(&lease, rest).await;
        bed.elapse(millis(1)).await;
    }
    bed.claim_one().await;
    bed.lapse().await;
    let lease = bed.claim_one().await;
    assert_eq!((lease.attempt, lease.previous), (2, LeaseEnd::Lapsed));
    bed.give_up(&lease, retry("boom")).await;
    let view = bed.view(&group("a")).await.unwrap();
    assert_eq!((view.failures, view.depth), (2, 2));
}

/// where one attempt is all there is, the first failure blocks.
pub async fn a_ladder_of_one_attempt_blocks_at_once(fixture: &dyn Fixture) {
    let ladder = Ladder {
        attempts: 1,
        ..Ladder::default()
    };
    let settings = QueueSettings {
        ladder,
        ..QueueSettings::default()
    };
    let bed = Bed::open_with(fixture, &settings).await;
    staged(&bed, 1).await;
    let lease = bed.claim_one().await;
    bed.give_up(&lease, retry("boom")).await;
    assert_eq!(bed.depth().await.blocked, 1);
}
