//! What an operator does to many groups.
use crate::{
    Fixture,
    kit::{Bed, FOLD, MAP, all_pages, group, group_of, ids, job, secs, tenant, want},
};
use foldwright_ports::{
    Depth, Fingerprint, GroupFilter, GroupId, GroupState, Limits, Rest, Swept, Verb, Want,
};

/// Ten groups with three jobs each: six of acme, four of globex; all but one of each are blocked.
async fn backlog(bed: &Bed<'_>) -> Vec<GroupId> {
    let mut groups = Vec::new();
    for (owner, of, count) in [("acme", FOLD, 3), ("acme", MAP, 3), ("globex", FOLD, 4)] {
        for n in 0..count {
            groups.push(group_of(owner, of, &format!("g{n}")));
        }
    }
    for (at, group) in (0..).zip(&groups) {
        for n in 0..3 {
            bed.stage_new(&[&job(10 * at + n, group)]).await;
        }
    }
    for lease in bed.claim().await {
        let error = format!("row {} is bad", lease.fence.0);
        let bad = &*lease.group.key != "g0" || &*lease.group.path == "map/rows";
        let rest = if bad {
            Rest::Quarantine { error }
        } else {
            Rest::Back
        };
        bed.give_up(&lease, rest).await;
    }
    groups
}

fn of(owner: &str) -> GroupFilter {
    GroupFilter {
        tenant: Some(tenant(owner)),
        ..GroupFilter::default()
    }
}

/// All pages of a sweep, `groups` looked at in each.
async fn sweep(bed: &Bed<'_>, verb: Verb, filter: &GroupFilter, dry_run: bool, groups: usize) -> (u64, u64) {
    let (mut done, mut from) = (Swept::default(), None);
    for _ in 0..1_000 {
        let page = bed
            .admin()
            .sweep(verb, filter, dry_run, from, groups)
            .await
            .unwrap();
        assert!(
            page.groups <= groups as u64,
            "a page does at most what it looks at"
        );
        done.groups += page.groups;
        done.jobs += page.jobs;
        from = page.next;
        if from.is_none() {
            return (done.groups, done.jobs);
        }
    }
    panic!("the sweep does not end")
}

/// K-05, K-08: first it says what it would do and does nothing, then it does exactly that.
pub async fn a_dry_run_says_what_the_run_does(fixture: &dyn Fixture) {
    for verb in [Verb::Unblock, Verb::Drain, Verb::Bury] {
        for page in [1, 3, 1_000] {
            let bed = Bed::open(fixture).await;
            backlog(&bed).await;
            let before = bed.depth().await;
            let filter = of("acme");
            let would = sweep(&bed, verb, &filter, true, page).await;
            assert_eq!(bed.depth().await, before, "a dry run changes nothing");
            assert_eq!(
                sweep(&bed, verb, &filter, false, page).await,
                would,
                "{verb:?} by {page}"
            );
            let expected = if verb == Verb::Unblock { (5, 15) } else { (6, 18) };
            assert_eq!(would, expected, "{verb:?} by {page}");
            assert_eq!(sweep(&bed, verb, &filter, false, page).await, (0, 0), "once");
            let theirs = bed.tenant_view("globex").await.jobs;
            assert_eq!(theirs, 12, "another tenant's are not touched");
        }
    }
}

/// K-04: unblocked groups run again in their order, and only those that were selected.
pub async fn a_sweep_unblocks_what_is_selected(fixture: &dyn Fixture) {
    let bed = Bed::open(fixture).await;
    backlog(&bed).await;
    let filter = GroupFilter {
        state: Some(GroupState::Blocked),
        error: Some(Fingerprint::of("row 3 is bad")),
        ..of("globex")
    };
    assert_eq!(sweep(&bed, Verb::Unblock, &filter, false, 2).await, (3, 9));
    assert_eq!(bed.depth().await.blocked, 15);
    let leases = bed.claim().await;
    assert_eq!(leases.len(), 5, "and those that were never blocked");
    for lease in &leases {
        assert_eq!((lease.jobs.len(), lease.attempt), (3, 1));
        assert!(ids(lease).is_sorted(), "in their order");
    }
}

/// K-05: drained groups are gone; the depth falls by exactly what is said.
pub async fn a_sweep_drains_what_is_selected(fixture: &dyn Fixture) {
    let bed = Bed::open(fixture).await;
    let groups = backlog(&bed).await;
    assert_eq!(sweep(&bed, Verb::Drain, &of("acme"), false, 2).await, (6, 18));
    let depth = bed.depth().await;
    assert_eq!((depth.waiting, depth.blocked, depth.dead), (3, 9, 0));
    assert_eq!(bed.view(&groups[0]).await, None);
    let everything = GroupFilter::default();
    assert_eq!(sweep(&bed, Verb::Drain, &everything, false, 3).await, (4, 12));
    assert_eq!(bed.depth().await, Depth::default());
    bed.nothing_is_claimable().await;
}

