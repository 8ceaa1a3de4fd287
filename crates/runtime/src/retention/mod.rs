//! What lets old events go: the state of each fold at the horizon is kept before the log is cut.
//!
//! `keeper` makes the base of a state, which [`Base`](crate::fold::Base) stores; `steps` drives it from the operator's call.
mod keeper;
mod no_base;
mod steps;

pub(crate) use keeper::{BaseKeeper, KeepsBase};
pub use no_base::{NoBase, WhyNoBase};
pub(crate) use steps::step;
pub use steps::{RetainCursor, RetainError, Retained, WithoutBase};
