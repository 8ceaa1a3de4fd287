//! SQLite stores for the suites, each a file in a directory of its own.
use async_trait::async_trait;
use foldwright_adapter_sqlite::{Sqlite, SqliteSettings};
use foldwright_conformance::{Declares, Fixture, Harness, TestClock};
use foldwright_ports::{Ports, QueueSettings};
use std::{path::PathBuf, sync::Arc};
use tempfile::TempDir;

pub(crate) struct SqliteFixture;

/// A file with its handle.
struct File {
    sqlite: Sqlite,
    directory: TempDir,
}

impl File {
    fn path(&self) -> PathBuf {
        self.directory.path().join("store.db")
    }

    fn open(directory: TempDir, clock: &TestClock, queue: &QueueSettings) -> Self {
        let sqlite = open(&directory.path().join("store.db"), clock, queue);
        Self { sqlite, directory }
    }
}

fn open(path: &std::path::Path, clock: &TestClock, queue: &QueueSettings) -> Sqlite {
    let settings = SqliteSettings {
        clock: Arc::new(clock.clone()),
        queue: *queue,
        ..SqliteSettings::default()
    };
    Sqlite::open(path, settings).unwrap()
}

#[async_trait]
impl Fixture for SqliteFixture {
    fn declares(&self) -> Declares {
        Declares {
            conditional_append: true,
            durable: true,
        }
    }

    async fn open_with(&self, settings: QueueSettings) -> Harness {
        let clock = TestClock::default();
        let file = File::open(tempfile::tempdir().unwrap(), &clock, &settings);
        Harness::new(file.sqlite.ports(), clock, settings).keeping(file)
    }

    async fn reopen(&self, harness: &Harness) -> Ports {
        open(&harness.kept::<File>().path(), &harness.clock, &harness.settings).ports()
    }

    async fn restart(&self, harness: Harness) -> Harness {
        let (clock, settings) = (harness.clock.clone(), harness.settings);
        let file: File = harness.into_kept();
        file.sqlite.close().await.unwrap();
        let file = File::open(file.directory, &clock, &settings);
        Harness::new(file.sqlite.ports(), clock, settings).keeping(file)
    }
}
