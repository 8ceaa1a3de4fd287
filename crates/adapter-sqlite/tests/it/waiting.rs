//! Waits that end although nothing was staged.
use crate::support::{group, job, nonce, open, place, run, want};
use foldwright_adapter_sqlite::{Sqlite, SqliteSettings};
use foldwright_conformance::TestClock;
use foldwright_ports::{
    BreakerSettings, Lease, Outcome, Ports, QueueSettings, Rest, Room, Scope, Settlement, WorkerId,
};
use std::{sync::Arc, time::Duration};
use tokio::{task::JoinSet, time::timeout};

/// Longer than any test.
const LONG: Duration = Duration::from_secs(3_600);

/// When a test gives up on a wait that should have ended.
const GIVE_UP: Duration = Duration::from_secs(60);

/// How long the route is closed.
const CLOSED: Duration = Duration::from_secs(5);

/// Starts a wait that has looked, found nothing, and goes on.
async fn waits(ports: &Ports) -> JoinSet<()> {
    let queue = ports.queue.clone();
    let mut wait = JoinSet::new();
    wait.spawn(async move { queue.wait(&want(1, 1).capabilities, LONG).await.unwrap() });
    let early = timeout(Duration::from_millis(150), wait.join_next()).await;
    assert!(early.is_err(), "there is nothing that it may be woken for");
    wait
}

async fn ends(wait: JoinSet<()>) {
    let ended = timeout(GIVE_UP, wait.join_all()).await;
    ended.expect("the wait should have ended by now");
}

async fn stage(ports: &Ports, tenant: &str, n: u64) {
    let staged = vec![job(n, &group(tenant, &n.to_string()))];
    ports.queue.stage(nonce(), staged, Room::Sender).await.unwrap();
}

async fn claim(ports: &Ports) -> Vec<Lease> {
    ports
        .queue
        .claim(nonce(), WorkerId(1), &want(9, 9))
        .await
        .unwrap()
}

/// F-13, Q-13: a resume through one handle ends a wait through another, whatever was paused.
#[test]
fn a_resume_through_another_handle_ends_a_wait() {
    let (_directory, path) = place();
    run(async {
        let (one, other) = (open(&path), open(&path));
        let (one, other) = (one.ports(), other.ports());
        stage(&one, "acme", 1).await;
        let scopes = [
            Scope::All,
            Scope::Kind("fold".into()),
            Scope::Tenant(group("acme", "").tenant),
            Scope::Group(group("acme", "1")),
        ];
        for scope in scopes {
            assert!(one.queue_admin.pause(&scope, "a test").await.unwrap());
            let wait = waits(&other).await;
            assert!(one.queue_admin.resume(&scope).await.unwrap());
            ends(wait).await;
        }
        assert_eq!(claim(&other).await.len(), 1);
    });
}

/// a wait ends when the breaker opens a route again, whether it was closed for one tenant or for all.
#[test]
fn the_end_of_a_closing_ends_a_wait() {
    for failing in [&["acme"][..], &["acme", "beta"][..]] {
        let (_directory, path) = place();
        run(async {
            let clock = TestClock::default();
            let sqlite = Sqlite::open(&path, closing_soon(&clock)).unwrap();
            let ports = sqlite.ports();
            for (at, tenant) in (0..).zip(failing) {
                for n in 0..3 {
                    stage(&ports, tenant, at * 10 + n).await;
                }
            }
            let failed = claim(&ports).await.into_iter().map(|lease| Settlement {
                lease: lease.reference(),
                outcome: Outcome {
                    done: 0,
                    rest: Rest::Retry {
                        floor: Some(LONG),
                        error: "the service is down".into(),
                    },
                },
                answers: Vec::new(),
                then: Vec::new(),
            });
            ports
                .queue
                .settle(nonce(), WorkerId(1), failed.collect(), None)
                .await
                .unwrap();
            let waiting = if failing.len() > 1 { "gamma" } else { "acme" };
            stage(&ports, waiting, 99).await;
            assert!(claim(&ports).await.is_empty(), "the route is closed");
            let wait = waits(&ports).await;
            clock.advance(CLOSED);
            ends(wait).await;
            assert_eq!(claim(&ports).await.len(), 1);
        });
    }
}

/// Three groups with one error close a route for their tenant, two tenants for all.
fn closing_soon(clock: &TestClock) -> SqliteSettings {
    SqliteSettings {
        clock: Arc::new(clock.clone()),
        queue: QueueSettings {
            breaker: BreakerSettings {
                groups: 3,
                window: Duration::from_secs(60),
                tenants: 2,
                first: CLOSED,
                longest: CLOSED,
            },
            ..QueueSettings::default()
        },
        ..SqliteSettings::default()
    }
}
