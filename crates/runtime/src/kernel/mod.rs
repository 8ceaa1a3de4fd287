//! A kernel: pipelines on ports, sending and working.
mod backlog;
mod builder;
mod kernel;
mod receipt;
mod role;
mod send;

pub use backlog::Backlog;
pub use builder::KernelBuilder;
pub use kernel::Kernel;
pub use receipt::{Answered, Receipt};
pub use role::Role;
pub use send::{MAX_FUTURE, SendError, SendRefused};
