//! Lists of groups, jobs and tenants.
use crate::{
    Fixture,
    kit::{
        Bed, FOLD, JobExt, MAP, all_pages, cap, group, group_of, job, retry, route, secs, tenant, up_to, want,
    },
};
use foldwright_domain::Millis;
use foldwright_ports::{
    Fingerprint, GroupFilter, GroupId, GroupLine, GroupState, JobState, Limits, NewJob, Outcome, Rest, Scope,
    TenantLimits, TenantView, Want,
};
use std::collections::BTreeSet;

/// Groups in many states: `(group, state)`.
async fn one_of_each(bed: &Bed<'_>) -> Vec<(GroupId, GroupState)> {
    let error = |text: &str| text.to_owned();
    bed.live().await;
    let fails = |n: u64, key: &str| job(n, &group(key));
    bed.stage_new(&[
        &fails(1, "blocked"),
        &fails(2, "retrying"),
        &fails(3, "scheduled"),
    ])
    .await;
    for lease in bed.claim().await {
        let rest = match &*lease.group.key {
            "blocked" => Rest::Quarantine {
                error: error("row 7 is bad"),
            },
            "retrying" => Rest::Retry {
                floor: Some(secs(600)),
                error: error("row 8 is bad"),
            },
            _ => Rest::Defer { after: secs(600) },
        };
        bed.give_up(&lease, rest).await;
    }
    bed.stage_new(&[&job(4, &group("running"))]).await;
    bed.claim_one().await;
    let paused = group_of("initech", MAP, "paused");
    bed.stage_new(&[&job(5, &paused)]).await;
    bed.pause(&Scope::Group(paused.clone())).await;
    let stranded = group_of("acme", FOLD, "stranded");
    bed.stage_new(&[&job(6, &stranded).on("shop/fold/strange")]).await;
    let due = group_of("globex", MAP, "due");
    bed.stage_new(&[&job(7, &due), &job(8, &due), &job(9, &group("due"))])
        .await;
    vec![
        (group("blocked"), GroupState::Blocked),
        (group("retrying"), GroupState::Retrying),
        (group("scheduled"), GroupState::Scheduled),
        (group("running"), GroupState::Running),
        (paused, GroupState::Paused),
        (stranded, GroupState::Stranded),
        (due, GroupState::Due),
        (group("due"), GroupState::Due),
    ]
}

async fn list(bed: &Bed<'_>, filter: &GroupFilter, items: usize) -> Vec<GroupLine> {
    all_pages(Limits::items(items), |from, limits| {
        bed.admin().groups(filter, from, limits)
    })
    .await
}

fn names(lines: &[GroupLine]) -> Vec<GroupId> {
    lines.iter().map(|line| line.group.clone()).collect()
}

/// K-01: every group with a job is listed once, with its state, in pages of any size and always in one order.
pub async fn groups_are_listed_with_their_state(fixture: &dyn Fixture) {
    let bed = Bed::open(fixture).await;
    let expected = one_of_each(&bed).await;
    let mut order = None;
    for items in [1, 2, 3, 100] {
        let lines = list(&bed, &GroupFilter::default(), items).await;
        let found: BTreeSet<_> = lines
            .iter()
            .map(|line| (line.group.clone(), line.state))
            .collect();
        assert_eq!(found, expected.iter().cloned().collect(), "{items} a page");
        assert_eq!(lines.len(), expected.len(), "each once");
        let first = order.get_or_insert_with(|| names(&lines));
        assert_eq!(names(&lines), *first, "{items} a page");
    }
    for line in list(&bed, &GroupFilter::default(), 3).await {
        assert_eq!(bed.state(&line.group).await, line.state, "as it is explained");
    }
}

