//! Several handles on one file, as several processes have them.
use crate::support::{append, group, job, nonce, open, place, run, stream, want};
use foldwright_adapter_sqlite::{Sqlite, SqliteSettings, rusqlite::Connection};
use foldwright_ports::{AppendError, Kind, Limits, Outcome, Room, Settlement, WorkerId};
use std::{collections::BTreeSet, time::Duration};
use tokio::task::JoinSet;

/// L-02, Q-02: handles take turns; names that both meet first become one name, tokens never repeat.
#[test]
fn two_handles_work_side_by_side() {
    let (_directory, path) = place();
    run(async {
        let handles = [open(&path), open(&path)];
        let mut tasks = JoinSet::new();
        for (at, sqlite) in handles.iter().enumerate() {
            let ports = sqlite.ports();
            tasks.spawn(async move {
                let mut fences = Vec::new();
                for n in 0..40_u64 {
                    // Both handles meet each tenant, stream and event at about the same time.
                    let name = format!("tenant-{n}");
                    let stream = stream(&name, "1");
                    ports.log.append(vec![append(n, &stream)]).await[0]
                        .as_ref()
                        .unwrap();
                    let own = n * 2 + at as u64;
                    let staged = vec![job(own, &group(&name, &format!("{at}")))];
                    ports.queue.stage(nonce(), staged, Room::Sender).await.unwrap();
                    let leases = ports
                        .queue
                        .claim(nonce(), WorkerId(at as u128), &want(3, 9))
                        .await
                        .unwrap();
                    for lease in leases {
                        fences.push(lease.fence);
                        let settlement = Settlement {
                            lease: lease.reference(),
                            outcome: Outcome::complete(lease.jobs.len()),
                            answers: Vec::new(),
                            then: Vec::new(),
                        };
                        ports
                            .queue
                            .settle(nonce(), WorkerId(1), vec![settlement], None)
                            .await
                            .unwrap();
                    }
                }
                fences
            });
        }
        let fences = tasks.join_all().await.concat();
        let distinct: BTreeSet<_> = fences.iter().collect();
        assert_eq!(distinct.len(), fences.len());
        assert_eq!(fences.len(), 80, "each job ran once");
        for n in 0..40 {
            let stream = stream(&format!("tenant-{n}"), "1");
            for sqlite in &handles {
                let page = sqlite
                    .ports()
                    .log
                    .load(&stream, None, Limits::items(9))
                    .await
                    .unwrap();
                assert_eq!(page.items.len(), 1);
            }
        }
    });
}

///
#[test]
fn a_worker_is_woken_by_another_handle() {
    let (_directory, path) = place();
    run(async {
        let (waiting, staging) = (open(&path), open(&path));
        let queue = waiting.ports().queue;
        let mut wait = JoinSet::new();
        wait.spawn(async move {
            queue
                .wait(&want(1, 1).capabilities, Duration::from_secs(120))
                .await
                .unwrap();
            queue
                .claim(nonce(), WorkerId(1), &want(1, 1))
                .await
                .unwrap()
                .len()
        });
        let staged = vec![job(1, &group("acme", "g"))];
        staging
            .ports()
            .queue
            .stage(nonce(), staged, Room::Sender)
            .await
            .unwrap();
        assert_eq!(wait.join_all().await, [1]);
    });
}

/// A file that another process keeps locked is an error that may pass, in bounded time, and nothing takes effect.
#[test]
fn a_locked_file_is_unavailable_for_now() {
    let (_directory, path) = place();
    run(async {
        let settings = SqliteSettings {
            busy_timeout: Duration::from_millis(50),
            ..SqliteSettings::default()
        };
        let sqlite = Sqlite::open(&path, settings).unwrap();
        let log = sqlite.ports().log;
        let stream = stream("acme", "1");
        let other = Connection::open(&path).unwrap();
        other.execute_batch("BEGIN IMMEDIATE").unwrap();
        let refused = log.append(vec![append(1, &stream), append(2, &stream)]).await;
        assert_eq!(refused.len(), 2);
        for refused in refused {
            match refused {
                Err(AppendError::Store(error)) => assert_eq!(error.kind(), Kind::Unavailable),
                other => panic!("{other:?}"),
            }
        }
        let page = log.load(&stream, None, Limits::items(9)).await.unwrap();
        assert!(page.items.is_empty(), "reading goes on");
        other.execute_batch("ROLLBACK").unwrap();
        log.append(vec![append(1, &stream)]).await[0].as_ref().unwrap();
        let page = log.load(&stream, None, Limits::items(9)).await.unwrap();
        assert_eq!(page.items.len(), 1);
    });
}

/// A read sees what another handle was answered.
#[test]
fn a_read_sees_what_another_handle_wrote() {
    let (_directory, path) = place();
    run(async {
        let (writing, reading) = (open(&path), open(&path));
        let stream = stream("acme", "1");
        for n in 1..=30 {
            writing.ports().log.append(vec![append(n, &stream)]).await[0]
                .as_ref()
                .unwrap();
            let page = reading
                .ports()
                .log
                .load(&stream, None, Limits::items(99))
                .await
                .unwrap();
            assert_eq!(page.items.len() as u64, n);
        }
    });
}
