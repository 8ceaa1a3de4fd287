//! The contract of every port, on SQLite, and what only a file can show.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test may stop at the first surprise, in its helpers too"
)]

mod checkpoints;
mod closing;
mod disk_full;
mod fixture;
mod forged;
mod handles;
mod kill;
mod opening;
mod sharing;
mod support;
mod together;
mod upgrading;
mod user_tables;
mod waiting;

foldwright_conformance::suites!(crate::fixture::SqliteFixture);
