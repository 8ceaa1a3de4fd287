//! How much a queue holds before it refuses senders.
use crate::{
    Fixture,
    kit::{
        Bed, FOLD, JobExt, Seen, WORKER, all_of, group_of, job, retry, secs, settlement, tenant, up_to, want,
    },
};
use foldwright_ports::{NewJob, QueueBounds, QueueSettings, Rest, Room, Staged, TenantLimits, Want};

/// Job number `n` with 100 stored bytes.
fn sized(n: u64, owner: &str, key: &str) -> NewJob {
    let mut one = job(n, &group_of(owner, FOLD, key));
    one.header = vec![b'h'; 10].into();
    one.in_blob(&format!("{n}"), 90)
}

fn acme(n: u64) -> NewJob {
    sized(n, "acme", "a")
}

/// Each bound alone, so that four jobs of one group reach it.
fn bounds() -> [QueueBounds; 6] {
    let none = QueueBounds::NONE;
    [
        QueueBounds {
            group_jobs: Some(4),
            ..none
        },
        QueueBounds {
            group_bytes: Some(400),
            ..none
        },
        QueueBounds {
            tenant_jobs: Some(4),
            ..none
        },
        QueueBounds {
            tenant_bytes: Some(400),
            ..none
        },
        QueueBounds {
            jobs: Some(4),
            ..none
        },
        QueueBounds {
            bytes: Some(400),
            ..none
        },
    ]
}

async fn bounded(fixture: &dyn Fixture, bounds: QueueBounds) -> Bed<'_> {
    let settings = QueueSettings {
        bounds,
        ..QueueSettings::default()
    };
    Bed::open_with(fixture, &settings).await
}

/// A queue that four jobs have filled.
async fn full(fixture: &dyn Fixture, bounds: QueueBounds) -> Bed<'_> {
    let bed = bounded(fixture, bounds).await;
    bed.stage_new(&[&acme(0), &acme(1), &acme(2), &acme(3)]).await;
    bed
}

fn single() -> Want {
    Want {
        max_jobs_per_group: 1,
        ..up_to(1)
    }
}

/// at each bound, by jobs and by bytes; what is handed out still counts, what is done does not.
pub async fn a_full_queue_refuses_senders(fixture: &dyn Fixture) {
    for bounds in bounds() {
        let bed = full(fixture, bounds).await;
        bed.is_full_for(&[acme(9)]).await;
        let lease = bed.claim_as(&single()).await.remove(0);
        bed.is_full_for(&[acme(9)]).await;
        bed.complete(&lease).await;
        bed.stage_new(&[&acme(9)]).await;
        bed.is_full_for(&[acme(10)]).await;
        assert_eq!(bed.depth().await.waiting, 4, "nothing was evicted");
    }
}

/// a call that does not fit is refused whole, whatever fits of it; one that fits is not.
pub async fn a_call_that_does_not_fit_is_refused_whole(fixture: &dyn Fixture) {
    for bounds in bounds() {
        let bed = bounded(fixture, bounds).await;
        bed.stage_new(&[&acme(0), &acme(1), &acme(2)]).await;
        bed.is_full_for(&[sized(7, "acme", "a"), sized(8, "acme", "a")])
            .await;
        bed.is_full_for(&[acme(4), acme(5), acme(6), acme(7), acme(8)])
            .await;
        bed.stage_new(&[&acme(3)]).await;
    }
}

/// what is there already counts like new, and a repeated call has its first answer.
pub async fn a_known_job_needs_room_and_a_repeat_does_not(fixture: &dyn Fixture) {
    let bed = bounded(fixture, bounds()[4]).await;
    let nonce = bed.nonce();
    let jobs: Vec<_> = (0..4).map(acme).collect();
    let first = bed
        .queue()
        .stage(nonce, jobs.clone(), Room::Sender)
        .await
        .unwrap();
    assert_eq!(first, [Staged::New; 4]);
    bed.is_full_for(&[acme(0)]).await;
    let again = bed.queue().stage(nonce, jobs, Room::Sender).await.unwrap();
    assert_eq!(again, first);
}

/// Q-18, G6: a group's bound stops its group, a tenant's its tenant.
pub async fn a_bound_stops_only_whose_it_is(fixture: &dyn Fixture) {
    for (at, bounds) in bounds().into_iter().enumerate() {
        let bed = full(fixture, bounds).await;
        bed.is_full_for(&[acme(9)]).await;
        let (neighbour, foreign) = (sized(10, "acme", "b"), sized(11, "globex", "a"));
        match at {
            0 | 1 => {
                bed.is_full_for(&[neighbour.clone(), acme(9)]).await;
                bed.stage_new(&[&neighbour, &foreign]).await;
            }
            2 | 3 => {
                bed.is_full_for(std::slice::from_ref(&neighbour)).await;
                bed.is_full_for(&[foreign.clone(), neighbour]).await;
                bed.stage_new(&[&foreign]).await;
            }
            _ => {
                bed.is_full_for(&[neighbour]).await;
                bed.is_full_for(&[foreign]).await;
            }
        }
    }
}

