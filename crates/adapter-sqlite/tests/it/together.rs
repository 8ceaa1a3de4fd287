//! One commit for many operations.
use crate::support::{append, event, group, job, nonce, open, place, run, stream, want};
use foldwright_adapter_sqlite::{Sqlite, rusqlite};
use foldwright_domain::Batch;
use foldwright_ports::{Append, AppendError, Expect, Kind, Limits, Outcome, Room, Settlement, WorkerId};
use std::{path::Path, sync::mpsc};

/// Keeps the writer busy until the sender is dropped, so that what is sent meanwhile waits for one commit.
async fn hold(sqlite: &Sqlite) -> (mpsc::Sender<()>, tokio::task::JoinHandle<()>) {
    let (release, held) = mpsc::channel::<()>();
    let (started, running) = tokio::sync::oneshot::channel();
    let writer = sqlite.clone();
    let task = tokio::task::spawn_local(async move {
        let held = writer.write(move |_| {
            started.send(()).unwrap();
            // An error means that it was released.
            let _ = held.recv();
            Ok(())
        });
        held.await.unwrap();
    });
    running.await.unwrap();
    (release, task)
}

/// Runs on one thread, so that everything spawned before a point is polled before the test goes on.
fn local<T>(test: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    tokio::task::LocalSet::new().block_on(&runtime, test)
}

/// The commits that the write-ahead file holds: a frame that ends one says how large the file is then.
fn commits(path: &Path) -> usize {
    let wal = std::fs::read(path.with_extension("db-wal")).unwrap();
    let number = |at: usize| u32::from_be_bytes(wal[at..at + 4].try_into().unwrap());
    let frame = 24 + usize::try_from(number(8)).unwrap();
    let frames = (32..wal.len())
        .step_by(frame)
        .filter(|at| at + frame <= wal.len());
    frames
        .filter(|at| number(at + 8) == number(16) && number(at + 4) != 0)
        .count()
}

/// L-07, L-08
#[test]
fn operations_that_wait_share_a_commit() {
    let (_directory, path) = place();
    local(async {
        let sqlite = open(&path);
        let log = sqlite.ports().log;
        let stream = stream("acme", "1");
        log.append(vec![append(0, &stream)]).await[0].as_ref().unwrap();
        let before = commits(&path);
        let (release, held) = hold(&sqlite).await;
        let calls: Vec<_> = (1..=100)
            .map(|n| {
                let (log, stream) = (log.clone(), stream.clone());
                tokio::task::spawn_local(async move { log.append(vec![append(n, &stream)]).await })
            })
            .collect();
        tokio::task::yield_now().await;
        drop(release);
        held.await.unwrap();
        for call in calls {
            call.await.unwrap()[0].as_ref().unwrap();
        }
        let took = commits(&path) - before;
        assert!(took < 20, "100 appends took {took} commits");
        let page = log.load(&stream, None, Limits::items(1_000)).await.unwrap();
        assert_eq!(page.items.len(), 101);
    });
}

/// L-01, L-07: what was answered is in the file, as any other reader sees it.
#[test]
fn an_answer_comes_after_the_commit() {
    let (_directory, path) = place();
    run(async {
        let sqlite = open(&path);
        let log = sqlite.ports().log;
        let other = rusqlite::Connection::open(&path).unwrap();
        let stream = stream("acme", "1");
        for n in 1..=50 {
            log.append(vec![append(n, &stream)]).await[0].as_ref().unwrap();
            let stored: i64 = other
                .query_row("SELECT count(*) FROM fw_events", [], |row| row.get(0))
                .unwrap();
            assert_eq!(stored.cast_unsigned(), n);
        }
    });
}

