//! Blocked groups and the operator's verbs on them.
use crate::{
    Fixture,
    kit::{Bed, FOLD, MAP, all_pages, group, group_of, ids, job, retry, secs, tenant},
};
use foldwright_ports::{GroupId, LeaseEnd, Limits, Outcome, Rest};

fn bad(error: &str) -> Rest {
    Rest::Quarantine { error: error.into() }
}

/// Blocks a group at the first of its `jobs` new jobs.
async fn block(bed: &Bed<'_>, group: &GroupId, first: u64, jobs: u64) {
    for n in first..first + jobs {
        bed.stage_new(&[&job(n, group)]).await;
    }
    let lease = bed.claim_of(group).await;
    bed.give_up(&lease, bad(&format!("bad {first}"))).await;
}

/// after one call, in order, for as long as it takes; other groups run.
pub async fn a_quarantined_group_waits_for_an_operator(fixture: &dyn Fixture) {
    let bed = Bed::open(fixture).await;
    for n in 0..4 {
        bed.stage_new(&[&job(n, &group("a"))]).await;
    }
    let lease = bed.claim_one().await;
    bed.end(
        &lease,
        Outcome {
            done: 1,
            rest: bad("does not parse"),
        },
    )
    .await;
    bed.stage_new(&[&job(9, &group("a")), &job(10, &group("b"))])
        .await;
    let depth = bed.depth().await;
    assert_eq!((depth.waiting, depth.blocked, depth.leased), (1, 4, 0));
    let view = bed.view(&group("a")).await.unwrap();
    assert_eq!(view.blocked_by.as_deref(), Some("does not parse"));
    assert_eq!(
        (view.depth, view.jobs[0]),
        (4, job(1, &group("a")).id),
        "the failing job is first"
    );
    let other = bed.claim_one().await;
    assert_eq!(other.group, group("b"));
    bed.complete(&other).await;
    bed.elapse(secs(7 * 24 * 60 * 60)).await;
    bed.reap().await;
    bed.nothing_is_claimable().await;
    assert_eq!(bed.depth().await.blocked, 4);

    assert!(bed.admin().unblock(&group("a")).await.unwrap());
    let view = bed.view(&group("a")).await.unwrap();
    assert_eq!((view.blocked_by, view.failures), (None, 0));
    let lease = bed.claim_one().await;
    let expected = [1, 2, 3, 9].map(|n| job(n, &group("a")).id);
    assert_eq!(ids(&lease), expected);
    assert_eq!((lease.attempt, lease.previous), (1, LeaseEnd::Completed));
}

/// K-01, K-03, T-05: by the time of blocking, of one tenant or of all, in pages of any size.
pub async fn blocked_groups_are_listed(fixture: &dyn Fixture) {
    let bed = Bed::open(fixture).await;
    let groups = [
        group_of("acme", FOLD, "z"),
        group_of("globex", FOLD, "b"),
        group_of("acme", MAP, "a"),
        group_of("acme", FOLD, "a/b"),
        group_of("globex", MAP, "a"),
    ];
    let mut since = Vec::new();
    for (n, group) in (0..).zip(&groups) {
        since.push(bed.now());
        block(&bed, group, 10 * n, 2).await;
        bed.elapse(secs(1)).await;
    }
    since.push(bed.now());
    for owner in [None, Some("acme"), Some("globex"), Some("nobody")] {
        let owner = owner.map(tenant);
        let expected: Vec<_> = groups
            .iter()
            .filter(|g| owner.as_ref().is_none_or(|o| *o == g.tenant))
            .collect();
        for items in [1, 2, 10] {
            let listed = all_pages(Limits::items(items), |from, limits| {
                bed.admin().blocked(owner.as_ref(), from, limits)
            })
            .await;
            assert_eq!(listed.iter().map(|one| &one.group).collect::<Vec<_>>(), expected);
            for one in listed {
                let n = groups.iter().position(|group| *group == one.group).unwrap();
                let failing = job(10 * n as u64, &groups[n]);
                assert_eq!((one.job, one.route), (failing.id, failing.route));
                assert_eq!(one.error, format!("bad {}", 10 * n));
                assert!(one.since >= since[n] && one.since <= since[n + 1]);
            }
        }
    }
    assert!(bed.admin().unblock(&groups[0]).await.unwrap());
    let left = bed.admin().blocked(None, None, Limits::items(10)).await.unwrap();
    assert_eq!(left.items.len(), 4);
}

