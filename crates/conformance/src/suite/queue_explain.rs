//! Why a group or a job does not run.
use crate::{
    Fixture,
    kit::{Bed, FOLD, JobExt, LEASE, WORKER, cap, group, ids, job, route, secs, tenant, up_to, want},
};
use foldwright_ports::{
    Capabilities, Capability, GroupId, GroupState, JobId, Reason, Rest, Scope, Want, Why, WorkerId,
};
use std::sync::Arc;

const HOLDER: WorkerId = WorkerId(0xa);
const STRANGE: &str = "shop/fold/strange";

/// A fresh store with a live worker that knows the routes of the suites.
async fn with_worker(fixture: &dyn Fixture) -> Bed<'_> {
    let bed = Bed::open(fixture).await;
    bed.live().await;
    bed
}

async fn of(bed: &Bed<'_>, key: &str) -> Why {
    bed.why(&group(key)).await.expect("the group is there")
}

async fn of_job(bed: &Bed<'_>, job: JobId) -> Why {
    let why = bed.admin().why_job(&tenant("acme"), job).await.unwrap();
    why.expect("the job is there")
}

fn only(why: &Why) -> &Reason {
    let [reason] = why.reasons.as_slice() else {
        panic!("one reason: {why:?}")
    };
    reason
}

/// A group with one job, failed so that it waits for about a minute.
async fn failed(bed: &Bed<'_>, n: u64, key: &str) {
    bed.stage_new(&[&job(n, &group(key))]).await;
    let rest = Rest::Retry {
        floor: Some(secs(60)),
        error: "boom".into(),
    };
    let lease = bed.claim_of(&group(key)).await;
    bed.give_up(&lease, rest).await;
}

/// K-01: a due group has no reason, and one that is not there no answer.
pub async fn a_due_group_has_no_reason(fixture: &dyn Fixture) {
    let bed = with_worker(fixture).await;
    bed.stage_new(&[&job(1, &group("a"))]).await;
    let due = Why {
        group: group("a"),
        state: GroupState::Due,
        reasons: Vec::new(),
    };
    assert_eq!(bed.why(&group("a")).await, Some(due.clone()));
    assert_eq!(of_job(&bed, job(1, &group("a")).id).await, due);
    assert_eq!(bed.why(&group("absent")).await, None);
    bed.complete(&bed.claim_one().await).await;
    assert_eq!(bed.why(&group("a")).await, None);
    let (owner, gone) = (tenant("acme"), job(1, &group("a")).id);
    assert_eq!(bed.admin().why_job(&owner, gone).await.unwrap(), None);
}

/// K-01: a running group says who has it, under which token and until when.
pub async fn a_lease_and_a_hold_are_named(fixture: &dyn Fixture) {
    let bed = with_worker(fixture).await;
    bed.stage_new(&[&job(1, &group("a")), &job(2, &group("b"))]).await;
    let held = bed.hold_one(HOLDER, &group("b")).await;
    let lease = bed.claim_one().await;
    let until = bed.now().plus(LEASE);
    let why = of(&bed, "a").await;
    assert_eq!(why.state, GroupState::Running);
    let reason = Reason::Leased {
        worker: WORKER,
        fence: lease.fence,
        until,
        hold: false,
    };
    assert_eq!(only(&why), &reason);
    assert_eq!(only(&of_job(&bed, ids(&lease)[0]).await), &reason);
    let why = of(&bed, "b").await;
    assert_eq!(why.state, GroupState::Running);
    let reason = Reason::Leased {
        worker: HOLDER,
        fence: held.fence,
        until,
        hold: true,
    };
    assert_eq!(only(&why), &reason);
    bed.hold_one(HOLDER, &group("empty")).await;
    assert_eq!(
        of(&bed, "empty").await.state,
        GroupState::Running,
        "without a job as well"
    );
}

/// K-01: who waits for a group is told beside who has it, and alone where nobody has.
pub async fn a_reservation_is_named(fixture: &dyn Fixture) {
    let bed = with_worker(fixture).await;
    bed.stage_new(&[&job(1, &group("a")), &job(2, &group("a"))]).await;
    let single = Want {
        max_jobs_per_group: 1,
        ..want()
    };
    let lease = bed.claim_as(&single).await.remove(0);
    bed.hold(HOLDER, &[group("a")]).await;
    let reserved = Reason::Reserved {
        worker: HOLDER,
        until: bed.now().plus(LEASE),
    };
    let why = of(&bed, "a").await;
    assert_eq!(why.state, GroupState::Running);
    assert!(why.reasons.contains(&reserved), "{why:?}");
    assert_eq!(why.reasons.len(), 2, "{why:?}");
    bed.complete(&lease).await;
    assert_eq!(only(&of(&bed, "a").await), &reserved);
}