/// L-07: of the operations that share a commit, the broken ones fail alone.
#[test]
fn one_that_fails_fails_alone() {
    let (_directory, path) = place();
    local(async {
        let sqlite = open(&path);
        let (log, queue) = (sqlite.ports().log, sqlite.ports().queue);
        let stream = stream("acme", "1");
        sqlite
            .write(|tx| {
                tx.execute_batch(
                    "CREATE TRIGGER refused BEFORE INSERT ON fw_events WHEN NEW.data = CAST('{\"n\":13}' AS BLOB)
                     BEGIN SELECT RAISE(ABORT, 'thirteen'); END;",
                )
            })
            .await
            .unwrap();
        let (release, held) = hold(&sqlite).await;
        let mut calls = Vec::new();
        for n in 1..=20 {
            let (log, stream) = (log.clone(), stream.clone());
            calls.push(tokio::task::spawn_local(async move {
                log.append(vec![append(n, &stream)]).await.remove(0)
            }));
        }
        let staged = tokio::task::spawn_local({
            let queue = queue.clone();
            async move {
                queue
                    .stage(nonce(), vec![job(1, &group("acme", "g"))], Room::Sender)
                    .await
            }
        });
        tokio::task::yield_now().await;
        drop(release);
        held.await.unwrap();
        for (n, call) in (1..=20).zip(calls) {
            let answer = call.await.unwrap();
            match answer {
                Err(AppendError::Store(error)) if n == 13 => assert_eq!(error.kind(), Kind::Invalid),
                answer => assert_eq!(answer.unwrap().len(), 1, "{n}"),
            }
        }
        staged.await.unwrap().unwrap();
        let page = log.load(&stream, None, Limits::items(1_000)).await.unwrap();
        assert_eq!(page.items.len(), 19);
        assert_eq!(
            queue
                .claim(nonce(), WorkerId(1), &want(9, 9))
                .await
                .unwrap()
                .len(),
            1
        );
    });
}

/// A failing operation is rolled back whole, also what of it had worked.
#[test]
fn one_that_fails_half_way_leaves_nothing() {
    let (_directory, path) = place();
    run(async {
        let sqlite = open(&path);
        let queue = sqlite.ports().queue;
        let group = group("acme", "g");
        sqlite
            .write(|tx| {
                tx.execute_batch(
                    "CREATE TRIGGER refused BEFORE INSERT ON fw_jobs WHEN NEW.body = CAST('body 3' AS BLOB)
                     BEGIN SELECT RAISE(ABORT, 'three'); END;",
                )
            })
            .await
            .unwrap();
        let jobs: Vec<_> = (1..=5).map(|n| job(n, &group)).collect();
        let refused = queue
            .stage(nonce(), jobs.clone(), Room::Sender)
            .await
            .unwrap_err();
        assert_eq!(refused.jobs, jobs, "the jobs come back");
        assert!(sqlite.ports().queue_admin.depth().await.unwrap().is_empty());

        queue
            .stage(nonce(), vec![job(1, &group)], Room::Sender)
            .await
            .unwrap();
        let lease = queue
            .claim(nonce(), WorkerId(1), &want(1, 9))
            .await
            .unwrap()
            .remove(0);
        let settlement = Settlement {
            lease: lease.reference(),
            outcome: Outcome::complete(1),
            answers: Vec::new(),
            then: vec![job(2, &group), job(3, &group)],
        };
        let settled = queue
            .settle(nonce(), WorkerId(1), vec![settlement.clone()], None)
            .await;
        assert!(settled.is_err());
        let view = sqlite.ports().queue_admin.group(&group).await.unwrap().unwrap();
        assert!(view.leased && view.depth == 1, "{view:?}");
        sqlite
            .write(|tx| tx.execute_batch("DROP TRIGGER refused"))
            .await
            .unwrap();
        queue
            .settle(nonce(), WorkerId(1), vec![settlement], None)
            .await
            .unwrap();
        let view = sqlite.ports().queue_admin.group(&group).await.unwrap().unwrap();
        assert_eq!(view.depth, 2);
    });
}

/// A refused expectation stores nothing of its command and fails no neighbour.
#[test]
fn a_refused_expectation_fails_alone() {
    let (_directory, path) = place();
    run(async {
        let log = open(&path).ports().log;
        let stream = stream("acme", "1");
        let expecting = |n: u64, count| Append {
            batch: Batch::new(&stream, vec![event(n, &stream)]).unwrap(),
            expect: Expect::Count(count),
        };
        let answers = log
            .append(vec![
                expecting(1, 0),
                expecting(2, 0),
                expecting(3, 1),
                append(4, &stream),
            ])
            .await;
        let refused: Vec<_> = answers
            .iter()
            .map(|answer| match answer {
                Err(AppendError::CountMismatch { actual }) => Some(*actual),
                answer => {
                    answer.as_ref().unwrap();
                    None
                }
            })
            .collect();
        assert_eq!(refused, [None, Some(1), None, None]);
    });
}
