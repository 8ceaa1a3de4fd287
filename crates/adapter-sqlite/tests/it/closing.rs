//! Ending.
use crate::support::{append, open, place, run, stream};
use foldwright_ports::{AppendError, Kind, Limits};
use tokio::task::JoinSet;

/// H-09
#[test]
fn closing_lets_what_was_handed_over_end() {
    let (_directory, path) = place();
    run(async {
        let sqlite = open(&path);
        let log = sqlite.ports().log;
        let stream = stream("acme", "1");
        let mut calls = JoinSet::new();
        for n in 1..=200 {
            let (log, stream) = (log.clone(), stream.clone());
            calls.spawn(async move { log.append(vec![append(n, &stream)]).await.remove(0).is_ok() });
        }
        tokio::task::yield_now().await;
        sqlite.close().await.unwrap();
        let answered = calls.join_all().await.into_iter().filter(|ok| *ok).count();
        let again = open(&path);
        let page = again
            .ports()
            .log
            .load(&stream, None, Limits::items(1_000))
            .await
            .unwrap();
        assert_eq!(page.items.len(), answered, "answered and stored are the same");
    });
}

#[test]
fn nothing_runs_after_the_close() {
    let (_directory, path) = place();
    run(async {
        let sqlite = open(&path);
        let ports = sqlite.ports();
        let stream = stream("acme", "1");
        sqlite.close().await.unwrap();
        sqlite.close().await.unwrap();
        match ports.log.append(vec![append(1, &stream)]).await.remove(0) {
            Err(AppendError::Store(error)) => assert_eq!(error.kind(), Kind::Closed),
            other => panic!("{other:?}"),
        }
        let read = ports.log.load(&stream, None, Limits::items(1)).await;
        assert_eq!(read.unwrap_err().kind(), Kind::Closed);
        assert_eq!(sqlite.write(|_| Ok(())).await.unwrap_err().kind(), Kind::Closed);
        assert_eq!(sqlite.read(|_| Ok(())).await.unwrap_err().kind(), Kind::Closed);
    });
}

#[test]
fn closing_leaves_one_file() {
    let (directory, path) = place();
    run(async {
        let sqlite = open(&path);
        sqlite
            .ports()
            .log
            .append(vec![append(1, &stream("acme", "1"))])
            .await[0]
            .as_ref()
            .unwrap();
        sqlite.close().await.unwrap();
    });
    let names: Vec<_> = std::fs::read_dir(directory.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    assert_eq!(names, ["store.db"]);
}

#[test]
fn a_handle_may_be_dropped_without_a_close() {
    let (_directory, path) = place();
    let stream = stream("acme", "1");
    for n in 1..=20 {
        run(async {
            let sqlite = open(&path);
            sqlite.ports().log.append(vec![append(n, &stream)]).await[0]
                .as_ref()
                .unwrap();
        });
    }
    run(async {
        let page = open(&path)
            .ports()
            .log
            .load(&stream, None, Limits::items(99))
            .await;
        assert_eq!(page.unwrap().items.len(), 20);
    });
}
