//! Exact folds: the stored state equals the left fold of the distinct events, whatever was redelivered, reordered or
//! half done.
//!
//! `applied`, `filter`, `ledger`, `progress`, `batch` and `reorder_window` are pure and know no store; `handlers::FoldHandler` drives them.
mod applied;
mod batch;
mod budget;
mod filter;
mod ledger;
mod progress;
mod refold;
mod reorder_window;
mod source;

pub(crate) use applied::{Applied, Membership};
pub(crate) use batch::Batch;
pub use budget::RefoldBudget;
pub(crate) use budget::{Admission, RefoldGate};
#[cfg(test)]
pub(crate) use filter::tests::PROBES_OF_7;
pub(crate) use ledger::Ledger;
pub(crate) use progress::{Panicked, Progress};
pub(crate) use refold::{RefoldError, Replaced, refold};
pub(crate) use reorder_window::{Base, PanickedAt, ReorderWindow, Windowed, kept};
pub(crate) use source::{ByAggregate, ByKey, KeyError, KeyRule, aggregate_group_key, key_text};