/// K-01: a blocked group names the job, the error and since when.
pub async fn a_quarantine_is_named(fixture: &dyn Fixture) {
    let bed = with_worker(fixture).await;
    bed.stage_new(&[&job(1, &group("a")), &job(2, &group("a"))]).await;
    bed.elapse(secs(5)).await;
    let error = "does not parse".to_owned();
    let lease = bed.claim_one().await;
    let rest = Rest::Quarantine { error: error.clone() };
    bed.give_up(&lease, rest).await;
    let since = bed.now();
    bed.elapse(secs(60)).await;
    let why = of(&bed, "a").await;
    assert_eq!(why.state, GroupState::Blocked);
    let job = job(1, &group("a")).id;
    assert_eq!(only(&why), &Reason::Blocked { job, error, since });
}

/// K-01: each pause that covers a group is named, as it was given.
pub async fn pauses_are_named(fixture: &dyn Fixture) {
    let bed = with_worker(fixture).await;
    bed.stage_new(&[&job(1, &group("a")), &job(2, &group("b"))]).await;
    let scopes = [
        Scope::Tenant(tenant("acme")),
        Scope::Route(route(FOLD)),
        Scope::Group(group("a")),
    ];
    for scope in &scopes {
        bed.pause(scope).await;
    }
    let since = bed.now();
    let named = |scope: &Scope| Reason::Paused {
        scope: scope.clone(),
        reason: "ops: upgrade".into(),
        since,
    };
    for (key, covering) in [("a", &scopes[..]), ("b", &scopes[..2])] {
        let why = of(&bed, key).await;
        assert_eq!(
            (why.state, why.reasons.len()),
            (GroupState::Paused, covering.len())
        );
        for scope in covering {
            assert!(why.reasons.contains(&named(scope)), "{key}: {why:?}");
        }
    }
}

/// K-01: a failed group tells the job, how often it failed, with what, and when it is tried again; an old error of a
/// group that runs again is none.
pub async fn a_backoff_is_named(fixture: &dyn Fixture) {
    let bed = with_worker(fixture).await;
    failed(&bed, 1, "a").await;
    let until = bed.view(&group("a")).await.unwrap().closed_until.unwrap();
    let why = of(&bed, "a").await;
    assert_eq!(why.state, GroupState::Retrying);
    let reason = Reason::Retrying {
        job: job(1, &group("a")).id,
        failures: 1,
        error: "boom".into(),
        until,
    };
    assert_eq!(only(&why), &reason);
    bed.elapse(secs(70)).await;
    let why = of(&bed, "a").await;
    assert_eq!((why.state, why.reasons), (GroupState::Due, Vec::new()));
}

/// K-01: what was put off, and what is not due yet, is scheduled.
pub async fn a_delay_and_a_deferral_are_named(fixture: &dyn Fixture) {
    let bed = with_worker(fixture).await;
    bed.stage_new(&[&job(1, &group("a")), &job(2, &group("b")).delayed(secs(20))])
        .await;
    let lease = bed.claim_one().await;
    bed.give_up(&lease, Rest::Defer { after: secs(30) }).await;
    let why = of(&bed, "a").await;
    assert_eq!(why.state, GroupState::Scheduled);
    let until = bed.now().plus(secs(30));
    assert_eq!(only(&why), &Reason::Deferred { until });
    let why = of(&bed, "b").await;
    assert_eq!(why.state, GroupState::Scheduled);
    let until = bed.now().plus(secs(20));
    assert_eq!(only(&why), &Reason::Delayed { until });
    bed.elapse(secs(31)).await;
    assert_eq!(of(&bed, "a").await.state, GroupState::Due);
    assert_eq!(of(&bed, "b").await.state, GroupState::Due);
}

/// K-01: a parked group names its tenant's cap.
pub async fn a_cap_is_named(fixture: &dyn Fixture) {
    let bed = with_worker(fixture).await;
    bed.limit("acme", cap(1)).await;
    bed.stage_new(&[&job(1, &group("a")), &job(2, &group("b"))]).await;
    let lease = bed.claim_one().await;
    let parked = ["a", "b"]
        .into_iter()
        .find(|key| group(key) != lease.group)
        .unwrap();
    let why = of(&bed, parked).await;
    assert_eq!(why.state, GroupState::Parked);
    assert_eq!(only(&why), &Reason::Capped { in_flight: 1, cap: 1 });
    bed.complete(&lease).await;
    assert_eq!(of(&bed, parked).await.state, GroupState::Due);
}

