//! One operation on its way to the writer and back.
use super::context::Memory;
use foldwright_ports::{Error, Kind};
use rusqlite::Transaction;
use std::{
    any::Any,
    panic::{AssertUnwindSafe, catch_unwind},
};
use tokio::sync::oneshot;

/// An operation whose types are gone.
pub(super) trait Task: Send {
    /// How much it carries.
    fn bytes(&self) -> usize;

    /// Whether it can be run more than once.
    fn runs_again(&self) -> bool;

    /// Runs it; answers whether what it wrote may stand.
    fn run(&mut self, tx: &Transaction<'_>, memory: &mut Memory) -> bool;

    /// What it wrote does not stand, or it never ran.
    fn fail(&mut self, kind: Kind, message: &str);

    /// Tells the caller.
    fn answer(self: Box<Self>);
}

pub(super) struct Call<T, F> {
    pub(super) operation: &'static str,
    pub(super) bytes: usize,
    pub(super) runs_again: bool,
    pub(super) run: F,
    pub(super) outcome: Option<Result<T, Error>>,
    pub(super) reply: oneshot::Sender<Result<T, Error>>,
}

impl<T, F> Task for Call<T, F>
where
    T: Send,
    F: FnMut(&Transaction<'_>, &mut Memory) -> Result<T, Error> + Send,
{
    fn bytes(&self) -> usize {
        self.bytes
    }

    fn runs_again(&self) -> bool {
        self.runs_again
    }

    fn run(&mut self, tx: &Transaction<'_>, memory: &mut Memory) -> bool {
        let run = &mut self.run;
        // A panic ends this operation alone: its writes are rolled back, and what the writer remembers is thrown away.
        let outcome = catch_unwind(AssertUnwindSafe(|| run(tx, memory))).unwrap_or_else(|panic| {
            Err(Error::new(
                Kind::Invalid,
                self.operation,
                format!("it panicked and was rolled back: {}", text_of(panic.as_ref())),
            ))
        });
        let stands = outcome.is_ok();
        self.outcome = Some(outcome);
        stands
    }

    fn fail(&mut self, kind: Kind, message: &str) {
        // Its own error says more than that of the commit it was part of.
        if !matches!(self.outcome, Some(Err(_))) {
            self.outcome = Some(Err(Error::new(kind, self.operation, message)));
        }
    }

    fn answer(self: Box<Self>) {
        if let Some(outcome) = self.outcome {
            // A caller that has gone away has left it undecided.
            let _ = self.reply.send(outcome);
        }
    }
}

fn text_of(panic: &(dyn Any + Send)) -> &str {
    panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("no text")
}
