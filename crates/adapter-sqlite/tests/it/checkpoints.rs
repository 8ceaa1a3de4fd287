//! The write-ahead file while it is moved beside the writer.
use crate::support::{append, open_with_checkpoints, place, run, stream};
use foldwright_adapter_sqlite::{Sqlite, rusqlite::Connection};
use foldwright_ports::Limits;
use std::{path::Path, sync::mpsc};
use tokio::task::JoinSet;

/// Pages after which a pass is asked for.
const EVERY: u32 = 4;

/// What the write-ahead file may have at most: the bound, and one commit of a few pages that reaches over it.
const BOUND: u64 = (64 * EVERY as u64 + 32) * (8_192 + 24);

fn wal(path: &Path) -> u64 {
    std::fs::metadata(path.with_extension("db-wal")).unwrap().len()
}

/// Appends one event a call.
async fn fill(sqlite: &Sqlite, numbers: std::ops::Range<u64>) {
    let log = sqlite.ports().log;
    for n in numbers {
        log.append(vec![append(n, &stream("acme", "1"))]).await[0]
            .as_ref()
            .unwrap();
    }
}

async fn stored(sqlite: &Sqlite) -> usize {
    let log = sqlite.ports().log;
    let page = log.load(&stream("acme", "1"), None, Limits::items(10_000)).await;
    page.unwrap().items.len()
}

fn is_sound(path: &Path) {
    let sound: String = Connection::open(path)
        .unwrap()
        .query_row("PRAGMA integrity_check", [], |row| row.get(0))
        .unwrap();
    assert_eq!(sound, "ok");
}

#[test]
fn a_writer_that_never_rests_does_not_grow_the_file() {
    let (_directory, path) = place();
    run(async {
        let sqlite = open_with_checkpoints(&path, EVERY);
        for round in 0..50 {
            fill(&sqlite, round * 20..(round + 1) * 20).await;
            assert!(wal(&path) <= BOUND, "{} bytes in round {round}", wal(&path));
        }
        assert_eq!(stored(&sqlite).await, 1_000);
        sqlite.close().await.unwrap();
    });
    is_sound(&path);
}

#[test]
fn an_old_view_lets_it_grow_and_its_end_shrinks_it() {
    let (_directory, path) = place();
    run(async {
        let sqlite = open_with_checkpoints(&path, EVERY);
        fill(&sqlite, 0..1).await;
        let ((release, held), (started, looking)) = (mpsc::channel::<()>(), mpsc::channel());
        let reader = sqlite.clone();
        let mut view = JoinSet::new();
        view.spawn(async move {
            let read = reader.read(move |db| {
                let view = db.unchecked_transaction()?;
                let count =
                    || view.query_row("SELECT count(*) FROM fw_events", [], |row| row.get::<_, i64>(0));
                let before = count()?;
                started.send(()).unwrap();
                // An error means that it was released.
                let _ = held.recv();
                Ok((before, count()?))
            });
            read.await.unwrap()
        });
        tokio::task::spawn_blocking(move || looking.recv().unwrap())
            .await
            .unwrap();
        fill(&sqlite, 1..400).await;
        assert!(wal(&path) > BOUND, "the view keeps what it sees");
        drop(release);
        assert_eq!(view.join_all().await, [(1, 1)], "a view does not change");
        fill(&sqlite, 400..1_000).await;
        assert!(wal(&path) <= BOUND, "{} bytes", wal(&path));
        assert_eq!(stored(&sqlite).await, 1_000);
        sqlite.close().await.unwrap();
    });
    is_sound(&path);
}

/// L-02
#[test]
fn handles_that_move_it_at_once_lose_nothing() {
    let (_directory, path) = place();
    run(async {
        let handles = [(); 2].map(|()| open_with_checkpoints(&path, 1));
        let mut tasks = JoinSet::new();
        for (at, sqlite) in (0_u64..).zip(handles.clone()) {
            tasks.spawn(async move { fill(&sqlite, at * 1_000..at * 1_000 + 200).await });
        }
        tasks.join_all().await;
        for sqlite in &handles {
            assert_eq!(stored(sqlite).await, 400);
            sqlite.close().await.unwrap();
        }
    });
    is_sound(&path);
}
