//! Exact folds: the stored state equals the left fold of the distinct events, whatever was redelivered, reordered or
//! half done.
//!
//! `applied`, `filter`, `ledger`, `progress`, `batch`, `reorder_window` and `weave` are pure and know no store;
//! `handlers::FoldHandler` drives them. `base` is what is left of events that retention let go.
mod applied;
mod base;
mod batch;
mod budget;
mod filter;
mod job;
mod ledger;
mod progress;
mod refold;
mod reorder_window;
mod source;
mod weave;

pub(crate) use applied::{Applied, Membership};
pub(crate) use base::{Base, BaseNotes, Kept};
pub(crate) use batch::Batch;
pub use budget::RefoldBudget;
pub(crate) use budget::{Admission, RefoldGate};
#[cfg(test)]
pub(crate) use filter::tests::PROBES_OF_7;
pub(crate) use job::Job;
pub(crate) use ledger::Ledger;
pub(crate) use progress::{Panicked, Progress};
pub(crate) use refold::{RefoldError, Replaced, refold};
pub(crate) use reorder_window::{OpenWindow, PanickedAt, ReorderWindow, Windowed, kept};
pub(crate) use source::{ByAggregate, ByKey, KeyError, KeyRule, aggregate_group_key, key_text};
pub(crate) use weave::{Weave, WeaveError};
