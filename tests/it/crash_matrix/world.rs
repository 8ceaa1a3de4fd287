//! The file with the service on it, and what the service and its sender write there beside the kernel.
use super::{
    ears::{All, Calm, Ear, Late},
    points::{Points, with_points},
    service::{Finish, Lines, Note, Parity, Run, Shelf, Story, Take, Totals},
    shelf::ShelfTable,
};
use foldwright::{
    Kernel, Pipeline, Role, WorkerSettings,
    domain::{Dispatch, Millis},
    ports::{Clock, Ladder, Ports, QueueSettings, SystemClock},
    sqlite::{Sqlite, SqliteSettings, rusqlite::OptionalExtension},
};
use std::{
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

/// So short that what a dead process held is soon free, and no shorter than a busy machine needs.
const LEASE: Duration = Duration::from_millis(500);

const TABLES: &str = "
    CREATE TABLE IF NOT EXISTS notes (name TEXT PRIMARY KEY, value TEXT NOT NULL);
    CREATE TABLE IF NOT EXISTS attempts (by TEXT NOT NULL);
    CREATE TABLE IF NOT EXISTS facts (event TEXT PRIMARY KEY, fact TEXT NOT NULL);
    CREATE TABLE IF NOT EXISTS heard (ear TEXT NOT NULL, event TEXT NOT NULL, state TEXT NOT NULL, stored INTEGER NOT NULL);
    CREATE TABLE IF NOT EXISTS shelf (tenant TEXT NOT NULL, key TEXT NOT NULL, state TEXT NOT NULL, meta TEXT NOT NULL,
        ledger BLOB NOT NULL, PRIMARY KEY (tenant, key));
";

/// The machine's clock, moved on for all processes on the file together by what a second file says.
struct SharedClock(PathBuf);

impl Clock for SharedClock {
    fn now(&self) -> Millis {
        let ahead = std::fs::read_to_string(&self.0).ok();
        let ahead = ahead.and_then(|text| text.parse().ok()).unwrap_or(0);
        Millis(SystemClock.now().0 + ahead)
    }
}

fn ahead(store: &Path) -> PathBuf {
    store.with_extension("ahead")
}

/// The ports of a file without failpoints, for those who look at it.
pub(super) fn open(store: &Path) -> Sqlite {
    let settings = SqliteSettings {
        clock: Arc::new(SharedClock(ahead(store))),
        queue: QueueSettings {
            ladder: Ladder {
                base: Duration::from_millis(10),
                cap: Duration::from_millis(20),
                attempts: 2,
            },
            // A process that is held up by a busy machine is no dead one, and nothing here is poison.
            deaths: 0,
            ..QueueSettings::default()
        },
        watch_interval: Duration::from_millis(10),
        ..SqliteSettings::default()
    };
    Sqlite::open(store, settings).unwrap()
}

#[derive(Clone)]
pub(super) struct World {
    pub(super) sqlite: Sqlite,
    pub(super) ports: Ports,
    pub(super) points: Arc<Points>,
    ahead: PathBuf,
}

impl World {
    pub(super) async fn open(store: &Path, points: Arc<Points>) -> Self {
        let sqlite = open(store);
        sqlite.write(|tx| tx.execute_batch(TABLES)).await.unwrap();
        Self {
            ports: with_points(&sqlite.ports(), &points),
            sqlite,
            points,
            ahead: ahead(store),
        }
    }

    pub(super) fn kernel(&self, role: Role) -> Kernel {
        let pipeline = Pipeline::<Run>::define("runs")
            .declares::<Note>()
            .command::<Finish>()
            .decider::<Take>()
            .fold::<Totals>(|f| f.subscriber(Ear::<_, All>::new(self), Dispatch::each()))
            .fold::<Shelf>(|f| f)
            .fold::<Story>(|f| {
                f.subscriber(
                    Ear::<_, Calm>::new(self),
                    Dispatch::debounce(Duration::from_millis(20)),
                )
            })
            .keyed::<Parity>(|f| f)
            .map::<Lines>(|m| {
                m.subscriber(
                    Ear::<_, Late>::new(self),
                    Dispatch::delayed(Duration::from_millis(20)),
                )
            })
            .build()
            .unwrap();
        Kernel::builder(self.ports.clone(), role)
            .worker(WorkerSettings {
                bulk_lanes: 1,
                effect_lanes: 2,
                max_groups: 4,
                lease: LEASE,
                idle: Duration::from_millis(20),
                sweep: Duration::from_millis(20),
                check: Duration::from_secs(3_600),
                ..WorkerSettings::default()
            })
            .table::<Shelf>(Arc::new(ShelfTable(self.clone())))
            .pipeline(pipeline)
            .start()
            .unwrap()
    }

    /// Moves the time of all processes on.
    pub(super) fn moves_on(&self, by: Duration) {
        let new = self.ahead.with_extension("ahead-new");
        std::fs::write(&new, by.as_millis().to_string()).unwrap();
        std::fs::rename(new, &self.ahead).unwrap();
    }

    pub(super) async fn note(&self, name: &str, value: &str) {
        let (name, value) = (name.to_owned(), value.to_owned());
        let write = self.sqlite.write(move |tx| {
            tx.execute(
                "INSERT OR IGNORE INTO notes (name, value) VALUES (?1, ?2)",
                (name, value),
            )
        });
        self.points.quiet(write).await.unwrap();
    }

    pub(super) async fn noted(&self, name: &str) -> Option<String> {
        let name = name.to_owned();
        let read = self.sqlite.read(move |db| {
            db.query_row("SELECT value FROM notes WHERE name = ?1", [name], |row| {
                row.get(0)
            })
            .optional()
        });
        self.points.quiet(read).await.unwrap()
    }

    /// The sender is about to send these.
    pub(super) async fn attempt(&self, by: Vec<String>) {
        let write = self.sqlite.write(move |tx| {
            for by in by {
                tx.execute("INSERT INTO attempts (by) VALUES (?1)", [by])?;
            }
            Ok(())
        });
        self.points.quiet(write).await.unwrap();
    }
}
