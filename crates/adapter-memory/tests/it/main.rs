//! The contract of every port, on the memory adapter.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test may stop at the first surprise, in its helpers too"
)]

mod cursors;
mod fixture;
mod waiting;

foldwright_conformance::suites!(fixture::MemoryFixture);
