//! What lets old events go: the state of each fold at the horizon is kept before the log is cut.
//!
//! `base` is the stored form, `weave` puts it in front of what the log still has, `keeper` makes it; `steps` drives both
//! from the operator's call.
mod base;
mod keeper;
mod no_base;
mod steps;
mod weave;

pub(crate) use base::{Base, BaseNotes, Kept};
pub(crate) use keeper::{BaseKeeper, KeepsBase};
pub use no_base::{NoBase, WhyNoBase};
pub(crate) use steps::step;
pub use steps::{RetainCursor, RetainError, Retained, WithoutBase};
pub(crate) use weave::{Weave, WeaveError};
