//! Pauses of any scope.
use crate::{
    Fixture,
    kit::{
        Bed, COMMAND, FOLD, JobExt, MAP, SUBSCRIBER, Seen, WORKER, all_of, group, group_of, ids, job, millis,
        retry, route, secs, settlement, tenant, want,
    },
};
use foldwright_ports::{Capabilities, GroupId, Outcome, Rest, Scope, Want};
use std::{collections::BTreeSet, sync::Arc};

/// One group of each kind, in two tenants.
fn everything() -> Vec<GroupId> {
    let mut groups = Vec::new();
    for owner in ["acme", "globex"] {
        for of in [FOLD, MAP, COMMAND, SUBSCRIBER] {
            groups.push(group_of(owner, of, "a"));
        }
    }
    groups.push(group_of("acme", FOLD, "b"));
    groups
}

fn scopes() -> Vec<Scope> {
    vec![
        Scope::All,
        Scope::Pipeline("shop".into()),
        Scope::Kind("fold".into()),
        Scope::Kind("subscriber".into()),
        Scope::Route(route(COMMAND)),
        Scope::Tenant(tenant("acme")),
        Scope::Group(group_of("acme", FOLD, "a")),
    ]
}

/// Whether a group of the suites is in a scope.
fn covers(scope: &Scope, group: &GroupId) -> bool {
    match scope {
        Scope::Tenant(owner) => *owner == group.tenant,
        Scope::Group(one) => one == group,
        other => other.covers_route(&route(&format!("shop/{}", group.path))),
    }
}

/// F-13, Q-08: nothing in the scope starts, all outside does, and after the pause each runs in its order.
pub async fn a_pause_holds_exactly_its_scope(fixture: &dyn Fixture) {
    for scope in scopes() {
        let bed = Bed::open(fixture).await;
        bed.pause(&scope).await;
        let jobs = |group: &GroupId| {
            let at = everything().iter().position(|one| one == group).unwrap() as u64;
            [0, 1, 2].map(|n| job(10 * at + n, group))
        };
        for group in everything() {
            bed.stage_new(&jobs(&group).iter().collect::<Vec<_>>()).await;
        }
        let (held, free): (Vec<_>, Vec<_>) = everything().into_iter().partition(|g| covers(&scope, g));
        let handed = bed.claim().await;
        let got: BTreeSet<_> = handed.iter().map(|lease| lease.group.clone()).collect();
        assert_eq!(got, free.into_iter().collect(), "{scope}");
        for lease in &handed {
            bed.complete(lease).await;
        }
        bed.elapse(secs(7 * 24 * 60 * 60)).await;
        bed.reap().await;
        bed.nothing_is_claimable().await;
        assert_eq!(bed.waiting().await, 3 * held.len() as u64, "{scope}");
        bed.resume(&scope).await;
        let handed = bed.claim().await;
        assert_eq!(handed.len(), held.len(), "{scope}");
        for lease in handed {
            assert_eq!(ids(&lease), jobs(&lease.group).map(|job| job.id), "{scope}");
        }
    }
}

/// F-13: another pipeline, kind, name, tenant or group is none of its business.
pub async fn a_pause_elsewhere_holds_nothing(fixture: &dyn Fixture) {
    let bed = Bed::open(fixture).await;
    for scope in [
        Scope::Pipeline("other".into()),
        Scope::Kind("process".into()),
        Scope::Route(route("shop/fold/other")),
        Scope::Tenant(tenant("globex")),
        Scope::Group(group("b")),
        Scope::Group(group_of("acme", MAP, "a")),
    ] {
        bed.pause(&scope).await;
    }
    bed.stage_new(&[&job(1, &group("a"))]).await;
    assert_eq!(bed.claim_one().await.group, group("a"));
}

