//! The contract of each port as tests that any adapter can run.
//!
//! An adapter gives a [`Fixture`] and calls [`suites!`] in its tests; each case becomes a test of its own. Nothing is
//! skipped: what an adapter declares that it cannot do, it must refuse.
//!
//! ```text
//!  suites!(fixture) ──► one test per case ──► Fixture::open ──► Harness { ports, clock, .. }
//!                                  │
//!                                  └─ queue_model: random steps ─► adapter ─┐ must agree
//!                                                                └► model ──┘
//! ```
#![forbid(unsafe_code)]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "this library is test code: it reports by panicking"
)]

mod clock;
mod fixture;
mod invariants;
mod kit;
mod model;
mod run;
#[doc(hidden)]
pub mod suite;
mod suites;

pub use clock::TestClock;
pub use fixture::{Declares, Fixture, Harness, Scale};
pub use invariants::{Invariants, Violation, counters_equal, in_order};
pub use run::{Case, Running, every_case_is_listed, run, unlisted};
pub use suites::inventory;
