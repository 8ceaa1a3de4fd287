//! What became of handed-out work.
use crate::{Error, Fence, JobId, LeaseRef, NewJob};
use bytes::Bytes;
use std::time::Duration;

/// The outcome of a lease with the jobs that follow from it.
///
/// The jobs in [`then`](Self::then) are durable before the outcome is, so no caller can get the order wrong.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Settlement {
    /// Which lease.
    pub lease: LeaseRef,
    /// What became of its jobs.
    pub outcome: Outcome,
    /// Answers for the senders of commands among the jobs that are done.
    pub answers: Vec<Answer>,
    /// The jobs that follow.
    pub then: Vec<NewJob>,
}

/// A command's answer for its receipt.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Answer {
    /// The command's job.
    pub job: JobId,
    /// Opaque to the store.
    pub answer: Bytes,
}

/// The first `done` jobs of a lease are completed; `rest` says what happens to the others.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Outcome {
    /// How many jobs are done, counted from the first.
    pub done: usize,
    /// What happens to the others.
    pub rest: Rest,
}

/// What happens to the jobs that are not done. They keep their places in line, ahead of newer ones.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Rest {
    /// They are due again at once; no attempt is spent. Also where nothing is left.
    Back,
    /// The first one failed: an attempt is spent, and the group stays closed for the ladder's wait, at least
    /// `floor`. The last attempt quarantines the group.
    Retry {
        /// The shortest wait; never shortens the ladder's.
        floor: Option<Duration>,
        /// What went wrong, for operators.
        error: String,
    },
    /// The first one cannot succeed: the group is blocked until an operator opens it.
    Quarantine {
        /// What went wrong, for operators.
        error: String,
    },
    /// The first one goes to the dead letters; the others are due again at once.
    DeadLetter {
        /// What went wrong, for operators.
        error: String,
    },
    /// They wait for at least `after`; no attempt is spent.
    Defer {
        /// The shortest wait.
        after: Duration,
    },
    /// The worker cannot serve the group as things stand; no attempt is spent.
    Release {
        /// Further tokens of this store must be above this one.
        floor: Option<Fence>,
        /// Only workers that declare at least this version of the route get the group.
        need: Option<u32>,
    },
}

impl Outcome {
    /// All `jobs` of the lease are done.
    #[must_use]
    pub const fn complete(jobs: usize) -> Self {
        Self {
            done: jobs,
            rest: Rest::Back,
        }
    }

    /// Nothing is done.
    #[must_use]
    pub const fn none(rest: Rest) -> Self {
        Self { done: 0, rest }
    }
}

/// Whether a call under a token took effect.
#[derive(Debug)]
pub enum Verdict {
    /// It did.
    Applied,
    /// The token is not the live one, or its lease has lapsed, whether it was returned yet or not: nothing changed.
    Lost,
    /// The token was settled before: nothing changed. Remembered for as long as nonces are; `Lost` after that.
    Already,
    /// The store refused this one; the lease lives on.
    Refused(Error),
}
