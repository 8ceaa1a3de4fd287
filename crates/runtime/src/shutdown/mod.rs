//! Stopping in good order.
mod budget;
mod shutdown;

pub use budget::{ShutdownBudget, TooShort};
pub use shutdown::{Shutdown, ShutdownError, Stopped};
