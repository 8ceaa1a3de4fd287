//! Moving what was committed from the write-ahead file to where it belongs, beside the writer.
use crate::{SqliteSettings, error::of_sqlite};
use foldwright_ports::{Error, Kind};
use rusqlite::{Connection, hooks::Wal};
use std::{
    cell::Cell,
    ffi::c_int,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
        mpsc::{self, Receiver, SyncSender, TrySendError},
    },
    thread::JoinHandle,
};

/// From so many times `checkpoint_pages` on, the writer moves what a pass has left, so that the file begins anew. Few
/// calls find the writer at it, and all but the last pages were moved before.
const ENDS_AT: u32 = 48;

/// At so many times `checkpoint_pages` the writer waits for the pass that runs: this bounds the file.
pub(crate) const MOST: u32 = 64;

thread_local! {
    /// Pages in the write-ahead file after this thread's last commit.
    static PAGES: Cell<u32> = const { Cell::new(0) };
}

/// The thread that makes passes over the write-ahead file while the writer goes on, as its writer sees it. Dropped, it
/// waits for the thread.
///
/// SQLite begins the file anew only when a commit finds all of it moved. A writer that never rests would never leave it
/// so: now and then it moves the rest itself.
pub(super) struct Checkpointer {
    ask: Option<SyncSender<()>>,
    thread: Option<JoinHandle<()>>,
    shared: Arc<Shared>,
    every: u32,
    /// Pages in the file when the last pass was asked for.
    asked_at: u32,
    /// Pages in the file when the writer last moved the rest in vain; 0 in a file that began anew.
    tried_at: u32,
}

#[derive(Default)]
struct Shared {
    /// Held during a pass.
    pass: Mutex<()>,
    /// Whether a pass has ended that the writer has not followed up.
    passed: AtomicBool,
}

/// What a pass has found.
#[derive(Clone, Copy)]
struct Pass {
    /// Somebody else was at it.
    busy: bool,
    pages: i64,
    moved: i64,
}

impl Checkpointer {
    /// Starts the thread, on a connection of its own.
    pub(super) fn start(db: Connection, settings: &SqliteSettings) -> Result<Self, Error> {
        let shared = Arc::new(Shared::default());
        let theirs = shared.clone();
        // A pass that was asked for and has not begun moves what comes until then too.
        let (ask, asked) = mpsc::sync_channel(1);
        let thread = std::thread::Builder::new()
            .name("foldwright-sqlite-checkpointer".to_owned())
            .spawn(move || work(db, &asked, &theirs))
            .map_err(|error| {
                Error::new(Kind::of_io(&error), "open", "no thread for checkpoints").caused_by(error)
            })?;
        Ok(Self {
            ask: Some(ask),
            thread: Some(thread),
            shared,
            every: settings.checkpoint_pages,
            asked_at: 0,
            tried_at: 0,
        })
    }

    /// Counts the pages of what this connection commits; on the thread that will call [`Self::committed`].
    pub(super) fn count(db: &Connection) {
        db.wal_hook(Some(count_pages));
    }

    /// After each commit and its answers.
    pub(super) fn committed(&mut self, db: &Connection) {
        let pages = PAGES.get();
        if pages < self.asked_at {
            (self.asked_at, self.tried_at) = (0, 0);
        }
        if pages - self.asked_at >= self.every {
            self.asked_at = pages;
            self.ask();
        }
        let since = pages.saturating_sub(self.tried_at);
        if since >= self.every.saturating_mul(MOST) {
            let shared = self.shared.clone();
            let _alone = shared.pass.lock().unwrap_or_else(PoisonError::into_inner);
            self.end(db, true);
        } else if since >= self.every.saturating_mul(ENDS_AT) && self.shared.passed.load(Ordering::Relaxed) {
            let shared = self.shared.clone();
            // While another pass runs it is too early.
            if let Ok(_alone) = shared.pass.try_lock() {
                self.end(db, false);
            }
        }
    }

    fn ask(&mut self) {
        self.shared.passed.store(false, Ordering::Relaxed);
        if let Some(ask) = &self.ask
            && let Err(TrySendError::Disconnected(())) = ask.try_send(())
        {
            tracing::error!("the thread that makes checkpoints has died; the writer makes them itself");
            self.ask = None;
        }
    }

    /// Moves what is left, so that the next commit begins the file anew; no pass may run.
    fn end(&mut self, db: &Connection, late: bool) {
        self.shared.passed.store(false, Ordering::Relaxed);
        match pass(db) {
            Some(pass) if pass.moved == pass.pages => {}
            // Another process is at it and will soon be done: the next commit tries again.
            Some(pass) if pass.busy => {}
            failed => {
                // To try again at once would cost much and bring nothing.
                self.tried_at = PAGES.get();
                if let Some(pass) = failed.filter(|_| late) {
                    let (pages, moved) = (pass.pages, pass.moved);
                    tracing::warn!(
                        pages,
                        moved,
                        "the write-ahead file grows: something reads an old view of it"
                    );
                }
            }
        }
    }
}

impl Drop for Checkpointer {
    fn drop(&mut self) {
        self.ask = None;
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            tracing::error!("the thread that makes checkpoints has panicked");
        }
    }
}

fn work(db: Connection, asked: &Receiver<()>, shared: &Shared) {
    while asked.recv().is_ok() {
        let _alone = shared.pass.lock().unwrap_or_else(PoisonError::into_inner);
        pass(&db);
        shared.passed.store(true, Ordering::Relaxed);
    }
    if let Err((_, error)) = db.close() {
        tracing::warn!(error = %of_sqlite("close", error), "a connection was not closed");
    }
}

/// Moves what can be moved without anybody waiting for it. What cannot is moved later: readers or another process may be
/// in the way.
fn pass(db: &Connection) -> Option<Pass> {
    run(db, "PASSIVE")
}

/// Moves everything and empties the file; for the last one.
pub(super) fn last(db: &Connection) {
    run(db, "TRUNCATE");
}

fn run(db: &Connection, mode: &str) -> Option<Pass> {
    let mut found = None;
    let ran = db.pragma(None, "wal_checkpoint", mode, |row| {
        found = Some(Pass {
            busy: row.get(0)?,
            pages: row.get(1)?,
            moved: row.get(2)?,
        });
        Ok(())
    });
    if let Err(error) = ran {
        tracing::warn!(%error, "the write-ahead file could not be moved; it grows until it can");
        return None;
    }
    found
}

fn count_pages(_: &Wal, pages: c_int) -> rusqlite::Result<()> {
    PAGES.set(u32::try_from(pages).unwrap_or(0));
    Ok(())
}