/// F-13: what runs may be extended, settled and followed; its chain claim gets nothing of the scope.
pub async fn what_is_in_flight_finishes(fixture: &dyn Fixture) {
    for scope in scopes()
        .into_iter()
        .filter(|scope| covers(scope, &everything()[0]))
    {
        let bed = Bed::open(fixture).await;
        let jobs = [0, 1, 2].map(|n| job(n, &everything()[0]));
        bed.stage_new(&[&jobs[0], &jobs[1]]).await;
        let single = Want {
            max_jobs_per_group: 1,
            ..want()
        };
        let lease = bed.claim_as(&single).await.remove(0);
        bed.pause(&scope).await;
        assert_eq!(bed.extend(&[lease.reference()]).await, [Seen::Applied], "{scope}");
        let mut done = settlement(&lease, all_of(&lease));
        done.then = vec![jobs[2].clone()];
        let settled = bed.settle_next(vec![done], Some(&want())).await;
        assert!(settled.next.is_empty(), "{scope}");
        assert_eq!(bed.waiting().await, 2, "{scope}");
        bed.resume(&scope).await;
        assert_eq!(ids(&bed.claim_one().await), [jobs[1].id, jobs[2].id], "{scope}");
    }
}

/// F-13, Q-14: a job whose route is paused is not passed, and what waits behind it keeps its place.
pub async fn a_batch_ends_at_a_paused_route(fixture: &dyn Fixture) {
    let bed = Bed::open(fixture).await;
    let jobs = [
        job(0, &group("a")),
        job(1, &group("a")).on(MAP),
        job(2, &group("a")),
    ];
    bed.stage_new(&[&jobs[0], &jobs[1], &jobs[2]]).await;
    bed.pause(&Scope::Route(route(MAP))).await;
    let lease = bed.claim_one().await;
    assert_eq!(ids(&lease), [jobs[0].id]);
    bed.complete(&lease).await;
    bed.nothing_is_claimable().await;
    bed.resume(&Scope::Route(route(MAP))).await;
    assert_eq!(ids(&bed.claim_one().await), [jobs[1].id, jobs[2].id]);
}

/// a paused group takes in an older job, which runs first once it goes on.
pub async fn an_older_job_takes_its_place_in_a_pause(fixture: &dyn Fixture) {
    let bed = Bed::open(fixture).await;
    let at = bed.now();
    bed.stage_new(&[&job(2, &group("a")).at(at)]).await;
    bed.pause(&Scope::Group(group("a"))).await;
    bed.stage_new(&[&job(1, &group("a")).at(at.minus(secs(60)))])
        .await;
    bed.nothing_is_claimable().await;
    bed.resume(&Scope::Group(group("a"))).await;
    assert_eq!(
        ids(&bed.claim_one().await),
        [1, 2].map(|n| job(n, &group("a")).id)
    );
}

/// F-13: a pause does not shorten a wait, and a wait that ends does not end a pause.
pub async fn a_pause_and_a_wait_hold_both(fixture: &dyn Fixture) {
    let bed = Bed::open(fixture).await;
    bed.stage_new(&[&job(1, &group("a"))]).await;
    let lease = bed.claim_one().await;
    let busy = Rest::Retry {
        floor: Some(secs(60)),
        error: "busy".into(),
    };
    bed.give_up(&lease, busy).await;
    bed.pause(&Scope::All).await;
    bed.resume(&Scope::All).await;
    bed.nothing_is_claimable().await;
    bed.pause(&Scope::Kind("fold".into())).await;
    bed.elapse(secs(67)).await;
    bed.nothing_is_claimable().await;
    bed.resume(&Scope::Kind("fold".into())).await;
    assert_eq!(bed.claim_one().await.attempt, 2);
}

/// F-13: each pause ends by itself; what another one covers stays.
pub async fn pauses_lie_over_each_other(fixture: &dyn Fixture) {
    let bed = Bed::open(fixture).await;
    bed.stage_new(&[&job(1, &group("a"))]).await;
    let all: Vec<_> = scopes()
        .into_iter()
        .filter(|scope| covers(scope, &group("a")))
        .collect();
    for scope in &all {
        bed.pause(scope).await;
    }
    let listed = bed.admin().pauses().await.unwrap();
    let mut sorted = all.clone();
    sorted.sort();
    let named: Vec<_> = listed.iter().map(|pause| pause.scope.clone()).collect();
    assert_eq!(named, sorted);
    for scope in &all {
        bed.nothing_is_claimable().await;
        bed.resume(scope).await;
    }
    assert_eq!(bed.claim_one().await.group, group("a"));
    assert_eq!(bed.admin().pauses().await.unwrap(), []);
}

