//! Exact folds: the stored state equals the left fold of the distinct events, whatever was redelivered, reordered or
//! half done.
//!
//! `applied`, `ledger` and `progress` are pure and know no store; `handler` drives them.
mod applied;
mod budget;
mod filter;
mod handler;
mod ledger;
mod progress;
mod refold;
mod source;

pub(crate) use applied::{Applied, Membership};
pub use budget::RefoldBudget;
#[cfg(test)]
pub(crate) use filter::tests::PROBES_OF_7;
pub(crate) use budget::RefoldGate;
pub(crate) use handler::FoldHandler;
pub(crate) use ledger::Ledger;
pub(crate) use source::{ByAggregate, ByKey, KeyError, KeyRule, aggregate_group_key, key_text};
