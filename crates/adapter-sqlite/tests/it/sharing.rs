//! What handles on one file share of the queue.
use crate::support::{group, job, nonce, open, place, run, want};
use foldwright_adapter_sqlite::Sqlite;
use foldwright_ports::{
    Drift, Figure, GroupState, Kind, Lease, Outcome, Ports, QueueBounds, QueueSettings, Room, Scope,
    Settlement, TenantLimits, WorkerId,
};
use std::time::Duration;

async fn stage(ports: &Ports, tenant: &str, jobs: std::ops::Range<u64>) {
    let staged = jobs.map(|n| job(n, &group(tenant, &format!("{n}"))));
    ports
        .queue
        .stage(nonce(), staged.collect(), Room::Sender)
        .await
        .unwrap();
}

async fn claim(ports: &Ports, groups: usize) -> Vec<Lease> {
    ports
        .queue
        .claim(nonce(), WorkerId(1), &want(groups, 9))
        .await
        .unwrap()
}

async fn complete(ports: &Ports, leases: &[Lease]) {
    let settlements = leases.iter().map(|lease| Settlement {
        lease: lease.reference(),
        outcome: Outcome::complete(lease.jobs.len()),
        answers: Vec::new(),
        then: Vec::new(),
    });
    ports
        .queue
        .settle(nonce(), WorkerId(1), settlements.collect(), None)
        .await
        .unwrap();
}

/// F-07, F-08: a cap counts what all handles have in flight.
#[test]
fn handles_share_a_cap() {
    let (_directory, path) = place();
    run(async {
        let handles = [open(&path), open(&path)].map(|sqlite| sqlite.ports());
        let limits = TenantLimits {
            cap: Some(3),
            ..TenantLimits::default()
        };
        let tenant = group("acme", "").tenant;
        handles[0].queue_admin.limit(&tenant, Some(limits)).await.unwrap();
        stage(&handles[0], "acme", 0..10).await;
        let first = claim(&handles[0], 2).await;
        let second = claim(&handles[1], 9).await;
        assert_eq!((first.len(), second.len()), (2, 1));
        assert!(claim(&handles[0], 9).await.is_empty());
        complete(&handles[1], &second).await;
        assert_eq!(claim(&handles[0], 9).await.len(), 1);
        assert!(handles[1].queue_admin.tenant(&tenant).await.unwrap().capped);
        handles[1].queue_admin.limit(&tenant, None).await.unwrap();
        assert_eq!(claim(&handles[0], 9).await.len(), 6);
    });
}

/// F-13: a pause through one handle holds for all, and a resume wakes who waits on another.
#[test]
fn handles_share_a_pause() {
    let (_directory, path) = place();
    run(async {
        let handles = [open(&path), open(&path)].map(|sqlite| sqlite.ports());
        stage(&handles[0], "acme", 0..3).await;
        let scopes = [
            Scope::All,
            Scope::Kind("fold".into()),
            Scope::Tenant(group("acme", "").tenant),
        ];
        for scope in scopes {
            assert!(handles[0].queue_admin.pause(&scope, "a test").await.unwrap());
            assert!(claim(&handles[1], 9).await.is_empty(), "{scope}");
            let (resuming, waiting) = (handles[0].clone(), handles[1].clone());
            let mut both = tokio::task::JoinSet::new();
            both.spawn(async move {
                let knows = want(1, 1).capabilities;
                waiting
                    .queue
                    .wait(&knows, Duration::from_secs(120))
                    .await
                    .unwrap();
                claim(&waiting, 1).await.len()
            });
            assert!(resuming.queue_admin.resume(&scope).await.unwrap());
            assert_eq!(both.join_all().await, [1]);
        }
    });
}

/// bounds count what all handles have staged.
#[test]
fn handles_share_the_bounds() {
    let (_directory, path) = place();
    run(async {
        let settings = foldwright_adapter_sqlite::SqliteSettings {
            queue: QueueSettings {
                bounds: QueueBounds {
                    jobs: Some(5),
                    ..QueueBounds::NONE
                },
                ..QueueSettings::default()
            },
            ..Default::default()
        };
        let handles = [(); 2].map(|()| Sqlite::open(&path, settings.clone()).unwrap().ports());
        stage(&handles[0], "acme", 0..3).await;
        stage(&handles[1], "acme", 3..5).await;
        let one_more = vec![job(5, &group("acme", "5"))];
        let refused = handles[0]
            .queue
            .stage(nonce(), one_more.clone(), Room::Sender)
            .await
            .unwrap_err();
        assert_eq!((refused.error.kind(), &refused.jobs), (Kind::Full, &one_more));
        handles[0]
            .queue
            .stage(nonce(), one_more, Room::Lease)
            .await
            .unwrap();
    });
}

