//! One error over many groups closes a route for a while.
use crate::{
    Fixture,
    kit::{
        Bed, FOLD, JobExt, MAP, by_tenant, group_of, ids, job, millis, retry, secs, settlement, up_to, want,
    },
};
use foldwright_ports::{
    BreakerSettings, Fingerprint, GroupId, GroupState, Outcome, QueueSettings, Reason, Rest,
};
use std::collections::BTreeSet;

fn settings() -> QueueSettings {
    QueueSettings {
        breaker: BreakerSettings {
            groups: 3,
            window: secs(60),
            tenants: 2,
            first: secs(5),
            longest: secs(12),
        },
        ..QueueSettings::default()
    }
}

fn fold(owner: &str, n: u64) -> GroupId {
    group_of(owner, FOLD, &format!("g{n}"))
}

/// Groups of a tenant with one job each.
async fn stage(bed: &Bed<'_>, owner: &str, groups: std::ops::Range<u64>) {
    for n in groups {
        bed.stage_new(&[&job(n, &fold(owner, n))]).await;
    }
}

fn failing(error: &str) -> Rest {
    retry(error)
}

/// Takes all that there is, fails these groups of a tenant and gives back the others untouched.
async fn fail(bed: &Bed<'_>, owner: &str, groups: &[u64], rest: impl Fn(u64) -> Rest) {
    for lease in bed.claim().await {
        let n = groups.iter().find(|n| lease.group == fold(owner, **n));
        bed.give_up(&lease, n.map_or(Rest::Back, |n| rest(*n))).await;
    }
}

async fn claimable(bed: &Bed<'_>) -> BTreeSet<GroupId> {
    let leases = bed.claim().await;
    let groups = leases.iter().map(|lease| lease.group.clone()).collect();
    for lease in &leases {
        bed.give_up(lease, Rest::Back).await;
    }
    groups
}

/// G6: so many groups with one error close the route for their tenant; other tenants and routes go on.
pub async fn one_error_over_many_groups_closes_the_route(fixture: &dyn Fixture) {
    let bed = Bed::open_with(fixture, &settings()).await;
    stage(&bed, "acme", 0..6).await;
    stage(&bed, "globex", 0..1).await;
    let map = group_of("acme", MAP, "a");
    bed.stage_new(&[&job(1, &map)]).await;
    fail(&bed, "acme", &[0, 1], |n| failing(&format!("row {n} timed out"))).await;
    assert!(
        claimable(&bed).await.contains(&fold("acme", 2)),
        "two are not three"
    );
    fail(&bed, "acme", &[2], |n| failing(&format!("row {n} timed out"))).await;
    let open: BTreeSet<_> = [map, fold("globex", 0)].into();
    assert_eq!(claimable(&bed).await, open);
    bed.elapse(millis(4_900)).await;
    assert_eq!(claimable(&bed).await, open);
    bed.elapse(millis(200)).await;
    assert_eq!(claimable(&bed).await.len(), 8);
}

/// The attempts of those that wait are not spent.
pub async fn a_closed_route_spends_no_attempt(fixture: &dyn Fixture) {
    let bed = Bed::open_with(fixture, &settings()).await;
    stage(&bed, "acme", 0..5).await;
    fail(&bed, "acme", &[0, 1, 2], |_| failing("down")).await;
    bed.nothing_is_claimable().await;
    bed.elapse(secs(6)).await;
    let leases = bed.claim().await;
    assert_eq!(leases.len(), 5);
    for lease in leases {
        let failed = (0..3).any(|n| lease.group == fold("acme", n));
        assert_eq!(lease.attempt, if failed { 2 } else { 1 });
    }
}

/// The same call that closes it hands out nothing of it.
pub async fn the_settle_that_closes_a_route_hands_out_none_of_it(fixture: &dyn Fixture) {
    let bed = Bed::open_with(fixture, &settings()).await;
    stage(&bed, "acme", 0..6).await;
    let failed = bed.claim_as(&up_to(3)).await;
    let map = group_of("acme", MAP, "a");
    bed.stage_new(&[&job(1, &map)]).await;
    let failed = failed
        .iter()
        .map(|lease| settlement(lease, Outcome::none(failing("down"))));
    let settled = bed.settle_next(failed.collect(), Some(&want())).await;
    assert_eq!(settled.next.iter().map(|l| &l.group).collect::<Vec<_>>(), [&map]);
}

/// A failure that blocks its group tells of an outage as well.
pub async fn quarantined_groups_count(fixture: &dyn Fixture) {
    let bed = Bed::open_with(fixture, &settings()).await;
    stage(&bed, "acme", 0..5).await;
    let bad = |_| Rest::Quarantine {
        error: "down".to_owned(),
    };
    fail(&bed, "acme", &[0, 1, 2], bad).await;
    assert_eq!(bed.depth().await.blocked, 3);
    bed.nothing_is_claimable().await;
    bed.elapse(secs(6)).await;
    assert_eq!(bed.claim().await.len(), 2);
}

/// One bad group, different errors, or failures far apart are no outage.
pub async fn poison_closes_no_route(fixture: &dyn Fixture) {
    let bed = Bed::open_with(fixture, &settings()).await;
    stage(&bed, "acme", 0..8).await;
    for _ in 0..5 {
        fail(&bed, "acme", &[0], |_| failing("down")).await;
        bed.elapse(secs(8)).await;
    }
    assert!(claimable(&bed).await.contains(&fold("acme", 7)), "one group");
    let words = ["", "row is bad", "no such column", "too large"];
    fail(&bed, "acme", &[1, 2, 3], |n| {
        failing(words[usize::try_from(n).unwrap()])
    })
    .await;
    assert!(
        claimable(&bed).await.contains(&fold("acme", 7)),
        "different errors"
    );
    bed.elapse(secs(61)).await;
    fail(&bed, "acme", &[4, 5], |_| failing("away")).await;
    bed.elapse(secs(61)).await;
    fail(&bed, "acme", &[6], |_| failing("away")).await;
    assert!(claimable(&bed).await.contains(&fold("acme", 7)), "far apart");
    fail(&bed, "acme", &[7, 5], |_| failing("away")).await;
    bed.elapse(secs(2)).await;
    bed.nothing_is_claimable().await;
}

