//! Whole-system tests: the corpus on every composition, every suite on every adapter.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test stops at what it did not expect"
)]

#[cfg(test)]
mod corpus_totals;
#[cfg(test)]
mod crash_matrix;
#[cfg(test)]
mod inventory;
#[cfg(test)]
mod poison;
#[cfg(test)]
mod rolling_deploy;
#[cfg(test)]
mod signals;
