//! A kernel: pipelines on ports, sending and working.
mod backlog;
mod builder;
mod desk;
mod inline;
mod kernel;
mod receipt;
mod receipt_error;
mod receipt_key;
mod role;
mod send;
mod wait;

pub use backlog::Backlog;
pub use builder::KernelBuilder;
pub(crate) use desk::Desk;
pub use desk::StoredEvents;
pub(crate) use inline::Inline;
pub use kernel::Kernel;
pub use receipt::{Answered, Receipt};
pub use receipt_error::ReceiptError;
pub use receipt_key::ReceiptKey;
pub use role::Role;
pub use send::{MAX_FUTURE, SendError, SendRefused};