/// Each closing lasts twice as long as the one before, up to the longest.
pub async fn each_closing_lasts_longer(fixture: &dyn Fixture) {
    let bed = Bed::open_with(fixture, &settings()).await;
    stage(&bed, "acme", 0..30).await;
    for (round, nearly) in [(0, 4_900), (1, 9_900), (2, 11_900), (3, 11_900)] {
        let groups = [3 * round, 3 * round + 1, 3 * round + 2];
        fail(&bed, "acme", &groups, |_| failing("down")).await;
        bed.elapse(millis(nearly)).await;
        bed.nothing_is_claimable().await;
        bed.elapse(millis(200)).await;
        assert!(claimable(&bed).await.contains(&fold("acme", 29)), "round {round}");
    }
}

/// When several tenants meet one error, the route is closed for all until the last of them opens again.
pub async fn an_outage_of_several_tenants_closes_it_for_all(fixture: &dyn Fixture) {
    let bed = Bed::open_with(fixture, &settings()).await;
    for owner in ["acme", "globex", "initech"] {
        stage(&bed, owner, 0..4).await;
    }
    let map = group_of("initech", MAP, "a");
    bed.stage_new(&[&job(1, &map)]).await;
    fail(&bed, "acme", &[0, 1, 2], |_| failing("down")).await;
    let open = claimable(&bed).await;
    assert!(open.contains(&fold("initech", 0)) && open.contains(&fold("globex", 3)));
    bed.elapse(secs(2)).await;
    fail(&bed, "globex", &[0, 1, 2], |_| failing("down")).await;
    assert_eq!(claimable(&bed).await, [map.clone()].into());
    bed.elapse(secs(4)).await;
    assert_eq!(
        claimable(&bed).await,
        [map].into(),
        "the last one is still closed"
    );
    bed.elapse(millis(1_200)).await;
    let leases = bed.claim().await;
    let counted = by_tenant(&leases);
    assert_eq!(
        (counted["acme"], counted["globex"], counted["initech"]),
        (4, 4, 5)
    );
}

/// Different errors of two tenants are two troubles, not one.
pub async fn different_outages_close_it_for_their_tenants(fixture: &dyn Fixture) {
    let bed = Bed::open_with(fixture, &settings()).await;
    for owner in ["acme", "globex", "initech"] {
        stage(&bed, owner, 0..4).await;
    }
    fail(&bed, "acme", &[0, 1, 2], |_| failing("down")).await;
    fail(&bed, "globex", &[0, 1, 2], |_| failing("table is gone")).await;
    let open = claimable(&bed).await;
    assert_eq!(open, (0..4).map(|n| fold("initech", n)).collect());
}

/// A batch ends at a job whose route is closed.
pub async fn a_batch_ends_at_a_closed_route(fixture: &dyn Fixture) {
    let bed = Bed::open_with(fixture, &settings()).await;
    stage(&bed, "acme", 0..3).await;
    fail(&bed, "acme", &[0, 1, 2], |_| failing("down")).await;
    let mixed = group_of("acme", MAP, "mixed");
    let jobs = [job(11, &mixed), job(12, &mixed).on(FOLD), job(13, &mixed)];
    bed.stage_new(&[&jobs[0], &jobs[1], &jobs[2]]).await;
    let lease = bed.claim_one().await;
    assert_eq!(ids(&lease), [jobs[0].id]);
    bed.complete(&lease).await;
    bed.nothing_is_claimable().await;
    bed.elapse(secs(6)).await;
    let leases = bed.claim().await;
    let rest = leases.iter().find(|lease| lease.group == mixed).unwrap();
    assert_eq!(ids(rest), [jobs[1].id, jobs[2].id]);
}

/// K-01: a group of a closed route reads as paused, with what its failures have in common.
pub async fn a_closed_route_is_explained(fixture: &dyn Fixture) {
    let bed = Bed::open_with(fixture, &settings()).await;
    bed.live().await;
    for owner in ["acme", "globex", "initech"] {
        stage(&bed, owner, 0..4).await;
    }
    for (owner, everyone) in [("acme", false), ("globex", true)] {
        fail(&bed, owner, &[0, 1, 2], |n| {
            failing(&format!("shard {n} is down"))
        })
        .await;
        let why = bed.why(&fold(owner, 3)).await.unwrap();
        assert_eq!(why.state, GroupState::Paused);
        let outages: Vec<_> = why
            .reasons
            .iter()
            .filter_map(|reason| match reason {
                Reason::Outage {
                    route,
                    everyone,
                    fingerprint,
                    until,
                } => Some((route.as_str(), *everyone, *fingerprint, *until)),
                _ => None,
            })
            .collect();
        let print = Fingerprint::of("shard 9 is down");
        let expected = (FOLD, everyone, print, bed.now().plus(secs(5)));
        assert!(outages.contains(&expected), "{owner}: {why:?}");
    }
    assert_eq!(bed.state(&fold("initech", 0)).await, GroupState::Paused);
    bed.elapse(secs(6)).await;
    assert_eq!(bed.state(&fold("initech", 0)).await, GroupState::Due);
}