/// a tenant's own limits stand in the place of the bound, above it or below.
pub async fn a_tenants_limits_replace_the_bound(fixture: &dyn Fixture) {
    let by_jobs = |jobs| TenantLimits {
        jobs: Some(jobs),
        ..TenantLimits::default()
    };
    let by_bytes = |bytes| TenantLimits {
        bytes: Some(bytes),
        ..TenantLimits::default()
    };
    let all = bounds();
    for (bounds, more, less) in [
        (all[2], by_jobs(6), by_jobs(1)),
        (all[3], by_bytes(600), by_bytes(100)),
    ] {
        let bed = full(fixture, bounds).await;
        bed.is_full_for(&[acme(9)]).await;
        bed.limit("acme", more).await;
        bed.stage_new(&[&acme(4), &acme(5)]).await;
        bed.is_full_for(&[acme(9)]).await;
        bed.limit("globex", less).await;
        bed.stage_new(&[&sized(1, "globex", "a")]).await;
        bed.is_full_for(&[sized(2, "globex", "b")]).await;
        bed.admin().limit(&tenant("globex"), None).await.unwrap();
        bed.stage_new(&[&sized(2, "globex", "b")]).await;
    }
}

/// near the watermark whoever holds more than its share is refused first, so that the others can send.
pub async fn near_the_watermark_the_largest_is_refused_first(fixture: &dyn Fixture) {
    let bounds = QueueBounds {
        bytes: Some(1_000),
        ..QueueBounds::NONE
    };
    let bed = bounded(fixture, bounds).await;
    let eight: Vec<_> = (0..8).map(acme).collect();
    bed.stage_new(&eight.iter().collect::<Vec<_>>()).await;
    bed.stage_new(&[&sized(1, "globex", "a")]).await;
    bed.is_full_for(&[acme(9)]).await;
    bed.stage_new(&[&sized(2, "globex", "b")]).await;
    bed.is_full_for(&[sized(3, "globex", "c")]).await;
    assert_eq!(bed.admin().drain(&acme(0).group, 5).await.unwrap(), 5);
    bed.stage_new(&[&acme(9)]).await;
}

/// staging on the account of a lease, following up, failing and deferring need no room.
pub async fn what_runs_under_a_lease_goes_on(fixture: &dyn Fixture) {
    for bounds in bounds() {
        let bed = full(fixture, bounds).await;
        let lease = bed.claim_as(&single()).await.remove(0);
        let staged = bed.queue().stage(bed.nonce(), vec![acme(4)], Room::Lease).await;
        assert_eq!(staged.unwrap(), [Staged::New]);
        bed.give_up(&lease, retry("boom")).await;
        bed.elapse(secs(1)).await;
        let lease = bed.claim_as(&single()).await.remove(0);
        let mut done = settlement(&lease, all_of(&lease));
        done.then = vec![acme(5), acme(6), acme(7)];
        let settled = bed.settle_next(vec![done], Some(&want())).await;
        assert_eq!(
            settled.verdicts.iter().map(crate::kit::seen).collect::<Vec<_>>(),
            [Seen::Applied]
        );
        assert_eq!(settled.next[0].jobs.len(), 7, "all are there");
        bed.is_full_for(&[acme(9)]).await;
        let after = secs(1);
        bed.give_up(&settled.next[0], Rest::Defer { after }).await;
        bed.elapse(secs(2)).await;
        bed.complete(&bed.claim_one().await).await;
        bed.stage_new(&[&acme(9)]).await;
    }
}

/// jobs of a blocked group count; what was completed, drained or given up does not.
pub async fn room_comes_back_with_what_is_gone(fixture: &dyn Fixture) {
    for bounds in bounds() {
        for way in ["done", "drained", "dead-lettered", "buried"] {
            let bed = full(fixture, bounds).await;
            let lease = bed.claim_one().await;
            let error = "bad".to_owned();
            if way == "done" {
                bed.complete(&lease).await;
            } else if way == "dead-lettered" {
                bed.give_up(&lease, Rest::DeadLetter { error }).await;
            } else {
                bed.give_up(&lease, Rest::Quarantine { error }).await;
                bed.is_full_for(&[acme(9)]).await;
                let gone = match way {
                    "drained" => bed.admin().drain(&lease.group, 2).await,
                    _ => bed.admin().bury(&lease.group, "given up", 2).await,
                };
                assert_eq!(gone.unwrap(), 2);
            }
            bed.stage_new(&[&acme(9)]).await;
            let view = bed.tenant_view("acme").await;
            let depth = bed.depth().await;
            let held = depth.waiting + depth.leased + depth.blocked;
            assert_eq!((view.jobs, view.bytes), (held, 100 * held), "{way}");
        }
    }
}

/// what is merged into a waiting job or known already takes no more room afterwards.
pub async fn what_is_merged_takes_no_room(fixture: &dyn Fixture) {
    let bed = bounded(
        fixture,
        QueueBounds {
            group_jobs: Some(3),
            ..QueueBounds::NONE
        },
    )
    .await;
    let merging = |n| acme(n).dedup(secs(60), false, false);
    for n in 0..10 {
        let staged = bed.stage(vec![merging(n)]).await;
        assert_eq!(staged, [if n == 0 { Staged::New } else { Staged::Squashed }]);
        assert_eq!(bed.stage(vec![merging(0)]).await, [Staged::Known]);
    }
    let view = bed.tenant_view("acme").await;
    assert_eq!((view.jobs, view.bytes), (1, 100));
    bed.stage_new(&[&acme(20), &acme(21)]).await;
    bed.is_full_for(&[merging(22)]).await;
    let lease = bed.queue().claim(bed.nonce(), WORKER, &want()).await.unwrap();
    assert_eq!(lease[0].jobs.len(), 3);
}
