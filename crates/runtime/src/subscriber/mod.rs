//! What happens after a projection's row is durable.
mod current;
mod decides;
mod decisions;
mod effect_error;
mod pending;
mod subscriber;

pub(crate) use current::CurrentState;
pub(crate) use decides::{Decides, Guarded};
pub(crate) use decisions::Decisions;
pub use effect_error::EffectError;
pub(crate) use pending::PendingJob;
pub use subscriber::Subscriber;
