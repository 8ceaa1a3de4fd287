//! Stopping in good order.
mod budget;
mod shutdown;
mod signals;

pub use budget::{ShutdownBudget, TooShort};
pub use shutdown::{Shutdown, ShutdownError, Stopped};
pub use signals::{Exit, Signals, run_until_signal};
