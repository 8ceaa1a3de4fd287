//! A lease whose jobs are run in parts, and what those that went through led to.
use super::bisection::Bisection;
use crate::handlers::{Handled, settlement};
use foldwright_ports::{Answer, Fence, JobId, Lease, NewJob, Outcome, Rest, Settlement};
use std::collections::BTreeSet;

pub(super) struct LeaseParts {
    lease: Lease,
    bisection: Bisection,
    was_split: bool,
    /// Whether a write may have taken effect whose runs are not among `then`.
    unsure: bool,
    answers: Vec<Answer>,
    then: Vec<NewJob>,
}

/// What follows from the answer to a part.
pub(super) enum Next {
    /// Its next part.
    Part(Box<LeaseParts>),
    /// A part that cannot be split any more was refused.
    Refused {
        parts: Box<LeaseParts>,
        rest: Rest,
        error: String,
    },
    /// It is through, or failed at a job.
    Done(Settlement),
}

impl LeaseParts {
    pub(super) fn new(lease: Lease, splits: u32) -> Self {
        Self {
            bisection: Bisection::new(lease.jobs.len(), splits),
            lease,
            was_split: false,
            unsure: false,
            answers: Vec::new(),
            then: Vec::new(),
        }
    }

    pub(super) fn fence(&self) -> Fence {
        self.lease.fence
    }

    /// A call that it was in may have written something of it.
    pub(super) fn doubt(&mut self) {
        self.unsure = true;
    }

    pub(super) fn was_split(&self) -> bool {
        self.was_split
    }

    /// The lease with the jobs whose turn it is.
    pub(super) fn lease(&self) -> Lease {
        let part = self.bisection.part();
        let whole = &self.lease;
        Lease {
            group: whole.group.clone(),
            fence: whole.fence,
            until: whole.until,
            previous: whole.previous,
            completed: whole.completed,
            // Attempts are counted at the first job of the lease.
            attempt: if part.start == 0 { whole.attempt } else { 1 },
            jobs: whole.jobs.get(part).unwrap_or_default().to_vec(),
        }
    }

    /// The first job whose turn it is, as people name it.
    pub(super) fn first_job(&self) -> String {
        let job = self.lease.jobs.get(self.bisection.part().start);
        job.map_or_else(|| "unknown".to_owned(), |job| job.id.to_string())
    }

    /// Takes the answer to the part whose turn it was.
    pub(super) fn answered(mut self, ran: Handled) -> Next {
        let Handled {
            settlement:
                Settlement {
                    outcome: Outcome { done, rest },
                    answers,
                    then,
                    ..
                },
            refused,
            unsure,
        } = ran;
        // A part that goes through has seen what became of those before it.
        self.unsure = unsure || (self.unsure && done == 0);
        self.take(answers, then);
        if done >= self.bisection.part().len() {
            return if self.bisection.passed() {
                Next::Part(Box::new(self))
            } else {
                Next::Done(self.end(0, rest))
            };
        }
        match refused {
            Some(error) if done == 0 => {
                if self.bisection.refused() {
                    self.was_split = true;
                    Next::Part(Box::new(self))
                } else {
                    Next::Refused {
                        parts: Box::new(self),
                        rest,
                        error,
                    }
                }
            }
            _ => Next::Done(self.end(done, rest)),
        }
    }

    /// Its settlement: the parts that went through and `done` further jobs are done. None of them is where it is not known
    /// what became of the last part: they come again, are recognised, and what they led to is staged then.
    pub(super) fn end(self, done: usize, rest: Rest) -> Settlement {
        if self.unsure {
            return settlement(&self.lease, 0, rest);
        }
        Settlement {
            lease: self.lease.reference(),
            outcome: Outcome {
                done: self.bisection.part().start + done,
                rest,
            },
            answers: self.answers,
            then: self.then,
        }
    }

    /// What follows from a part comes beside what follows from those before it; of two with the same id, the later one
    /// was made from the newer state.
    fn take(&mut self, answers: Vec<Answer>, then: Vec<NewJob>) {
        self.answers.extend(answers);
        if !self.then.is_empty() && !then.is_empty() {
            let newer: BTreeSet<JobId> = then.iter().map(|job| job.id).collect();
            self.then.retain(|job| !newer.contains(&job.id));
        }
        self.then.extend(then);
    }
}