/// F-13, K-18: pausing again keeps the first reason; ending what is not paused says so.
pub async fn a_pause_is_there_once(fixture: &dyn Fixture) {
    let bed = Bed::open(fixture).await;
    let scope = Scope::Tenant(tenant("acme"));
    assert!(!bed.admin().resume(&scope).await.unwrap());
    let since = bed.now();
    assert!(bed.admin().pause(&scope, "ann: import").await.unwrap());
    bed.elapse(secs(5)).await;
    assert!(!bed.admin().pause(&scope, "bob: upgrade").await.unwrap());
    let listed = bed.admin().pauses().await.unwrap();
    assert_eq!(listed.len(), 1);
    assert_eq!(
        (&listed[0].scope, listed[0].reason.as_str()),
        (&scope, "ann: import")
    );
    assert!(listed[0].since >= since && listed[0].since <= since.plus(millis(999)));
    assert!(
        !bed.admin()
            .resume(&Scope::Tenant(tenant("globex")))
            .await
            .unwrap()
    );
    assert!(!bed.admin().resume(&Scope::All).await.unwrap());
    bed.resume(&scope).await;
    assert!(!bed.admin().resume(&scope).await.unwrap());
}

/// F-15: whatever the envelope's version and wherever the body lies.
pub async fn a_pause_holds_every_envelope(fixture: &dyn Fixture) {
    let bed = Bed::open(fixture).await;
    let jobs: Vec<_> = [0, 1, 2, 7, 255]
        .into_iter()
        .map(|format| {
            let mut one = job(u64::from(format), &group(&format!("v{format}")));
            one.format = format;
            one.in_blob("nowhere", 40 << 20)
        })
        .collect();
    bed.stage_new(&jobs.iter().collect::<Vec<_>>()).await;
    let reads_all = Want {
        capabilities: Arc::new(Capabilities {
            routes: want().capabilities.routes.clone(),
            format: 255,
        }),
        ..want()
    };
    bed.pause(&Scope::Pipeline("shop".into())).await;
    assert!(bed.claim_as(&reads_all).await.is_empty());
    bed.elapse(secs(24 * 60 * 60)).await;
    bed.resume(&Scope::Pipeline("shop".into())).await;
    let leases = bed.claim_as(&reads_all).await;
    let handed: BTreeSet<_> = leases.iter().flat_map(ids).collect();
    assert_eq!(handed, jobs.iter().map(|job| job.id).collect());
}

/// F-13, Q-10: a repeated call answers as the first time, paused or not by now.
pub async fn a_pause_changes_no_repeated_answer(fixture: &dyn Fixture) {
    let bed = Bed::open(fixture).await;
    bed.stage_new(&[&job(1, &group("a")), &job(2, &group("b"))]).await;
    let nonce = bed.nonce();
    let first = bed.queue().claim(nonce, WORKER, &want()).await.unwrap();
    assert_eq!(first.len(), 2);
    bed.pause(&Scope::All).await;
    let again = bed.queue().claim(nonce, WORKER, &want()).await.unwrap();
    assert_eq!(again, first);
    bed.give_up(&first[0], retry("boom")).await;
    bed.elapse(secs(1)).await;
    let empty = bed.nonce();
    assert!(
        bed.queue()
            .claim(empty, WORKER, &want())
            .await
            .unwrap()
            .is_empty()
    );
    bed.resume(&Scope::All).await;
    assert!(
        bed.queue()
            .claim(empty, WORKER, &want())
            .await
            .unwrap()
            .is_empty()
    );
    assert_eq!(bed.claim_one().await.group, first[0].group);
}

/// F-13: every handle and every later process keeps to it.
pub async fn a_pause_outlives_the_process(fixture: &dyn Fixture) {
    let bed = Bed::open(fixture).await;
    bed.stage_new(&[&job(1, &group("a"))]).await;
    bed.pause(&Scope::Tenant(tenant("acme"))).await;
    let other = fixture.reopen(&bed.harness).await;
    let taken = other.queue.claim(bed.nonce(), WORKER, &want()).await.unwrap();
    assert!(taken.is_empty());
    drop(other);
    let bed = if fixture.declares().durable {
        bed.restart().await
    } else {
        bed
    };
    bed.nothing_is_claimable().await;
    bed.resume(&Scope::Tenant(tenant("acme"))).await;
    let lease = bed.claim_one().await;
    bed.end(&lease, Outcome::complete(1)).await;
}
