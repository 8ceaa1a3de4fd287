//! One commit for all operations that wait.
use super::{Message, call::Task, context::Memory};
use crate::{SqliteSettings, error::Fault};
use foldwright_ports::Kind;
use rusqlite::{Connection, Transaction, TransactionBehavior};
use tokio::sync::mpsc::Receiver;

/// The operations of one commit.
///
/// Operations of the kernel hardly ever fail, and a savepoint for each of them costs a tenth of their work. So they run
/// without: where one fails, all that ran is rolled back and runs again, each under a savepoint of its own. A closure
/// of the user cannot run again; from the first one on, savepoints it is.
pub(super) struct Batch<'a> {
    settings: &'a SqliteSettings,
    messages: &'a mut Receiver<Message>,
    tasks: Vec<Box<dyn Task>>,
    bytes: usize,
    /// Whether the writer was asked to end.
    pub(super) closing: bool,
}

/// How a transaction ended, unless by an error.
enum Ended {
    Committed,
    /// One of several operations failed, and none of them stands.
    Undone,
}

impl<'a> Batch<'a> {
    pub(super) fn new(settings: &'a SqliteSettings, messages: &'a mut Receiver<Message>) -> Self {
        Self {
            settings,
            messages,
            tasks: Vec::new(),
            bytes: 0,
            closing: false,
        }
    }

    /// Runs `first` and what waits behind it, commits, and only then answers.
    pub(super) fn run(&mut self, db: &mut Connection, memory: &mut Memory, first: Box<dyn Task>) {
        self.bytes = first.bytes();
        self.tasks.push(first);
        let ended = self.gather(db, memory).and_then(|ended| match ended {
            Ended::Committed => Ok(()),
            Ended::Undone => self.one_by_one(db, memory),
        });
        if let Err(fault) = ended {
            memory.forget();
            let error = fault.at("commit");
            for task in &mut self.tasks {
                task.fail(error.kind(), &error.to_string());
            }
        }
        for task in self.tasks.drain(..) {
            task.answer();
        }
    }

    /// Runs what waits, as it comes, in one transaction.
    fn gather(&mut self, db: &mut Connection, memory: &mut Memory) -> Result<Ended, Fault> {
        let tx = match db.transaction_with_behavior(TransactionBehavior::Immediate) {
            Ok(tx) => tx,
            Err(error) => {
                // The others have waited for the file as long as this one has.
                while self.next() {}
                return Err(error.into());
            }
        };
        let began = memory.now();
        let mut guarded = false;
        loop {
            let alone = self.tasks.len() == 1;
            let Some(task) = self.tasks.last_mut() else {
                break;
            };
            guarded |= !task.runs_again();
            // Nothing else has been written when the first one runs, so it needs no savepoint in any case.
            if guarded && !alone {
                run_guarded(&tx, memory, task.as_mut())?;
            } else if !run_plain(&tx, memory, task.as_mut())? {
                memory.forget();
                tx.rollback()?;
                return Ok(if alone { Ended::Committed } else { Ended::Undone });
            }
            let spent = memory.now().since(began) >= self.settings.batch_time;
            if spent || !self.next() {
                break;
            }
        }
        tx.commit()?;
        Ok(Ended::Committed)
    }

    /// Runs all operations again, so that the failing ones fail alone.
    fn one_by_one(&mut self, db: &mut Connection, memory: &mut Memory) -> Result<(), Fault> {
        let tx = db.transaction_with_behavior(TransactionBehavior::Immediate)?;
        for task in &mut self.tasks {
            run_guarded(&tx, memory, task.as_mut())?;
        }
        Ok(tx.commit()?)
    }

    /// Takes the next operation that waits, within the bounds.
    fn next(&mut self) -> bool {
        if self.closing
            || self.tasks.len() >= self.settings.batch_operations
            || self.bytes >= self.settings.batch_bytes
        {
            return false;
        }
        match self.messages.try_recv() {
            Ok(Message::Run(task)) => {
                self.bytes = self.bytes.saturating_add(task.bytes());
                self.tasks.push(task);
                true
            }
            Ok(Message::Close) => {
                self.closing = true;
                false
            }
            Err(_) => false,
        }
    }
}

/// Runs an operation; answers whether what it wrote may stand.
fn run_plain(tx: &Transaction<'_>, memory: &mut Memory, task: &mut dyn Task) -> Result<bool, Fault> {
    let stands = task.run(tx, memory);
    if tx.is_autocommit() {
        return Err(Fault::Port(
            Kind::Unavailable,
            "the transaction was ended by one of its operations or by the disk; try again".to_owned(),
        ));
    }
    Ok(stands)
}

/// Runs an operation whose writes can be taken back alone.
fn run_guarded(tx: &Transaction<'_>, memory: &mut Memory, task: &mut dyn Task) -> Result<(), Fault> {
    tx.prepare_cached("SAVEPOINT fw_call")?.execute([])?;
    if !run_plain(tx, memory, task)? {
        memory.forget();
        tx.prepare_cached("ROLLBACK TO fw_call")?.execute([])?;
    }
    tx.prepare_cached("RELEASE fw_call")?.execute([])?;
    Ok(())
}
