//! The handle.
use crate::{
    SqliteSettings, blobs::SqliteBlobs, folds::SqliteFolds, log::SqliteLog, queue::SqliteQueue,
    records::SqliteRecords, store::Store,
};
use foldwright_ports::{Error, Ports};
use rusqlite::{Connection, Transaction};
use std::{path::Path, sync::Arc};

/// One SQLite file with every port in it.
///
/// ```text
///  callers ──► bounded channel ──► writer thread: BEGIN · operation · operation · … · COMMIT ──► answers
///          ──► bounded channel ──► reader threads, each with a view of what was committed
/// ```
///
/// # Contract
/// The ports keep their contracts. Any number of handles and processes may open one file on one machine; they take
/// turns at writing. A network file system cannot carry it.
///
/// # Ordering
/// A read sees every write that returned before it began, of this process or another.
///
/// # Durability
/// An answer comes after the commit that holds it; see [`Synchronous`](crate::Synchronous).
///
/// # Cancellation
/// An operation that was handed over runs even when its future is dropped.
///
/// Clones share the file. When the last one is dropped without [`close`](Self::close), what was handed over still
/// runs, and the threads end by themselves.
#[derive(Clone)]
pub struct Sqlite {
    store: Arc<Store>,
}

impl Sqlite {
    /// Opens a file, creates it where it is missing, and brings its schema up to date. Blocks for as long as that
    /// takes, so it belongs to the composition root.
    ///
    /// # Errors
    /// `Invalid` for settings that cannot work, naming them all, and for a file that belongs to another program;
    /// `Unsupported` for one of a newer release; `Unavailable` while another process holds it.
    pub fn open(path: impl AsRef<Path>, settings: SqliteSettings) -> Result<Self, Error> {
        let mut path = path.as_ref().to_owned();
        // SQLite would follow such a name as a URI.
        if path.as_os_str().as_encoded_bytes().starts_with(b"file:") {
            path = Path::new(".").join(path);
        }
        let store = Store::open(&path, settings)
            .map_err(|error| Error::new(error.kind(), "open", path.display().to_string()).caused_by(error))?;
        Ok(Self {
            store: Arc::new(store),
        })
    }

    /// Every port of this file.
    #[must_use]
    pub fn ports(&self) -> Ports {
        let queue = Arc::new(SqliteQueue::new(self.store.clone()));
        let blobs = Arc::new(SqliteBlobs::new(self.store.clone()));
        Ports {
            log: Arc::new(SqliteLog::new(self.store.clone())),
            queue: queue.clone(),
            queue_admin: queue,
            folds: Arc::new(SqliteFolds::new(self.store.clone())),
            records: Arc::new(SqliteRecords::new(self.store.clone())),
            hot_blobs: blobs.clone(),
            cold_blobs: blobs,
            clock: self.store.settings.clock.clone(),
        }
    }

    /// Runs a closure in the next commit, for tables of your own beside the kernel's; names that begin with `fw_` are
    /// the kernel's. Where it fails or panics, what it wrote is rolled back, and nothing else. It runs on the writer's
    /// thread, so it must neither wait nor end the transaction.
    ///
    /// # Errors
    /// That of the closure, by kind; or of the commit, whose outcome may be unknown.
    pub async fn write<T, F>(&self, run: F) -> Result<T, Error>
    where
        T: Send + 'static,
        F: FnOnce(&Transaction<'_>) -> rusqlite::Result<T> + Send + 'static,
    {
        self.store.writer.run_plain(run).await
    }

    /// Runs a closure on a connection that can only read.
    ///
    /// # Errors
    /// That of the closure, by kind.
    pub async fn read<T, F>(&self, run: F) -> Result<T, Error>
    where
        T: Send + 'static,
        F: FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
    {
        self.store.readers.run_plain(run).await
    }

    /// Lets what was handed over come to its end, moves the write-ahead file into the file, and ends the threads.
    /// Calls on any clone answer `Closed` from then on; closing again does nothing.
    ///
    /// # Errors
    /// When the file could not be closed; all answers that were given stand.
    pub async fn close(&self) -> Result<(), Error> {
        self.store.close().await
    }
}

impl std::fmt::Debug for Sqlite {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Sqlite").finish_non_exhaustive()
    }
}
