//! Groups that kill their workers.
use crate::{
    Fixture,
    kit::{Bed, LEASE, WORKER, group, ids, job, retry, secs, up_to, want},
};
use foldwright_ports::{GroupId, Lease, Outcome, QueueSettings, Reaped, Rest, WARY_WAIT, WorkerId};
use std::{collections::BTreeSet, time::Duration};

/// How long the records of the suite's workers live.
const TTL: Duration = secs(10);

/// Long enough for a silence to be confirmed.
const SILENCE: Duration = secs(11);

fn with_deaths(deaths: u32) -> QueueSettings {
    QueueSettings {
        deaths,
        ..QueueSettings::default()
    }
}

fn worker(n: u64) -> WorkerId {
    WorkerId(0x1000 + u128::from(n))
}

fn reaped(lapsed: usize, deaths: usize, poisoned: usize) -> Reaped {
    Reaped {
        lapsed,
        deaths,
        poisoned,
    }
}

/// A fresh worker takes one group and is not heard of again until its lease is reaped.
async fn taken_and_lost(bed: &Bed<'_>, n: u64) -> Lease {
    bed.beat(worker(n), TTL).await;
    let lease = bed.claim_by(worker(n), &up_to(1)).await.remove(0);
    bed.elapse(LEASE + secs(1)).await;
    assert_eq!(bed.reaped().await, reaped(1, 0, 0), "not confirmed yet");
    lease
}

/// The same, and the silence goes on until it is a death.
async fn killed(bed: &Bed<'_>, n: u64) -> Reaped {
    taken_and_lost(bed, n).await;
    bed.elapse(SILENCE).await;
    bed.reaped().await
}

async fn blocked_by(bed: &Bed<'_>, group: &GroupId) -> Option<String> {
    bed.view(group).await.unwrap().blocked_by
}

/// after so many confirmed deaths it is quarantined unread, with the count; its jobs stay and others run.
pub async fn a_group_that_kills_its_workers_is_quarantined(fixture: &dyn Fixture) {
    for deaths in [1, 2, 3] {
        let bed = Bed::open_with(fixture, &with_deaths(deaths)).await;
        bed.stage_new(&[&job(1, &group("a")), &job(2, &group("a"))]).await;
        for n in 1..=deaths {
            assert_eq!(blocked_by(&bed, &group("a")).await, None);
            let poisoned = usize::from(n == deaths);
            assert_eq!(killed(&bed, u64::from(n)).await, reaped(0, 1, poisoned));
        }
        let error = blocked_by(&bed, &group("a")).await.expect("it is quarantined");
        assert!(error.contains(&deaths.to_string()), "{error}");
        let depth = bed.depth().await;
        assert_eq!((depth.blocked, depth.waiting, depth.leased), (2, 0, 0));
        bed.stage_new(&[&job(3, &group("b"))]).await;
        assert_eq!(bed.claim_one().await.group, group("b"));
        bed.nothing_is_claimable().await;
    }
}

/// 0 switches it off.
pub async fn no_number_of_deaths_is_no_bound(fixture: &dyn Fixture) {
    let bed = Bed::open_with(fixture, &with_deaths(0)).await;
    bed.stage_new(&[&job(1, &group("a"))]).await;
    for n in 0..6 {
        assert_eq!(killed(&bed, n).await.poisoned, 0);
    }
    assert_eq!(ids(&bed.claim_one().await), [job(1, &group("a")).id]);
}

/// one death is a death of each group that the worker held.
pub async fn a_death_counts_for_each_group(fixture: &dyn Fixture) {
    let bed = Bed::open_with(fixture, &with_deaths(1)).await;
    bed.stage_new(&[&job(1, &group("a")), &job(2, &group("b")), &job(3, &group("c"))])
        .await;
    bed.beat(worker(1), TTL).await;
    assert_eq!(bed.claim_by(worker(1), &up_to(2)).await.len(), 2);
    bed.elapse(LEASE + secs(1)).await;
    assert_eq!(bed.reaped().await, reaped(2, 0, 0));
    bed.elapse(SILENCE).await;
    assert_eq!(bed.reaped().await, reaped(0, 2, 2));
    assert_eq!(bed.depth().await.blocked, 2);
    assert_eq!(bed.reaped().await, reaped(0, 0, 0), "a death is counted once");
}

/// one success and the count starts from zero.
pub async fn a_success_forgets_deaths(fixture: &dyn Fixture) {
    let bed = Bed::open_with(fixture, &with_deaths(2)).await;
    let jobs: Vec<_> = (0..9).map(|n| job(n, &group("a"))).collect();
    bed.stage_new(&jobs.iter().collect::<Vec<_>>()).await;
    for n in 0..4 {
        assert_eq!(killed(&bed, n).await, reaped(0, 1, 0), "round {n}");
        let lease = bed.claim_one().await;
        let done = Outcome {
            done: 1,
            rest: Rest::Back,
        };
        bed.end(&lease, done).await;
    }
    assert_eq!(killed(&bed, 8).await, reaped(0, 1, 0));
    assert_eq!(killed(&bed, 9).await, reaped(0, 1, 1));
}

