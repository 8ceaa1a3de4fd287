//! The writer's thread.
use super::{Message, batch::Batch, context::Memory};
use crate::{SqliteSettings, error::of_sqlite};
use foldwright_ports::{Error, Kind};
use rusqlite::{Connection, hooks::Wal};
use std::{cell::Cell, ffi::c_int, thread::JoinHandle};
use tokio::sync::{mpsc::Receiver, oneshot, watch};

thread_local! {
    /// Pages in the write-ahead file after this thread's last commit.
    static PAGES: Cell<u32> = const { Cell::new(0) };
}

/// A thread that can be waited for without blocking.
pub(super) struct Handle {
    thread: JoinHandle<()>,
    ended: oneshot::Receiver<Result<(), Error>>,
}

impl Handle {
    pub(super) async fn ended(self) -> Result<(), Error> {
        let ended = self.ended.await;
        let joined = self.thread.join();
        match (ended, joined) {
            (Ok(ended), Ok(())) => ended,
            _ => Err(Error::new(Kind::Unavailable, "close", "the writer's thread died")),
        }
    }
}

pub(super) fn start(
    db: Connection,
    settings: SqliteSettings,
    messages: Receiver<Message>,
    woken: watch::Sender<()>,
) -> Result<Handle, Error> {
    let (end, ended) = oneshot::channel();
    let thread = std::thread::Builder::new()
        .name("foldwright-sqlite-writer".to_owned())
        .spawn(move || {
            // Nobody may be left to hear it: a handle may be dropped without being closed.
            let _ = end.send(work(db, &settings, messages, &woken));
        })
        .map_err(|error| {
            Error::new(Kind::of_io(&error), "open", "no thread for the writer").caused_by(error)
        })?;
    Ok(Handle { thread, ended })
}

fn work(
    mut db: Connection,
    settings: &SqliteSettings,
    mut messages: Receiver<Message>,
    woken: &watch::Sender<()>,
) -> Result<(), Error> {
    db.wal_hook(Some(count_pages));
    let mut memory = Memory::new(settings.clone());
    while let Some(Message::Run(first)) = messages.blocking_recv() {
        let mut batch = Batch::new(settings, &mut messages);
        batch.run(&mut db, &mut memory, first);
        if batch.closing {
            messages.close();
        }
        if std::mem::take(&mut memory.woke) {
            woken.send_replace(());
        }
        // After the answers, so that no caller waits for it.
        if PAGES.get() >= settings.checkpoint_pages {
            checkpoint(&db, "PASSIVE");
        }
    }
    checkpoint(&db, "TRUNCATE");
    db.close().map_err(|(_, error)| of_sqlite("close", error))
}

/// Moves pages from the write-ahead file to where they belong. What cannot be moved now is moved later: readers or
/// another process may be in the way.
fn checkpoint(db: &Connection, mode: &str) {
    match db.pragma(None, "wal_checkpoint", mode, |_| Ok(())) {
        Ok(()) => PAGES.set(0),
        Err(error) => {
            tracing::warn!(%error, "the write-ahead file could not be moved; it grows until it can");
        }
    }
}

fn count_pages(_: &Wal, pages: c_int) -> rusqlite::Result<()> {
    PAGES.set(u32::try_from(pages).unwrap_or(0));
    Ok(())
}