/// a group that ran out of attempts says how many there were.
pub async fn an_exhausted_group_names_its_attempts(fixture: &dyn Fixture) {
    let bed = Bed::open(fixture).await;
    bed.stage_new(&[&job(1, &group("a"))]).await;
    for _ in 0..25 {
        let lease = bed.claim_one().await;
        bed.give_up(&lease, retry("boom")).await;
        bed.elapse(secs(661)).await;
    }
    let listed = bed
        .admin()
        .blocked(None, None, Limits::items(10))
        .await
        .unwrap()
        .items;
    let [one] = listed.as_slice() else {
        panic!("one group is blocked: {listed:?}")
    };
    assert_eq!((one.failures, one.error.as_str()), (25, "boom"));
    assert_eq!(one.job, job(1, &group("a")).id);
}

/// K-18: verbs on what is unknown say so and change nothing.
pub async fn verbs_on_the_unknown_say_so(fixture: &dyn Fixture) {
    let bed = Bed::open(fixture).await;
    bed.stage_new(&[&job(1, &group("a"))]).await;
    let (admin, owner) = (bed.admin(), tenant("acme"));
    assert_eq!(admin.group(&group("absent")).await.unwrap(), None);
    assert!(!admin.unblock(&group("absent")).await.unwrap());
    assert!(!admin.unblock(&group("a")).await.unwrap(), "it is not blocked");
    assert_eq!(admin.drain(&group("absent"), 10).await.unwrap(), 0);
    assert!(!admin.requeue(&owner, job(1, &group("a")).id).await.unwrap());
    assert!(!admin.discard(&owner, job(1, &group("a")).id).await.unwrap());
    assert_eq!(bed.waiting().await, 1);
    bed.claim_one().await;
}

/// K-05: in order, in steps, and only what is not leased.
pub async fn draining_takes_waiting_jobs_in_steps(fixture: &dyn Fixture) {
    let bed = Bed::open(fixture).await;
    for n in 0..3 {
        bed.stage_new(&[&job(n, &group("a"))]).await;
    }
    let lease = bed.claim_one().await;
    for n in 3..8 {
        bed.stage_new(&[&job(n, &group("a")), &job(n + 100, &group("b"))])
            .await;
    }
    assert_eq!(bed.admin().drain(&group("a"), 2).await.unwrap(), 2);
    let view = bed.view(&group("a")).await.unwrap();
    let left = [0, 1, 2, 5, 6, 7].map(|n| job(n, &group("a")).id);
    assert_eq!(
        (view.jobs, view.leased),
        (left.into(), true),
        "the oldest go first"
    );
    assert_eq!(bed.admin().drain(&group("a"), 100).await.unwrap(), 3);
    assert_eq!(bed.admin().drain(&group("a"), 100).await.unwrap(), 0);
    let depth = bed.depth().await;
    assert_eq!((depth.waiting, depth.leased), (5, 3));
    assert_eq!(bed.claim_one().await.group, group("b"), "the lease is still live");
    bed.complete(&lease).await;
    assert_eq!(bed.view(&group("a")).await, None);
}

/// K-05, R-08: a blocked group that is drained is a group like any other again.
pub async fn draining_a_blocked_group_frees_it(fixture: &dyn Fixture) {
    let bed = Bed::open(fixture).await;
    block(&bed, &group("a"), 0, 3).await;
    assert_eq!(bed.admin().drain(&group("a"), 100).await.unwrap(), 3);
    assert_eq!(bed.depth().await, foldwright_ports::Depth::default());
    assert_eq!(bed.view(&group("a")).await, None);
    let blocked = bed.admin().blocked(None, None, Limits::items(10)).await.unwrap();
    assert_eq!(blocked.items, []);
    bed.stage_new(&[&job(9, &group("a"))]).await;
    assert_eq!(bed.waiting().await, 1);
    assert_eq!(ids(&bed.claim_one().await), [job(9, &group("a")).id]);
}

/// K-02: a view counts all jobs and names the first hundred, and looking changes nothing.
pub async fn a_view_shows_the_first_hundred_jobs(fixture: &dyn Fixture) {
    let bed = Bed::open(fixture).await;
    let jobs: Vec<_> = (0..130).map(|n| job(n, &group("a"))).collect();
    bed.stage_new(&jobs.iter().collect::<Vec<_>>()).await;
    for _ in 0..2 {
        let view = bed.view(&group("a")).await.unwrap();
        let first: Vec<_> = jobs[..100].iter().map(|job| job.id).collect();
        assert_eq!((view.jobs, view.depth, view.leased), (first, 130, false));
        assert_eq!(
            (view.failures, view.previous, view.blocked_by),
            (0, LeaseEnd::None, None)
        );
        assert_eq!((view.last_error, view.closed_until), (None, None));
    }
}