/// nor does an operator's fresh start leave any behind.
pub async fn what_starts_anew_has_no_deaths(fixture: &dyn Fixture) {
    for way in ["unblocked", "drained", "dead-lettered"] {
        let bed = Bed::open_with(fixture, &with_deaths(2)).await;
        bed.stage_new(&[&job(1, &group("a"))]).await;
        assert_eq!(killed(&bed, 1).await, reaped(0, 1, 0));
        match way {
            "unblocked" => {
                assert_eq!(killed(&bed, 2).await, reaped(0, 1, 1));
                assert!(bed.admin().unblock(&group("a")).await.unwrap());
            }
            "drained" => assert_eq!(bed.admin().drain(&group("a"), 9).await.unwrap(), 1),
            _ => {
                let lease = bed.claim_one().await;
                let error = "bad".to_owned();
                bed.give_up(&lease, Rest::DeadLetter { error }).await;
            }
        }
        if way != "unblocked" {
            bed.stage_new(&[&job(2, &group("a"))]).await;
        }
        assert_eq!(killed(&bed, 3).await, reaped(0, 1, 0), "{way}");
        assert_eq!(blocked_by(&bed, &group("a")).await, None, "{way}");
        assert_eq!(killed(&bed, 4).await, reaped(0, 1, 1), "{way}");
    }
}

/// under another lease by then, it is quarantined when that ends without a success, and not after one.
pub async fn a_leased_group_is_quarantined_when_its_lease_ends(fixture: &dyn Fixture) {
    for way in ["failed", "given back", "done"] {
        let bed = Bed::open_with(fixture, &with_deaths(1)).await;
        bed.live().await;
        bed.stage_new(&[&job(1, &group("a")), &job(2, &group("a"))]).await;
        taken_and_lost(&bed, 1).await;
        let lease = bed.claim_one().await;
        bed.elapse(SILENCE).await;
        assert_eq!(bed.reaped().await.deaths, 1, "{way}");
        assert!(bed.view(&group("a")).await.unwrap().leased, "its lease lives on");
        match way {
            "failed" => bed.give_up(&lease, retry("boom")).await,
            "given back" => bed.give_up(&lease, Rest::Back).await,
            _ => {
                let done = 1;
                bed.end(
                    &lease,
                    Outcome {
                        done,
                        rest: Rest::Back,
                    },
                )
                .await;
            }
        }
        let error = blocked_by(&bed, &group("a")).await;
        assert_eq!(error.is_some(), way != "done", "{way}: {error:?}");
        if way == "done" {
            assert_eq!(ids(&bed.claim_one().await), [job(2, &group("a")).id]);
        } else {
            assert_eq!(bed.depth().await.blocked, 2, "{way}");
        }
    }
}

/// a stop in good order, a slow worker, one that is heard of again, a success in between: no deaths.
pub async fn only_a_confirmed_silence_is_a_death(fixture: &dyn Fixture) {
    for way in [
        "goodbye",
        "slow but alive",
        "beats again",
        "goodbye later",
        "done by another",
    ] {
        let bed = Bed::open_with(fixture, &with_deaths(1)).await;
        let jobs: Vec<_> = (0..8).map(|n| job(n, &group("a"))).collect();
        bed.stage_new(&jobs.iter().collect::<Vec<_>>()).await;
        for n in 0..5 {
            let me = worker(n);
            bed.beat(me, TTL).await;
            assert_eq!(bed.claim_by(me, &up_to(1)).await.len(), 1, "{way}");
            if way == "goodbye" {
                bed.queue().goodbye(me).await.unwrap();
            }
            if way == "slow but alive" {
                for _ in 0..5 {
                    bed.elapse(secs(7)).await;
                    bed.beat(me, TTL).await;
                }
            } else {
                bed.elapse(LEASE + secs(1)).await;
            }
            assert_eq!(bed.reaped().await, reaped(1, 0, 0), "{way}");
            match way {
                "beats again" | "slow but alive" => bed.beat(me, secs(600)).await,
                "goodbye later" => bed.queue().goodbye(me).await.unwrap(),
                "done by another" => {
                    let lease = bed.claim_one().await;
                    let done = 1;
                    bed.end(
                        &lease,
                        Outcome {
                            done,
                            rest: Rest::Back,
                        },
                    )
                    .await;
                }
                _ => {}
            }
            bed.elapse(SILENCE).await;
            assert_eq!(bed.reaped().await, reaped(0, 0, 0), "{way}");
        }
        assert_eq!(blocked_by(&bed, &group("a")).await, None, "{way}");
        bed.claim_one().await;
    }
}