/// K-01, C-14: stranded is what no live worker knows, by route, format or version.
pub async fn what_no_worker_knows_is_stranded(fixture: &dyn Fixture) {
    let bed = Bed::open(fixture).await;
    bed.stage_new(&[&job(1, &group("a"))]).await;
    let why = of(&bed, "a").await;
    assert_eq!(why.state, GroupState::Stranded, "nobody lives");
    assert_eq!(only(&why), &Reason::Stranded { route: route(FOLD) });
    bed.beat(WORKER, secs(10)).await;
    assert_eq!(of(&bed, "a").await.state, GroupState::Due);
    bed.elapse(secs(11)).await;
    assert_eq!(of(&bed, "a").await.state, GroupState::Stranded, "it fell silent");
    bed.live().await;

    let mut newer = job(2, &group("b"));
    newer.format = 9;
    bed.stage_new(&[&newer, &job(3, &group("c")).on(STRANGE)]).await;
    assert_eq!(of(&bed, "b").await.state, GroupState::Stranded);
    let why = of(&bed, "c").await;
    assert_eq!(why.state, GroupState::Stranded);
    assert_eq!(
        only(&why),
        &Reason::Stranded {
            route: route(STRANGE)
        }
    );
    let knowing = |version, format| Want {
        capabilities: Arc::new(Capabilities {
            routes: [FOLD, STRANGE]
                .map(|of| (route(of), Capability { version }))
                .into(),
            format,
        }),
        ..want()
    };
    bed.beat_as(HOLDER, &knowing(1, 9), secs(600)).await;
    for key in ["b", "c"] {
        assert_eq!(of(&bed, key).await.state, GroupState::Due);
    }
    bed.queue().goodbye(HOLDER).await.unwrap();
    assert_eq!(of(&bed, "c").await.state, GroupState::Stranded, "it left");

    let lease = bed.claim_one().await;
    let rest = Rest::Release {
        floor: None,
        need: Some(2),
    };
    bed.give_up(&lease, rest).await;
    let why = of(&bed, "a").await;
    assert_eq!(why.state, GroupState::Stranded);
    assert!(why.reasons.contains(&Reason::Needs { version: 2 }), "{why:?}");
    bed.beat_as(HOLDER, &knowing(2, 1), secs(600)).await;
    assert_eq!(of(&bed, "a").await.state, GroupState::Due);
}

/// K-01: a job tells how many come before it, after what holds its group.
pub async fn a_job_tells_what_comes_before_it(fixture: &dyn Fixture) {
    let bed = with_worker(fixture).await;
    let jobs: Vec<_> = (0..4).map(|n| job(n, &group("a"))).collect();
    bed.stage_new(&jobs.iter().collect::<Vec<_>>()).await;
    assert_eq!(of_job(&bed, jobs[0].id).await.reasons, []);
    let second = of_job(&bed, jobs[1].id).await;
    assert_eq!(second.state, GroupState::Due);
    let behind = Reason::Behind {
        job: jobs[0].id,
        jobs: 1,
    };
    assert_eq!(only(&second), &behind);
    let last = of_job(&bed, jobs[3].id).await;
    assert!(matches!(only(&last), Reason::Behind { jobs: 3, .. }), "{last:?}");
    bed.pause(&Scope::All).await;
    let why = of_job(&bed, jobs[1].id).await;
    assert_eq!((why.state, why.reasons.len()), (GroupState::Paused, 2));
    assert_eq!(why.reasons.last(), Some(&behind));
}

/// K-01: every reason that holds is there; the state is the first in its order.
pub async fn all_reasons_are_given(fixture: &dyn Fixture) {
    let bed = with_worker(fixture).await;
    failed(&bed, 1, "a").await;
    bed.limit("acme", cap(1)).await;
    bed.stage_new(&[&job(2, &group("b"))]).await;
    bed.claim_of(&group("b")).await;
    bed.pause(&Scope::Pipeline("shop".into())).await;
    let why = of(&bed, "a").await;
    assert_eq!(why.state, GroupState::Paused);
    let has = |what: fn(&Reason) -> bool| why.reasons.iter().any(what);
    assert!(has(|reason| matches!(reason, Reason::Paused { .. })), "{why:?}");
    assert!(has(|reason| matches!(reason, Reason::Retrying { .. })), "{why:?}");
    assert!(has(|reason| matches!(reason, Reason::Capped { .. })), "{why:?}");
    assert_eq!(
        of(&bed, "b").await.state,
        GroupState::Running,
        "first of all it runs"
    );
    bed.resume(&Scope::Pipeline("shop".into())).await;
    assert_eq!(of(&bed, "a").await.state, GroupState::Retrying);
}

/// K-18: a dead letter has a group and no reason.
pub async fn a_dead_letter_has_no_reason(fixture: &dyn Fixture) {
    let bed = with_worker(fixture).await;
    bed.stage_new(&[&job(1, &group("a"))]).await;
    let lease = bed.claim_as(&up_to(1)).await.remove(0);
    let error = "bad".to_owned();
    bed.give_up(&lease, Rest::DeadLetter { error }).await;
    let dead = job(1, &group("a")).id;
    let expected = |state| Why {
        group: group("a"),
        state,
        reasons: Vec::new(),
    };
    assert_eq!(of_job(&bed, dead).await, expected(GroupState::Empty));
    assert_eq!(bed.why(&group("a")).await, None);
    bed.stage_new(&[&job(2, &group("a"))]).await;
    assert_eq!(of_job(&bed, dead).await, expected(GroupState::Due));
    let foreign: GroupId = crate::kit::group_of("globex", FOLD, "a");
    assert_eq!(bed.why(&foreign).await, None);
    let foreign = bed.admin().why_job(&tenant("globex"), dead).await.unwrap();
    assert_eq!(foreign, None);
}
