//! Why a receipt has no answer.
use foldwright_ports::{Error, Why};

/// Why there is no answer yet, or none at all.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReceiptError {
    /// Not in time. The command still waits or runs, or the fold has not come to it.
    #[error("no answer in time{}", because(why.as_deref()))]
    TimedOut {
        /// What the queue says of its job, where that was asked.
        why: Option<Box<Why>>,
    },
    /// Not in time: its last attempt failed, and it is tried again.
    #[error("no answer in time, the last attempt failed: {error}")]
    Failing {
        /// What went wrong.
        error: String,
    },
    /// It failed too often, or cannot succeed: its group is blocked until a person opens it.
    #[error("the command is quarantined: {error}")]
    Quarantined {
        /// What went wrong.
        error: String,
    },
    /// It went to the dead letters.
    #[error("the command was given up, an operator may put it back")]
    GivenUp,
    /// It is not in the queue, and neither queue nor log say what became of it: it was sent without asking for an answer,
    /// the answer is past its time, or queue or log have lost it.
    #[error("what became of the command is not known: nothing keeps its answer")]
    Unknown,
    /// No pipeline of this kernel declares the fold.
    #[error("fold `{fold}` is not registered: add it to a pipeline of this kernel")]
    NoSuchFold {
        /// Its name.
        fold: &'static str,
    },
    /// A store could not be asked.
    #[error(transparent)]
    Store(#[from] Error),
}

/// The first thing that keeps the command waiting.
fn because(why: Option<&Why>) -> String {
    let reason = why.and_then(|why| why.reasons.first());
    reason.map_or_else(String::new, |reason| format!(": {reason}"))
}
