//! Files of an earlier schema.
use crate::support::{group, job, nonce, place, run, want};
use foldwright_adapter_sqlite::{Sqlite, SqliteSettings, rusqlite::Connection};
use foldwright_conformance::TestClock;
use foldwright_ports::{
    BlobHash, BlobRef, Fence, Held, LeaseEnd, LeaseRef, Limits, Nonce, Outcome, Ports, Rest, Room,
    Settlement, Staged, Verdict, WorkerId,
};
use std::{collections::BTreeMap, path::Path, sync::Arc, time::Duration};

const FIRST: &str = include_str!("../../migrations/0001_initial.sql");
const ROWS: &str = include_str!("../data/first_schema.sql");

/// The token of the lease that was live when the file was closed.
const LIVE: Fence = Fence(1_764_500_000_000_004);

fn write_first(path: &Path) {
    let db = Connection::open(path).unwrap();
    db.execute_batch(FIRST).unwrap();
    db.execute_batch(ROWS).unwrap();
    db.execute_batch("PRAGMA application_id = 1182233204; PRAGMA user_version = 1;")
        .unwrap();
}

fn reopen(path: &Path, clock: &TestClock) -> Sqlite {
    let settings = SqliteSettings {
        clock: Arc::new(clock.clone()),
        ..SqliteSettings::default()
    };
    Sqlite::open(path, settings).unwrap()
}

fn settlement(lease: LeaseRef, outcome: Outcome) -> Settlement {
    Settlement {
        lease,
        outcome,
        answers: Vec::new(),
        then: Vec::new(),
    }
}

/// Claims and completes until nothing is left; answers how many jobs ran in which group.
async fn run_all(ports: &Ports) -> BTreeMap<String, usize> {
    let mut ran = BTreeMap::new();
    loop {
        let leases = ports
            .queue
            .claim(nonce(), WorkerId(1), &want(9, 9))
            .await
            .unwrap();
        if leases.is_empty() {
            return ran;
        }
        for lease in leases {
            *ran.entry(lease.group.key.to_string()).or_default() += lease.jobs.len();
            let done = settlement(lease.reference(), Outcome::complete(lease.jobs.len()));
            let settled = ports.queue.settle(nonce(), WorkerId(1), vec![done], None).await;
            assert!(matches!(settled.unwrap().verdicts[..], [Verdict::Applied]));
        }
    }
}

async fn figures_are_right(ports: &Ports) {
    assert_eq!(ports.queue_admin.recount().await.unwrap(), []);
    let checked = ports.queue_admin.check(None, 99).await.unwrap();
    assert_eq!(checked.violations, []);
}

fn counted(ran: &[(&str, usize)]) -> BTreeMap<String, usize> {
    ran.iter()
        .map(|(group, jobs)| ((*group).to_owned(), *jobs))
        .collect()
}

/// H-10, Q-16: what an earlier release left behind goes on where it was.
#[test]
fn a_file_of_the_first_schema_goes_on() {
    let (_directory, path) = place();
    write_first(&path);
    run(async {
        let clock = TestClock::default();
        let sqlite = reopen(&path, &clock);
        let ports = sqlite.ports();
        figures_are_right(&ports).await;
        let acme = ports.queue_admin.tenant(&group("acme", "").tenant).await.unwrap();
        assert_eq!((acme.in_flight, acme.jobs), (1, 9));

        // A call of the earlier release is repeated under its nonce.
        let again = ports
            .queue
            .claim(Nonce(111), WorkerId(7), &want(1, 9))
            .await
            .unwrap();
        assert_eq!((again[0].fence, again[0].jobs.len()), (LIVE, 2));
        let lease = LeaseRef {
            group: group("acme", "leased"),
            fence: LIVE,
        };
        let half = Outcome {
            done: 1,
            rest: Rest::Back,
        };
        let settled = ports
            .queue
            .settle(nonce(), WorkerId(7), vec![settlement(lease, half)], None)
            .await
            .unwrap();
        assert!(matches!(settled.verdicts[..], [Verdict::Applied]));
        figures_are_right(&ports).await;

        // The window of the earlier release takes in one more.
        let merged = foldwright_ports::NewJob {
            dedup: Some(foldwright_ports::Dedup {
                ttl: Duration::from_secs(120),
                window: foldwright_ports::MergeWindow::Fixed,
                replace: true,
            }),
            ..job(99, &group("globex", "merging"))
        };
        let staged = ports
            .queue
            .stage(nonce(), vec![merged], Room::Sender)
            .await
            .unwrap();
        assert_eq!(staged, [Staged::Squashed]);

        assert_eq!(run_all(&ports).await, counted(&[("leased", 1), ("waiting", 2)]));
        clock.advance(Duration::from_secs(11));
        assert_eq!(run_all(&ports).await, counted(&[("retrying", 1), ("merging", 1)]));
        clock.advance(Duration::from_secs(50));
        assert_eq!(run_all(&ports).await, counted(&[("deferred", 1)]));
        clock.advance(Duration::from_secs(3_600));
        assert_eq!(run_all(&ports).await, counted(&[("waiting", 1)]));

        let blocked = ports
            .queue_admin
            .blocked(None, None, Limits::items(9))
            .await
            .unwrap();
        assert_eq!(
            (blocked.items[0].failures, &*blocked.items[0].error),
            (1, "on purpose")
        );
        assert!(
            ports
                .queue_admin
                .unblock(&group("acme", "blocked"))
                .await
                .unwrap()
        );
        assert_eq!(ports.queue_admin.requeue_all(None, 9).await.unwrap().jobs, 1);
        assert_eq!(run_all(&ports).await, counted(&[("blocked", 2), ("dead", 1)]));
        figures_are_right(&ports).await;
        let blob = BlobRef {
            tenant: group("acme", "").tenant,
            hash: BlobHash::of(b"blob"),
        };
        assert!(matches!(
            ports.queue.held(&[blob]).await.unwrap()[..],
            [Held::Released(_)]
        ));
    });
}

/// a lease of the earlier release lapses like any other.
#[test]
fn a_lease_of_the_first_schema_lapses() {
    let (_directory, path) = place();
    write_first(&path);
    run(async {
        let clock = TestClock::default();
        let sqlite = reopen(&path, &clock);
        let ports = sqlite.ports();
        clock.advance(Duration::from_secs(31));
        let reaped = ports.queue.reap(9).await.unwrap();
        assert_eq!((reaped.lapsed, reaped.deaths), (1, 0));
        figures_are_right(&ports).await;
        let leases = ports
            .queue
            .claim(nonce(), WorkerId(1), &want(9, 9))
            .await
            .unwrap();
        let lapsed = leases.iter().find(|lease| &*lease.group.key == "leased").unwrap();
        assert_eq!((lapsed.previous, lapsed.jobs.len()), (LeaseEnd::Lapsed, 2));
    });
}

/// the failures that an earlier release counted count on.
#[test]
fn the_ladder_of_the_first_schema_goes_on() {
    let (_directory, path) = place();
    write_first(&path);
    run(async {
        let clock = TestClock::default();
        let sqlite = reopen(&path, &clock);
        let ports = sqlite.ports();
        clock.advance(Duration::from_secs(1));
        let leases = ports
            .queue
            .claim(nonce(), WorkerId(1), &want(9, 9))
            .await
            .unwrap();
        let retried = leases
            .iter()
            .find(|lease| &*lease.group.key == "retrying")
            .unwrap();
        assert_eq!(retried.attempt, 2);
    });
}
