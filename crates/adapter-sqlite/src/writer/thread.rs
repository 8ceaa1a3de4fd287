//! The writer's thread.
use super::{
    Message,
    batch::Batch,
    checkpoint::{self, Checkpointer},
    context::Memory,
};
use crate::{SqliteSettings, error::of_sqlite};
use foldwright_ports::{Error, Kind};
use rusqlite::Connection;
use std::thread::JoinHandle;
use tokio::sync::{mpsc::Receiver, oneshot, watch};

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
    checkpointer: Checkpointer,
    settings: SqliteSettings,
    messages: Receiver<Message>,
    woken: watch::Sender<()>,
) -> Result<Handle, Error> {
    let (end, ended) = oneshot::channel();
    let thread = std::thread::Builder::new()
        .name("foldwright-sqlite-writer".to_owned())
        .spawn(move || {
            // Nobody may be left to hear it: a handle may be dropped without being closed.
            let _ = end.send(work(db, checkpointer, &settings, messages, &woken));
        })
        .map_err(|error| {
            Error::new(Kind::of_io(&error), "open", "no thread for the writer").caused_by(error)
        })?;
    Ok(Handle { thread, ended })
}

fn work(
    mut db: Connection,
    mut checkpointer: Checkpointer,
    settings: &SqliteSettings,
    mut messages: Receiver<Message>,
    woken: &watch::Sender<()>,
) -> Result<(), Error> {
    Checkpointer::count(&db);
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
        // After the answers, so that none waits for it.
        checkpointer.committed(&db);
    }
    // The last checkpoint needs the file to itself.
    drop(checkpointer);
    checkpoint::last(&db);
    db.close().map_err(|(_, error)| of_sqlite("close", error))
}
