//! The threads that read.
use crate::{
    SqliteSettings, connection,
    error::{Fault, Outcome, of_sqlite},
    names::Names,
};
use foldwright_domain::Millis;
use foldwright_ports::{Error, Kind};
use rusqlite::{Connection, TransactionBehavior};
use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    path::Path,
    sync::{Arc, Mutex, PoisonError},
    thread::JoinHandle,
};
use tokio::sync::{
    mpsc::{self, Receiver},
    oneshot,
};

/// One read of the kernel: a single view of the file, in which everything that was answered before is seen.
pub(crate) struct Read<'a> {
    pub(crate) db: &'a Connection,
    pub(crate) now: Millis,
    pub(crate) names: &'a mut Names,
    pub(crate) settings: &'a SqliteSettings,
}

type Job = Box<dyn FnOnce(&mut Connection, &mut Names) + Send>;

/// Reads that may wait before callers wait for room.
const WAITING: usize = 256;

/// The way to the readers.
pub(crate) struct Readers {
    jobs: Mutex<Option<mpsc::Sender<Job>>>,
    threads: Mutex<Vec<(JoinHandle<()>, oneshot::Receiver<()>)>>,
    settings: SqliteSettings,
}

impl Readers {
    pub(crate) fn start(path: &Path, settings: &SqliteSettings) -> Result<Self, Error> {
        let (jobs, receiver) = mpsc::channel(WAITING);
        let receiver = Arc::new(Mutex::new(receiver));
        let mut threads = Vec::new();
        for n in 0..settings.readers {
            let db = connection::reader(path, settings).map_err(|fault| fault.at("open"))?;
            let receiver = receiver.clone();
            let (end, ended) = oneshot::channel();
            let thread = std::thread::Builder::new()
                .name(format!("foldwright-sqlite-reader-{n}"))
                .spawn(move || {
                    work(db, &receiver);
                    // Nobody may be left to hear it.
                    let _ = end.send(());
                })
                .map_err(|error| {
                    Error::new(Kind::of_io(&error), "open", "no thread for a reader").caused_by(error)
                })?;
            threads.push((thread, ended));
        }
        Ok(Self {
            jobs: Mutex::new(Some(jobs)),
            threads: Mutex::new(threads),
            settings: settings.clone(),
        })
    }

    /// Runs a read of the kernel.
    pub(crate) async fn run<T, F>(&self, operation: &'static str, run: F) -> Result<T, Error>
    where
        T: Send + 'static,
        F: FnOnce(&mut Read<'_>) -> Outcome<T> + Send + 'static,
    {
        let settings = self.settings.clone();
        self.send(operation, move |db, names| {
            let now = settings.clock.now();
            let view = db.transaction_with_behavior(TransactionBehavior::Deferred);
            view.map_err(Fault::Sql)
                .and_then(|view| {
                    let value = run(&mut Read {
                        db: &view,
                        now,
                        names,
                        settings: &settings,
                    })?;
                    view.commit()?;
                    Ok(value)
                })
                .map_err(|fault| fault.at(operation))
        })
        .await
    }

    /// Runs a closure of the user.
    pub(crate) async fn run_plain<T, F>(&self, run: F) -> Result<T, Error>
    where
        T: Send + 'static,
        F: FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
    {
        self.send("read", move |db, _| {
            let outcome = run(db);
            if !db.is_autocommit() {
                // A transaction that was left open would freeze what later reads see.
                db.execute_batch("ROLLBACK")
                    .map_err(|error| of_sqlite("read", error))?;
            }
            outcome.map_err(|error| of_sqlite("read", error))
        })
        .await
    }

    async fn send<T, F>(&self, operation: &'static str, run: F) -> Result<T, Error>
    where
        T: Send + 'static,
        F: FnOnce(&mut Connection, &mut Names) -> Result<T, Error> + Send + 'static,
    {
        let closed = || Error::new(Kind::Closed, operation, "open the file again");
        let jobs = self
            .jobs
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
            .ok_or_else(closed)?;
        let (reply, answer) = oneshot::channel();
        let job: Job = Box::new(move |db, names| {
            let outcome = catch_unwind(AssertUnwindSafe(|| run(db, names)));
            // A caller that has gone away does not need it.
            let _ = reply.send(outcome.unwrap_or_else(|_| {
                names.forget();
                Err(Error::new(Kind::Invalid, operation, "the closure panicked"))
            }));
        });
        jobs.send(job).await.map_err(|_| closed())?;
        answer.await.map_err(|_| closed())?
    }

    /// Lets the reads that were handed over come to their end, and ends the threads.
    pub(crate) async fn close(&self) {
        drop(self.jobs.lock().unwrap_or_else(PoisonError::into_inner).take());
        let threads = std::mem::take(&mut *self.threads.lock().unwrap_or_else(PoisonError::into_inner));
        for (thread, ended) in threads {
            // Whether it ended well or by a panic: it has ended, so joining it does not block.
            let _ = ended.await;
            let _ = thread.join();
        }
    }
}

fn work(mut db: Connection, jobs: &Mutex<Receiver<Job>>) {
    let mut names = Names::default();
    loop {
        let job = jobs
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .blocking_recv();
        match job {
            Some(job) => job(&mut db, &mut names),
            None => return,
        }
    }
}
