//! Every port of Foldwright in memory, for tests, simulations and benchmarks.
//!
//! Deterministic: the same calls at the same times give the same answers. Time comes from the injected clock alone,
//! there is no randomness, and nothing observable depends on the order of a hash table.
//!
//! It keeps every promise of the ports but one: nothing survives the death of the process. An answer therefore means
//! that the fact is in this process's memory, and no more.
#![forbid(unsafe_code)]

mod blobs;
mod clock;
mod cursor;
mod folds;
#[cfg(any(test, feature = "fuzzing"))]
#[doc(hidden)]
pub mod fuzzing;
mod hasher;
mod keyed;
mod lock;
mod log;
mod memory;
mod pager;
mod queue;
mod records;

pub use clock::VirtualClock;
pub use memory::Memory;