/// nor does a jump of the clock, which ends leases and records alike, or a worker that takes back its own.
pub async fn a_jump_of_the_clock_is_no_death(fixture: &dyn Fixture) {
    let bed = Bed::open_with(fixture, &with_deaths(1)).await;
    bed.stage_new(&[&job(1, &group("a"))]).await;
    for _ in 0..4 {
        bed.beat(worker(1), TTL).await;
        assert_eq!(bed.claim_by(worker(1), &up_to(1)).await.len(), 1);
        bed.elapse(secs(24 * 60 * 60)).await;
        assert_eq!(bed.reaped().await, reaped(1, 0, 0));
        bed.elapse(secs(2)).await;
        bed.beat(worker(1), secs(60)).await;
        bed.elapse(SILENCE).await;
        assert_eq!(bed.reaped().await, reaped(0, 0, 0));
    }
    assert_eq!(bed.claim_by(worker(1), &want()).await.len(), 1);
}

/// errors are no deaths.
pub async fn failing_is_not_dying(fixture: &dyn Fixture) {
    let bed = Bed::open_with(fixture, &with_deaths(1)).await;
    bed.stage_new(&[&job(1, &group("a"))]).await;
    for n in 0..6 {
        bed.beat(worker(n), TTL).await;
        let lease = bed.claim_by(worker(n), &up_to(1)).await.remove(0);
        bed.give_up(&lease, retry("boom")).await;
        bed.elapse(secs(60)).await;
        assert_eq!(bed.reaped().await, reaped(0, 0, 0));
    }
    assert_eq!(bed.claim_one().await.attempt, 7);
}

/// until it succeeds, a group whose worker fell silent is the only one of its claim.
pub async fn a_wary_group_comes_alone(fixture: &dyn Fixture) {
    let bed = Bed::open(fixture).await;
    bed.live().await;
    bed.stage_new(&[&job(0, &group("wary")), &job(9, &group("wary"))])
        .await;
    taken_and_lost(&bed, 1).await;
    for n in 1..5 {
        bed.stage_new(&[&job(n, &group(&format!("g{n}")))]).await;
    }
    let mut handed = BTreeSet::new();
    let mut wary = None;
    for _ in 0..9 {
        let leases = bed.claim().await;
        if leases.iter().any(|lease| lease.group == group("wary")) {
            assert_eq!(leases.len(), 1, "it comes alone: {leases:?}");
            wary = leases.first().cloned();
        }
        handed.extend(leases.into_iter().map(|lease| lease.group));
    }
    assert_eq!(handed.len(), 5, "and keeps nobody from running");
    let done = 1;
    bed.end(
        &wary.unwrap(),
        Outcome {
            done,
            rest: Rest::Back,
        },
    )
    .await;
    bed.stage_new(&[&job(20, &group("other"))]).await;
    assert_eq!(bed.claim().await.len(), 2, "after a success it is like any other");
}

/// of two groups that were in hand when a worker died, one worker never has both in hand again: the one that kills
/// takes the other down once at most.
pub async fn wary_groups_are_never_in_hand_together(fixture: &dyn Fixture) {
    let bed = Bed::open(fixture).await;
    bed.live().await;
    bed.stage_new(&[&job(1, &group("a")), &job(2, &group("b"))]).await;
    bed.beat(worker(2), TTL).await;
    assert_eq!(bed.claim_by(worker(2), &want()).await.len(), 2);
    bed.elapse(LEASE + secs(1)).await;
    assert_eq!(bed.reaped().await, reaped(2, 0, 0));
    let first = bed.claim().await;
    assert_eq!(first.len(), 1);
    assert!(bed.claim().await.is_empty(), "the other one is put off");
    bed.elapse(WARY_WAIT).await;
    assert!(
        bed.claim().await.is_empty(),
        "for as long as the first is in hand"
    );
    bed.end(&first[0], Outcome::complete(1)).await;
    bed.elapse(WARY_WAIT).await;
    let second = bed.claim().await;
    assert_eq!(second.len(), 1);
    assert_ne!(second[0].group, first[0].group);
}

/// a group that lapsed under a worker that said goodbye or lives is not wary.
pub async fn without_a_silence_no_group_is_wary(fixture: &dyn Fixture) {
    for goodbye in [true, false] {
        let bed = Bed::open(fixture).await;
        bed.stage_new(&[&job(1, &group("a")), &job(2, &group("b"))]).await;
        bed.beat(worker(1), secs(600)).await;
        assert_eq!(bed.claim_by(worker(1), &want()).await.len(), 2);
        if goodbye {
            bed.queue().goodbye(worker(1)).await.unwrap();
        }
        assert_eq!(bed.lapse().await, 2);
        assert_eq!(bed.claim_by(WORKER, &want()).await.len(), 2);
    }
}
