//! Opening files.
use crate::support::{append, open, place, run, stream};
use foldwright_adapter_sqlite::{Sqlite, SqliteSettings, rusqlite::Connection};
use foldwright_ports::{Kind, Limits};
use std::{
    path::Path,
    process::{Command, Stdio},
    sync::Barrier,
    time::Duration,
};

/// Names the file that a started copy of this test binary opens.
const CHILD: &str = "FOLDWRIGHT_TEST_OPEN";

fn kind_of(path: &Path) -> (Kind, String) {
    let error = Sqlite::open(path, SqliteSettings::default()).unwrap_err();
    (error.kind(), error.to_string())
}

/// H-10
#[test]
fn ten_threads_open_a_new_file_at_once() {
    for _ in 0..5 {
        let (_directory, path) = place();
        let together = Barrier::new(10);
        std::thread::scope(|scope| {
            for _ in 0..10 {
                scope.spawn(|| {
                    together.wait();
                    open(&path);
                });
            }
        });
        assert_usable(&path);
    }
}

/// H-10
#[test]
fn ten_processes_open_a_new_file_at_once() {
    let (_directory, path) = place();
    let start = || {
        Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "opening::a_started_copy_opens_the_file", "--nocapture"])
            .env(CHILD, &path)
            .stdout(Stdio::null())
            .spawn()
            .unwrap()
    };
    let children: Vec<_> = (0..10).map(|_| start()).collect();
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    assert_usable(&path);
}

/// The other half of [`ten_processes_open_a_new_file_at_once`]; on its own it has nothing to open.
#[test]
fn a_started_copy_opens_the_file() {
    if let Some(path) = std::env::var_os(CHILD) {
        assert_usable(Path::new(&path));
    }
}

fn assert_usable(path: &Path) {
    run(async {
        let sqlite = open(path);
        let stream = stream("acme", "1");
        sqlite.ports().log.append(vec![append(1, &stream)]).await[0]
            .as_ref()
            .unwrap();
        let page = sqlite.ports().log.load(&stream, None, Limits::items(9)).await;
        assert_eq!(page.unwrap().items.len(), 1);
        sqlite.close().await.unwrap();
    });
}

/// H-10
#[test]
fn opening_again_changes_nothing() {
    let (_directory, path) = place();
    run(async { open(&path).close().await.unwrap() });
    let schema = || -> Vec<String> {
        let db = Connection::open(&path).unwrap();
        let mut select = db
            .prepare("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL")
            .unwrap();
        let rows = select.query_map([], |row| row.get(0)).unwrap();
        rows.map(Result::unwrap).collect()
    };
    let before = schema();
    run(async { open(&path).close().await.unwrap() });
    assert_eq!(schema(), before);
}

#[test]
fn the_file_of_another_program_is_refused_and_left_alone() {
    let (_directory, path) = place();
    let db = Connection::open(&path).unwrap();
    db.execute_batch("CREATE TABLE theirs (x); PRAGMA user_version = 1;")
        .unwrap();
    drop(db);
    let before = std::fs::read(&path).unwrap();
    let (kind, text) = kind_of(&path);
    assert_eq!(kind, Kind::Invalid);
    assert!(text.contains("another program"), "{text}");
    assert_eq!(std::fs::read(&path).unwrap(), before);

    let (_directory, path) = place();
    let db = Connection::open(&path).unwrap();
    db.execute_batch("PRAGMA application_id = 7;").unwrap();
    drop(db);
    assert_eq!(kind_of(&path).0, Kind::Invalid);
}

#[test]
fn an_empty_file_is_taken() {
    let (_directory, path) = place();
    std::fs::write(&path, b"").unwrap();
    assert_usable(&path);
}

#[test]
fn what_is_no_database_is_refused() {
    let (_directory, path) = place();
    std::fs::write(&path, vec![b'x'; 8_192]).unwrap();
    assert_eq!(kind_of(&path).0, Kind::Corrupt);
}

#[test]
fn a_newer_schema_is_refused_with_advice() {
    let (_directory, path) = place();
    run(async { open(&path).close().await.unwrap() });
    let db = Connection::open(&path).unwrap();
    db.execute_batch("PRAGMA user_version = 999;").unwrap();
    drop(db);
    let (kind, text) = kind_of(&path);
    assert_eq!(kind, Kind::Unsupported);
    assert!(text.contains("999") && text.contains("newer release"), "{text}");
}

#[test]
fn a_store_in_memory_is_refused() {
    assert_eq!(kind_of(Path::new(":memory:")).0, Kind::Invalid);
    assert_eq!(kind_of(Path::new("")).0, Kind::Invalid);
}

#[test]
fn a_directory_is_named() {
    let (_directory, path) = place();
    std::fs::create_dir(&path).unwrap();
    let (kind, text) = kind_of(&path);
    assert_eq!(kind, Kind::Invalid);
    assert!(text.contains("is a directory"), "{text}");
}

#[test]
fn a_missing_directory_is_named() {
    let (_directory, path) = place();
    let (_, text) = kind_of(&path.join("no/such.db"));
    assert!(text.contains("directory"), "{text}");
}

/// G12
#[test]
fn settings_that_cannot_work_are_refused_before_a_file_is_made() {
    let (_directory, path) = place();
    let settings = SqliteSettings {
        readers: 0,
        watch_interval: Duration::ZERO,
        ..SqliteSettings::default()
    };
    let error = Sqlite::open(&path, settings).unwrap_err();
    assert_eq!(error.kind(), Kind::Invalid);
    assert!(!path.exists());
}