/// K-01: a line tells what its first job is, how much there is, what went wrong and when it goes on.
pub async fn a_line_tells_what_matters(fixture: &dyn Fixture) {
    let bed = Bed::open(fixture).await;
    let start = bed.now();
    one_of_each(&bed).await;
    let lines = list(&bed, &GroupFilter::default(), 5).await;
    let line = |key: &str, owner: &str| {
        let found = lines
            .iter()
            .find(|line| &*line.group.key == key && line.group.tenant == tenant(owner));
        found.unwrap().clone()
    };
    let size = |n: u64, group: &GroupId| job(n, group).stored_bytes();
    let due = line("due", "globex");
    assert_eq!((due.route, due.jobs), (route(MAP), 2));
    assert_eq!(due.bytes, size(7, &due.group) + size(8, &due.group));
    assert_eq!((due.failures, due.error), (0, None));
    let blocked = line("blocked", "acme");
    assert_eq!(blocked.error.as_deref(), Some("row 7 is bad"));
    assert_eq!(blocked.at, Some(start), "since when");
    let retrying = line("retrying", "acme");
    let opens = bed.view(&group("retrying")).await.unwrap().closed_until;
    assert_eq!((retrying.failures, retrying.at), (1, opens));
    assert_eq!(retrying.error.as_deref(), Some("row 8 is bad"));
    assert_eq!(line("scheduled", "acme").at, Some(start.plus(secs(600))));
    assert_eq!(line("stranded", "acme").route, route("shop/fold/strange"));
}

/// K-01, K-08: each part of a filter selects, all of them together.
pub async fn a_filter_selects_groups(fixture: &dyn Fixture) {
    let bed = Bed::open(fixture).await;
    let all = one_of_each(&bed).await;
    let any = GroupFilter::default;
    let bad = Fingerprint::of("row 99 is bad");
    let of = |owner: &str| GroupFilter {
        tenant: Some(tenant(owner)),
        ..any()
    };
    let mut asked: Vec<(GroupFilter, Vec<GroupId>)> = Vec::new();
    for owner in ["acme", "globex", "initech", "nobody"] {
        let groups = all.iter().map(|(group, _)| group.clone());
        asked.push((
            of(owner),
            groups.filter(|group| group.tenant == tenant(owner)).collect(),
        ));
    }
    for (_, state) in &all {
        let groups = all.iter().filter(|(_, one)| one == state);
        let filter = GroupFilter {
            state: Some(*state),
            ..any()
        };
        asked.push((filter, groups.map(|(group, _)| group.clone()).collect()));
    }
    for (text, keys) in [
        (MAP, vec!["paused", "due"]),
        ("shop/fold/strange", vec!["stranded"]),
    ] {
        let filter = GroupFilter {
            route: Some(route(text)),
            ..any()
        };
        let groups = all.iter().map(|(group, _)| group.clone());
        let groups = groups.filter(|group| keys.contains(&&*group.key));
        let groups = groups.filter(|group| text != MAP || &*group.path == route(MAP).path());
        asked.push((filter, groups.collect()));
    }
    let error = GroupFilter {
        error: Some(bad),
        ..any()
    };
    asked.push((error.clone(), vec![group("blocked"), group("retrying")]));
    let both = GroupFilter {
        state: Some(GroupState::Retrying),
        ..error
    };
    asked.push((both, vec![group("retrying")]));
    let none = GroupFilter {
        state: Some(GroupState::Due),
        tenant: Some(tenant("initech")),
        ..any()
    };
    asked.push((none, Vec::new()));
    for (filter, expected) in asked {
        for items in [1, 100] {
            let found: BTreeSet<_> = names(&list(&bed, &filter, items).await).into_iter().collect();
            assert_eq!(found, expected.iter().cloned().collect(), "{filter:?}");
        }
    }
}