/// K-05, K-06: what is buried lies with the dead letters, in its order, with the reason.
pub async fn buried_jobs_are_dead_letters(fixture: &dyn Fixture) {
    let bed = Bed::open(fixture).await;
    for n in 0..5 {
        bed.stage_new(&[&job(n, &group("a"))]).await;
    }
    let admin = bed.admin();
    let two = Want {
        max_jobs_per_group: 2,
        ..want()
    };
    let lease = bed.claim_as(&two).await.remove(0);
    assert_eq!(admin.bury(&group("a"), "too old", 2).await.unwrap(), 2);
    let depth = bed.depth().await;
    assert_eq!(
        (depth.waiting, depth.leased, depth.dead),
        (1, 2, 2),
        "a live lease stays"
    );
    bed.elapse(secs(1)).await;
    assert_eq!(admin.bury(&group("a"), "too old", 9).await.unwrap(), 1);
    assert_eq!(admin.bury(&group("a"), "too old", 9).await.unwrap(), 0);
    bed.complete(&lease).await;
    assert_eq!(bed.view(&group("a")).await, None);
    let letters = all_pages(Limits::items(2), |from, limits| {
        admin.dead_letters(None, from, limits)
    })
    .await;
    let mut dead: Vec<_> = letters.iter().map(|letter| letter.job).collect();
    assert_eq!(dead[2], job(4, &group("a")).id);
    dead.sort_unstable();
    let mut expected = [2, 3, 4].map(|n| job(n, &group("a")).id);
    expected.sort_unstable();
    assert_eq!(dead, expected);
    assert!(
        letters
            .iter()
            .all(|letter| letter.error == "too old" && letter.group == group("a"))
    );
    assert!(admin.requeue(&tenant("acme"), expected[0]).await.unwrap());
    assert_eq!(ids(&bed.claim_one().await), [expected[0]]);
}

/// K-05, R-08: a blocked group that is buried is a group like any other again.
pub async fn burying_a_blocked_group_frees_it(fixture: &dyn Fixture) {
    let bed = Bed::open(fixture).await;
    let groups = backlog(&bed).await;
    let blocked = &groups[1];
    assert_eq!(bed.admin().bury(blocked, "given up", 100).await.unwrap(), 3);
    assert_eq!(bed.view(blocked).await, None);
    bed.stage_new(&[&job(900, blocked)]).await;
    let lease = bed.claim_of(blocked).await;
    assert_eq!((lease.jobs.len(), lease.attempt), (1, 1));
}

/// K-07, R-21: dead letters are put back page by page, the oldest first, of one tenant or of all.
pub async fn dead_letters_are_put_back_in_pages(fixture: &dyn Fixture) {
    let bed = Bed::open(fixture).await;
    let groups = backlog(&bed).await;
    for group in &groups {
        assert_eq!(bed.admin().bury(group, "given up", 100).await.unwrap(), 3);
        bed.elapse(secs(1)).await;
    }
    let admin = bed.admin();
    let page = admin.requeue_all(None, 3).await.unwrap();
    assert_eq!((page.groups, page.jobs), (1, 3));
    assert_eq!(bed.claim_one().await.group, groups[0], "the oldest first");
    let theirs = tenant("globex");
    let mut put_back = 0;
    for _ in 0..100 {
        let page = admin.requeue_all(Some(&theirs), 5).await.unwrap();
        assert!(page.jobs <= 5);
        put_back += page.jobs;
        if page.jobs == 0 {
            break;
        }
    }
    assert_eq!(put_back, 12);
    let depth = bed.depth().await;
    assert_eq!((depth.waiting, depth.leased, depth.dead), (12, 3, 15));
    let leases = bed.claim().await;
    assert_eq!(leases.len(), 4);
    for lease in leases {
        assert_eq!((lease.jobs.len(), lease.attempt), (3, 1));
    }
    let nobody = admin.requeue_all(Some(&tenant("nobody")), 5).await.unwrap();
    assert_eq!((nobody.groups, nobody.jobs), (0, 0));
}

/// K-18: a sweep over nothing does nothing and says so.
pub async fn a_sweep_of_the_unknown_does_nothing(fixture: &dyn Fixture) {
    let bed = Bed::open(fixture).await;
    backlog(&bed).await;
    let before = bed.depth().await;
    for verb in [Verb::Unblock, Verb::Drain, Verb::Bury] {
        assert_eq!(sweep(&bed, verb, &of("nobody"), false, 2).await, (0, 0));
    }
    assert_eq!(bed.depth().await, before);
    assert_eq!((before.waiting, before.blocked), (6, 24));
}
