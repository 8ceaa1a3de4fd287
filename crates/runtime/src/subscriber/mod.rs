//! What happens after a projection's row is durable.
mod counts;
mod decides;
mod decisions;
mod effect_error;
mod kill_switch;
mod options;
mod pending;
mod subscriber;

pub use counts::SubscriberCounts;
pub(crate) use decides::{Asked, Decides, Guarded};
pub(crate) use decisions::Decisions;
pub use effect_error::EffectError;
pub(crate) use kill_switch::Switched;
pub use kill_switch::{KillSwitch, Switch};
pub use options::SubscriberOptions;
pub(crate) use pending::{Merge, Pending, PendingJob};
pub use subscriber::Subscriber;
