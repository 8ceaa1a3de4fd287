//! The one thread that writes.
mod batch;
mod call;
mod checkpoint;
mod context;
mod thread;

pub(crate) use checkpoint::MOST as MOST_CHECKPOINTS;
pub(crate) use context::Write;

use crate::{
    SqliteSettings,
    error::{Outcome, of_sqlite},
};
use call::Call;
use checkpoint::Checkpointer;
use context::Memory;
use foldwright_ports::{Error, Kind};
use rusqlite::{Connection, Transaction};
use std::sync::{Mutex, PoisonError};
use tokio::sync::{mpsc, oneshot, watch};

enum Message {
    Run(Box<dyn call::Task>),
    Close,
}

/// The way to the writer. Operations are gathered: one commit answers all that waited when it began, and a lone one
/// never waits for others.
pub(crate) struct Writer {
    messages: mpsc::Sender<Message>,
    thread: Mutex<Option<thread::Handle>>,
}

impl Writer {
    /// Starts the thread, and beside it the one that makes checkpoints on `side`; `woken` moves whenever there may be new work in the queue.
    pub(crate) fn start(
        db: Connection,
        side: Connection,
        settings: SqliteSettings,
        woken: watch::Sender<()>,
    ) -> Result<Self, Error> {
        let (messages, receiver) = mpsc::channel(settings.waiting_operations);
        let checkpointer = Checkpointer::start(side, &settings)?;
        let thread = thread::start(db, checkpointer, settings, receiver, woken)?;
        Ok(Self {
            messages,
            thread: Mutex::new(Some(thread)),
        })
    }

    /// Runs an operation of the kernel in the next commit. It may be run again after a rollback.
    pub(crate) async fn run<T, F>(&self, operation: &'static str, bytes: usize, run: F) -> Result<T, Error>
    where
        T: Send + 'static,
        F: Fn(&mut Write<'_>) -> Outcome<T> + Send + 'static,
    {
        let run = move |tx: &Transaction<'_>, memory: &mut Memory| {
            let mut write = memory.open(tx);
            let outcome = run(&mut write);
            let woke = write.woke;
            memory.woke |= woke;
            outcome.map_err(|fault| fault.at(operation))
        };
        self.send(|reply| Call {
            operation,
            bytes,
            runs_again: true,
            run,
            outcome: None,
            reply,
        })
        .await
        .unwrap_or_else(|| Err(closed(operation)))
    }

    /// Runs a closure of the user in the next commit, once.
    pub(crate) async fn run_plain<T, F>(&self, run: F) -> Result<T, Error>
    where
        T: Send + 'static,
        F: FnOnce(&Transaction<'_>) -> rusqlite::Result<T> + Send + 'static,
    {
        let mut run = Some(run);
        let run = move |tx: &Transaction<'_>, _: &mut Memory| match run.take() {
            Some(run) => run(tx).map_err(|error| of_sqlite("write", error)),
            None => Err(Error::new(
                Kind::Unavailable,
                "write",
                "it was rolled back; try again",
            )),
        };
        self.send(|reply| Call {
            operation: "write",
            bytes: 0,
            runs_again: false,
            run,
            outcome: None,
            reply,
        })
        .await
        .unwrap_or_else(|| Err(closed("write")))
    }

    /// Hands a call over; `None` when the writer has ended.
    async fn send<T, C: call::Task + 'static>(
        &self,
        call: impl FnOnce(oneshot::Sender<T>) -> C,
    ) -> Option<T> {
        let (reply, answer) = oneshot::channel();
        let message = Message::Run(Box::new(call(reply)));
        self.messages.send(message).await.ok()?;
        answer.await.ok()
    }

    /// Lets everything that was handed over come to its end, and ends the thread.
    pub(crate) async fn close(&self) -> Result<(), Error> {
        // An error means that the thread has ended, which is what is wanted.
        let _ = self.messages.send(Message::Close).await;
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        match thread {
            Some(thread) => thread.ended().await,
            None => Ok(()),
        }
    }
}

fn closed(operation: &'static str) -> Error {
    Error::new(Kind::Closed, operation, "open the file again")
}
