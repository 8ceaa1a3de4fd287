//! Jobs that a worker does not know.
use crate::{
    Fixture,
    kit::{Bed, FOLD, JobExt, MAP, group, ids, job, route, secs, want},
};
use foldwright_ports::{Capabilities, Capability, Want};
use std::sync::Arc;

const STRANGE: &str = "shop/map/strange";

fn knowing(routes: &[&str], format: u8) -> Want {
    let routes = routes.iter().map(|text| (route(text), Capability { version: 1 }));
    Want {
        capabilities: Arc::new(Capabilities {
            routes: routes.collect(),
            format,
        }),
        ..want()
    }
}

/// C-14, S-12: it waits, unharmed, for a worker that knows it; others run.
pub async fn an_unknown_route_waits_for_its_worker(fixture: &dyn Fixture) {
    let bed = Bed::open(fixture).await;
    let strange = job(1, &group("a")).on(STRANGE);
    bed.stage_new(&[&strange, &job(2, &group("b"))]).await;
    let lease = bed.claim_one().await;
    assert_eq!(lease.group, group("b"));
    bed.complete(&lease).await;
    bed.elapse(secs(7 * 24 * 60 * 60)).await;
    bed.reap().await;
    bed.nothing_is_claimable().await;
    assert_eq!(bed.waiting().await, 1);
    let leases = bed.claim_as(&knowing(&[STRANGE], 1)).await;
    assert_eq!(leases.len(), 1);
    assert_eq!(ids(&leases[0]), [strange.id]);
    assert_eq!(leases[0].attempt, 1);
}

/// B-21, B-22: a worker gets no envelope that is newer than it reads.
pub async fn a_newer_format_waits_for_a_newer_worker(fixture: &dyn Fixture) {
    let bed = Bed::open(fixture).await;
    let mut newer = job(1, &group("a"));
    newer.format = 2;
    let mut old = job(2, &group("b"));
    old.format = 0;
    bed.stage_new(&[&newer, &old]).await;
    let lease = bed.claim_one().await;
    assert_eq!(lease.group, group("b"), "older formats are read for ever");
    bed.nothing_is_claimable().await;
    let leases = bed.claim_as(&knowing(&[FOLD], 2)).await;
    assert_eq!(leases.len(), 1);
    assert_eq!(leases[0].jobs[0].format, 2);
}

/// C-14: it ends the batch, because the jobs behind it must not pass it.
pub async fn an_unknown_job_ends_the_batch(fixture: &dyn Fixture) {
    for newer_format in [false, true] {
        let bed = Bed::open(fixture).await;
        let mut jobs: Vec<_> = (0..5).map(|n| job(n, &group("a"))).collect();
        if newer_format {
            jobs[2].format = 2;
        } else {
            jobs[2] = job(2, &group("a")).on(STRANGE);
        }
        bed.stage_new(&jobs.iter().collect::<Vec<_>>()).await;
        let lease = bed.claim_one().await;
        assert_eq!(ids(&lease), [jobs[0].id, jobs[1].id]);
        bed.complete(&lease).await;
        bed.nothing_is_claimable().await;
        let leases = bed.claim_as(&knowing(&[FOLD, STRANGE], 2)).await;
        assert_eq!(ids(&leases[0]), [jobs[2].id, jobs[3].id, jobs[4].id]);
    }
}

/// C-14: one that is not due yet is passed, known or not.
pub async fn a_delayed_unknown_job_is_passed(fixture: &dyn Fixture) {
    let bed = Bed::open(fixture).await;
    let strange = job(1, &group("a")).on(STRANGE).delayed(secs(60));
    let follower = job(2, &group("a"));
    bed.stage_new(&[&strange, &follower]).await;
    let lease = bed.claim_one().await;
    assert_eq!(ids(&lease), [follower.id]);
    bed.complete(&lease).await;
    bed.stage_new(&[&job(3, &group("a"))]).await;
    bed.elapse(secs(61)).await;
    bed.nothing_is_claimable().await;
    assert_eq!(bed.waiting().await, 2);
}

/// C-13, C-14: a worker gets its own routes alone, and any of several in one group.
pub async fn a_worker_gets_only_the_routes_it_knows(fixture: &dyn Fixture) {
    let bed = Bed::open(fixture).await;
    let routes = [FOLD, MAP, STRANGE];
    for (n, of) in (0..).zip(routes) {
        bed.stage_new(&[&job(n, &group(of)).on(of), &job(n + 10, &group("mixed")).on(of)])
            .await;
    }
    assert!(bed.claim_as(&knowing(&[], 1)).await.is_empty());
    assert!(bed.claim_as(&knowing(&["shop/fold/other"], 9)).await.is_empty());
    let maps = bed.claim_as(&knowing(&[MAP], 1)).await;
    assert_eq!(
        maps.iter().map(|lease| &lease.group).collect::<Vec<_>>(),
        [&group(MAP)]
    );
    let both = bed.claim_as(&knowing(&[FOLD, MAP], 1)).await;
    let mixed = both.iter().find(|lease| lease.group == group("mixed")).unwrap();
    let handed: Vec<_> = mixed.jobs.iter().map(|job| job.route.as_str()).collect();
    assert_eq!(handed, [FOLD, MAP]);
    assert_eq!(both.len(), 2);
}

/// C-14: stranded groups are not in the way of those behind them.
pub async fn stranded_groups_do_not_fill_a_claim(fixture: &dyn Fixture) {
    let bed = Bed::open(fixture).await;
    for n in 0..300 {
        bed.stage_new(&[&job(n, &group(&format!("s{n}"))).on(STRANGE)])
            .await;
    }
    bed.elapse(secs(1)).await;
    bed.stage_new(&[&job(1_000, &group("known"))]).await;
    let one = Want {
        max_groups: 1,
        ..want()
    };
    let leases = bed.claim_as(&one).await;
    assert_eq!(leases.len(), 1);
    assert_eq!(leases[0].group, group("known"));
}