/// K-02: the jobs of a group, in order, in pages of any size; looking changes nothing.
pub async fn jobs_are_paged_in_their_order(fixture: &dyn Fixture) {
    let bed = Bed::open(fixture).await;
    let start = bed.now();
    let mut jobs: Vec<NewJob> = (0..7).map(|n| job(n, &group("a"))).collect();
    jobs[6] = job(6, &group("a")).at(start.minus(secs(60)));
    jobs[3] = job(3, &group("a")).delayed(secs(30)).in_blob("large", 9_000);
    bed.stage_new(&jobs.iter().collect::<Vec<_>>()).await;
    let order = [6, 0, 1, 2, 3, 4, 5];
    let two = Want {
        max_jobs_per_group: 2,
        ..want()
    };
    bed.claim_as(&two).await;
    for items in [1, 3, 100, 1] {
        let of = group("a");
        let views = all_pages(Limits::items(items), |from, limits| {
            bed.admin().jobs(&of, from, limits)
        })
        .await;
        assert_eq!(views.len(), 7);
        for (at, (view, n)) in views.iter().zip(order).enumerate() {
            let staged = &jobs[n];
            assert_eq!(
                (view.id, &view.group, &view.route),
                (staged.id, &staged.group, &staged.route)
            );
            assert_eq!(
                (&view.header, view.bytes),
                (&staged.header, staged.stored_bytes())
            );
            let state = if at < 2 {
                JobState::Leased
            } else {
                JobState::Waiting
            };
            assert_eq!((view.state, view.staged_at), (state, start));
            assert_eq!(view.not_before, start.plus(staged.delay));
            let score = staged.position.map_or(start, |place| place.occurred_at);
            assert_eq!(view.score, score);
            let one = bed.admin().job(&tenant("acme"), staged.id).await.unwrap();
            assert_eq!(one.as_ref(), Some(view));
        }
    }
    assert_eq!(bed.depth().await.leased, 2);
}

/// K-02, K-18: one job is found wherever it is, until it is gone; another tenant's is not.
pub async fn a_job_is_found_in_every_state(fixture: &dyn Fixture) {
    let bed = Bed::open(fixture).await;
    let staged = job(1, &group("a"));
    let (admin, owner) = (bed.admin(), tenant("acme"));
    let state = async || admin.job(&owner, staged.id).await.unwrap().map(|view| view.state);
    assert_eq!(state().await, None);
    bed.stage_new(&[&staged]).await;
    assert_eq!(state().await, Some(JobState::Waiting));
    assert_eq!(admin.job(&tenant("globex"), staged.id).await.unwrap(), None);
    let lease = bed.claim_one().await;
    assert_eq!(state().await, Some(JobState::Leased));
    let error = "bad".to_owned();
    bed.give_up(&lease, Rest::Quarantine { error: error.clone() })
        .await;
    assert_eq!(state().await, Some(JobState::Blocked));
    assert!(admin.unblock(&group("a")).await.unwrap());
    let lease = bed.claim_one().await;
    bed.give_up(&lease, Rest::DeadLetter { error }).await;
    assert_eq!(state().await, Some(JobState::Dead));
    let dead = admin.job(&owner, staged.id).await.unwrap().unwrap();
    assert_eq!((dead.group, dead.header), (group("a"), staged.header.clone()));
    assert!(admin.requeue(&owner, staged.id).await.unwrap());
    bed.complete(&bed.claim_one().await).await;
    assert_eq!(state().await, None);
}

