//! The runtime on the memory adapter, under paused time.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test stops at what it did not expect"
)]

#[cfg(test)]
mod smoke;
#[cfg(test)]
mod support;