/// K-16: figures that were forced off are found and put right while the other handle works on, and its work stays counted.
#[test]
fn a_recount_puts_figures_right_beside_live_work() {
    let (_directory, path) = place();
    run(async {
        let (sqlite, other) = (open(&path), open(&path));
        let ports = sqlite.ports();
        stage(&ports, "acme", 0..20).await;
        let leases = claim(&ports, 5).await;
        for sql in [
            "UPDATE fw_tenants SET in_flight = in_flight + 95, jobs = jobs - 4, bytes = bytes + 7",
            "UPDATE fw_depths SET waiting = waiting - 4",
        ] {
            sqlite.write(move |tx| tx.execute(sql, [])).await.unwrap();
        }
        let (working, work) = (other.ports(), leases[0].clone());
        let mut live = tokio::task::JoinSet::new();
        live.spawn(async move {
            stage(&working, "acme", 20..60).await;
            complete(&working, &[work]).await;
        });
        let drifts = ports.queue_admin.recount().await.unwrap();
        live.join_all().await;
        let tenant = group("acme", "").tenant;
        let by = |drift: &Drift| drift.is - drift.was;
        let found: Vec<_> = drifts
            .iter()
            .map(|drift| (drift.figure.clone(), by(drift)))
            .collect();
        let route = crate::support::route();
        assert_eq!(
            found,
            [
                (Figure::Waiting(route), 4),
                (Figure::InFlight(tenant.clone()), -95),
                (Figure::Jobs(tenant.clone()), 4),
                (Figure::Bytes(tenant.clone()), -7),
            ]
        );
        assert_eq!(ports.queue_admin.recount().await.unwrap(), []);
        let view = ports.queue_admin.tenant(&tenant).await.unwrap();
        assert_eq!((view.in_flight, view.jobs), (4, 59));
        assert_eq!(claim(&ports, 99).await.len(), 55);
    });
}

/// whatever is derived from the jobs follows them again after a check, and everything runs.
#[test]
fn a_check_mends_what_is_derived() {
    let (_directory, path) = place();
    run(async {
        let sqlite = open(&path);
        let ports = sqlite.ports();
        stage(&ports, "acme", 0..6).await;
        let leases = claim(&ports, 1).await;
        assert_eq!(ports.queue_admin.check(None, 99).await.unwrap().violations, []);
        for sql in [
            "DELETE FROM fw_lines",
            "UPDATE fw_groups SET slot = NULL, at = NULL, head = NULL, score = NULL WHERE gid = 2",
            "UPDATE fw_groups SET counts = X'0100', bytes = 3 WHERE gid = 3",
            "DELETE FROM fw_grants",
            "INSERT INTO fw_lines VALUES (99999, 1, 5, 0, 0, NULL)",
        ] {
            assert!(sqlite.write(move |tx| tx.execute(sql, [])).await.unwrap() > 0);
        }
        let mut from = None;
        let mut repaired = 0;
        loop {
            let checked = ports.queue_admin.check(from, 2).await.unwrap();
            assert!(checked.violations.iter().all(|one| one.repaired), "{checked:?}");
            repaired += checked.violations.len();
            from = checked.next;
            if from.is_none() {
                break;
            }
        }
        assert_eq!(repaired, 5, "a lease, a place, two counts and a line");
        assert_eq!(ports.queue_admin.check(None, 99).await.unwrap().violations, []);
        assert_eq!(claim(&ports, 9).await.len(), 5);
        complete(&ports, &leases).await;
        let filter = foldwright_ports::GroupFilter {
            state: Some(GroupState::Running),
            ..Default::default()
        };
        let all = foldwright_ports::Limits::items(9);
        let groups = ports.queue_admin.groups(&filter, None, all).await.unwrap();
        assert_eq!(groups.items.len(), 5, "the first lease was settled");
    });
}
