//! What holds of what a file gives back, whatever is in it: each function panics where it does not. Used by the fuzz
//! targets and by a plain test. No part of the API.
mod columns;
#[cfg(test)]
mod corpus_test;
mod rows;

pub use columns::{sqlite_column, sqlite_cursor};
pub use rows::sqlite_row;

pub(crate) use columns::column;
