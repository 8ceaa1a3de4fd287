//! The compositions that benches and whole-system tests run.
use foldwright::{
    Subscriber,
    domain::Recorded,
    memory::Memory,
    ports::{Ports, QueueSettings, SystemClock},
    prelude::EffectError,
    sqlite::{Sqlite, SqliteSettings, Synchronous},
};
use foldwright_traces::{span_recorded::TraceEvent, trace_summary::Summary};
use std::sync::Arc;

/// Which adapters a kernel runs on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Composition {
    /// Everything in memory.
    Memory,
    /// One SQLite file; an answer survives the loss of power.
    Sqlite,
    /// One SQLite file; an answer survives the death of the process.
    SqliteNormal,
}

impl Composition {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Memory, Self::Sqlite, Self::SqliteNormal];

    /// Its name as a scenario.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Memory => "memory",
            Self::Sqlite => "sqlite",
            Self::SqliteNormal => "sqlite_normal",
        }
    }

    /// Opens fresh stores.
    pub fn open(self) -> Result<Opened, Box<dyn std::error::Error + Send + Sync>> {
        let synchronous = match self {
            Self::Memory => {
                let memory = Memory::new(Arc::new(SystemClock), QueueSettings::default());
                return Ok(Opened {
                    ports: memory.ports(),
                    file: None,
                });
            }
            Self::Sqlite => Synchronous::Full,
            Self::SqliteNormal => Synchronous::Normal,
        };
        let dir = tempfile::tempdir()?;
        let settings = SqliteSettings {
            synchronous,
            ..SqliteSettings::default()
        };
        let sqlite = Sqlite::open(dir.path().join("bench.db"), settings)?;
        Ok(Opened {
            ports: sqlite.ports(),
            file: Some((sqlite, dir)),
        })
    }
}

/// Open stores; files are removed when it is closed or dropped.
pub struct Opened {
    /// What the kernel runs on.
    pub ports: Ports,
    file: Option<(Sqlite, tempfile::TempDir)>,
}

impl Opened {
    /// Closes the stores.
    pub async fn close(self) -> Result<(), foldwright::ports::Error> {
        match self.file {
            Some((sqlite, _dir)) => sqlite.close().await,
            None => Ok(()),
        }
    }
}

/// A subscriber that does nothing, so that a bench measures the kernel.
pub struct Ignore;

impl Subscriber for Ignore {
    type On = TraceEvent;
    type State = Summary;
    const NAME: &'static str = "trace_settled";

    async fn run(&self, _: &Recorded<TraceEvent>, _: &Summary) -> Result<(), EffectError> {
        Ok(())
    }
}
