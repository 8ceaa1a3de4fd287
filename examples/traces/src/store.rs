//! The composition root: the one place that knows an adapter.
use crate::{
    pipeline::pipeline,
    trace_settled::{SettledTraces, TraceSettled},
};
use foldwright::{
    Kernel, Propagation, Reader, Role, WorkerSettings,
    ports::{Clock, Kind},
    sqlite::{Sqlite, SqliteSettings},
};
use std::{path::Path, sync::Arc, time::Duration};

/// How long a lease lives without a heartbeat, where nobody says.
pub const LEASE: Duration = Duration::from_secs(5);

/// The service on one SQLite file. Clones share it; closed once, it is closed for all.
#[derive(Clone)]
pub struct Store {
    sqlite: Sqlite,
}

/// Why the service could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The file, once it was open.
    #[error(transparent)]
    Store(#[from] foldwright::ports::Error),
    /// The file could not be opened.
    #[error("the store {path} cannot be used: {advice}")]
    File {
        /// Which one.
        path: String,
        /// What to do.
        advice: &'static str,
        /// Why.
        source: foldwright::ports::Error,
    },
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
        let sqlite = Sqlite::open(path, SqliteSettings::default()).map_err(|source| OpenError::File {
            path: path.display().to_string(),
            advice: advice(source.kind()),
            source,
        })?;
        Ok(Self { sqlite })
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

    /// Starts the kernel: sends and works in this process. A killed run's unfinished work waits for
    /// [`LEASE`] before this one takes it over.
    pub async fn start(&self) -> Result<Kernel, OpenError> {
        self.start_with(LEASE, None).await
    }

    /// Starts the kernel with leases of another length, and its spans tied to a tracing system if there is one.
    pub async fn start_with(
        &self,
        lease: Duration,
        propagation: Option<Arc<dyn Propagation>>,
    ) -> Result<Kernel, OpenError> {
        let settled = SettledTraces::open(self.sqlite.clone()).await?;
        let mut builder = Kernel::builder(self.sqlite.ports(), Role::All);
        if let Some(propagation) = propagation {
            builder = builder.propagation(propagation);
        }
        let kernel = builder
            .pipeline(pipeline(TraceSettled::new(settled))?)
            .worker(WorkerSettings {
                lease,
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

    /// What the store goes by.
    #[must_use]
    pub fn clock(&self) -> Arc<dyn Clock> {
        self.sqlite.ports().clock
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

fn advice(kind: Kind) -> &'static str {
    match kind {
        Kind::Unavailable | Kind::Timeout => {
            "see that its directory exists and may be written and that no other program holds the file, then try again"
        }
        Kind::Full => "make room on the disk, then try again",
        Kind::Corrupt => {
            "it is no store or a damaged one; restore it from a backup, or name another with --store"
        }
        Kind::Unsupported => "a newer release made it; run that one, or name another with --store",
        _ => "name another with --store",
    }
}
