//! Where projections keep what they make.
mod append_store;
mod fold_store;
mod state_key;
mod tables;

pub use append_store::{AppendStore, Record};
pub use fold_store::{FoldStore, StateRow, Stored};
pub use state_key::{Revision, StateKey};
pub use tables::{FoldRow, RecordTable, StateTable};