/// K-16: a tenant's figures are what a count finds, in every state of its jobs.
pub async fn a_tenants_figures_are_what_there_is(fixture: &dyn Fixture) {
    let bed = Bed::open(fixture).await;
    let nobody = bed.tenant_view("nobody").await;
    let zero = TenantView {
        tenant: tenant("nobody"),
        limits: TenantLimits::default(),
        in_flight: 0,
        jobs: 0,
        bytes: 0,
        capped: false,
    };
    assert_eq!(nobody, zero);
    let jobs: Vec<_> = (0..6)
        .map(|n| job(n, &group(&format!("g{}", n % 3))).in_blob("b", 100))
        .collect();
    bed.stage_new(&jobs.iter().collect::<Vec<_>>()).await;
    let bytes = |jobs: &[NewJob]| jobs.iter().map(NewJob::stored_bytes).sum::<u64>();
    let figures = async || {
        let view = bed.tenant_view("acme").await;
        (view.in_flight, view.jobs, view.bytes)
    };
    assert_eq!(figures().await, (0, 6, bytes(&jobs)));
    let mut leases = bed.claim().await;
    leases.sort_by(|a, b| a.group.cmp(&b.group));
    assert_eq!(figures().await, (3, 6, bytes(&jobs)));
    bed.complete(&leases[0]).await;
    let left: Vec<_> = jobs
        .iter()
        .filter(|job| job.group != group("g0"))
        .cloned()
        .collect();
    assert_eq!(figures().await, (2, 4, bytes(&left)));
    let error = "bad".to_owned();
    bed.give_up(&leases[1], Rest::Quarantine { error: error.clone() })
        .await;
    assert_eq!(figures().await, (1, 4, bytes(&left)));
    let rest = Rest::DeadLetter { error };
    bed.end(&leases[2], Outcome { done: 1, rest }).await;
    let left: Vec<_> = jobs
        .iter()
        .filter(|job| job.group == group("g1"))
        .cloned()
        .collect();
    assert_eq!(figures().await, (0, 2, bytes(&left)));
    assert_eq!(bed.admin().drain(&group("g1"), 9).await.unwrap(), 2);
    assert_eq!(figures().await, (0, 0, 0));
}

/// Tenants with jobs or limits of their own, by name, in pages of any size.
pub async fn tenants_are_listed_by_name(fixture: &dyn Fixture) {
    let bed = Bed::open(fixture).await;
    for (n, owner) in (0..).zip(["zeta", "acme", "mid", "acme", "beta"]) {
        bed.stage_new(&[&job(n, &group_of(owner, FOLD, &format!("g{n}")))])
            .await;
    }
    bed.limit("limited", cap(3)).await;
    let expected = ["acme", "beta", "limited", "mid", "zeta"];
    for items in [1, 2, 100] {
        let views = all_pages(Limits::items(items), |from, limits| {
            bed.admin().tenants(from, limits)
        })
        .await;
        let names: Vec<_> = views.iter().map(|view| view.tenant.to_string()).collect();
        assert_eq!(names, expected);
        for view in views {
            assert_eq!(bed.tenant_view(&view.tenant.to_string()).await, view);
        }
    }
    for lease in bed.claim_as(&up_to(9)).await {
        bed.complete(&lease).await;
    }
    bed.admin().limit(&tenant("limited"), None).await.unwrap();
    let left = bed.admin().tenants(None, Limits::items(9)).await.unwrap();
    assert_eq!(left.items, [], "who has nothing is not listed");
}

/// K-18: what is unknown reads as nothing.
pub async fn lists_of_the_unknown_are_empty(fixture: &dyn Fixture) {
    let bed = Bed::open(fixture).await;
    bed.stage_new(&[&job(1, &group("a"))]).await;
    let (admin, limits) = (bed.admin(), Limits::items(9));
    assert_eq!(
        admin.jobs(&group("absent"), None, limits).await.unwrap().items,
        []
    );
    assert_eq!(
        admin.job(&tenant("acme"), job(9, &group("a")).id).await.unwrap(),
        None
    );
    assert_eq!(admin.bury(&group("absent"), "given up", 9).await.unwrap(), 0);
    assert!(!admin.resume(&Scope::All).await.unwrap());
    admin.limit(&tenant("acme"), None).await.unwrap();
    let lease = bed.claim_one().await;
    bed.give_up(&lease, retry("boom")).await;
    let filter = GroupFilter {
        error: Some(Fingerprint::of("boom")),
        ..GroupFilter::default()
    };
    let failing = list(&bed, &filter, 1).await;
    assert_eq!(names(&failing), [group("a")]);
    assert!(failing[0].at > Some(Millis(0)));
}
