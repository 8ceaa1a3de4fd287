//! The composition root: the one place that knows an adapter.
use crate::{
    pipeline::pipeline,
    trace_settled::{SettledTraces, TraceSettled},
};
use foldwright::{
    Kernel, Reader, Role, WorkerSettings,
    sqlite::{Sqlite, SqliteSettings},
};
use std::{path::Path, time::Duration};

/// A killed run's unfinished work waits this long before the next run takes it over.
const LEASE: Duration = Duration::from_secs(5);

/// The service on one SQLite file.
pub struct Store {
    sqlite: Sqlite,
}

/// Why the service could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The file.
    #[error(transparent)]
    Store(#[from] foldwright::ports::Error),
    /// The composition.
    #[error(transparent)]
    Faults(#[from] foldwright::Faults),
    /// There is none yet.
    #[error("there is no store at {path}: `traces ingest` makes one, or name another with --store")]
    Missing {
        /// Where it was looked for.
        path: String,
    },
}

impl Store {
    /// Opens the store at `path`, and makes it if it is not there.
    pub fn open(path: &Path) -> Result<Self, OpenError> {
        Ok(Self {
            sqlite: Sqlite::open(path, SqliteSettings::default())?,
        })
    }

    /// Opens a store that must be there.
    pub fn open_existing(path: &Path) -> Result<Self, OpenError> {
        if !path.is_file() {
            return Err(OpenError::Missing {
                path: path.display().to_string(),
            });
        }
        Self::open(path)
    }

    /// Starts the kernel: sends and works in this process.
    pub async fn start(&self) -> Result<Kernel, OpenError> {
        let settled = SettledTraces::open(self.sqlite.clone()).await?;
        let kernel = Kernel::builder(self.sqlite.ports(), Role::All)
            .pipeline(pipeline(TraceSettled::new(settled))?)
            .worker(WorkerSettings {
                lease: LEASE,
                ..WorkerSettings::default()
            })
            .start()?;
        Ok(kernel)
    }

    /// Reads without working.
    #[must_use]
    pub fn reader(&self) -> Reader {
        Reader::new(self.sqlite.ports())
    }

    /// The file itself, for tables of one's own.
    #[must_use]
    pub fn sqlite(&self) -> &Sqlite {
        &self.sqlite
    }

    /// Closes the file.
    pub async fn close(self) -> Result<(), OpenError> {
        Ok(self.sqlite.close().await?)
    }
}
