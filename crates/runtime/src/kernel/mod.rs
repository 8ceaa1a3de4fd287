//! A kernel: pipelines on ports, sending and working.
mod backlog;
mod builder;
mod described_settings;
mod desk;
mod inline;
mod kernel;
mod operator;
mod operator_log;
mod operator_queue;
mod receipt;
mod receipt_error;
mod receipt_key;
mod send;
mod wait;

pub use backlog::{Backlog, Standing};
pub use builder::KernelBuilder;
pub(crate) use desk::Desk;
pub use desk::StoredEvents;
pub(crate) use inline::Inline;
pub use kernel::Kernel;
pub(crate) use kernel::Wired;
pub use operator::Operator;
pub use operator_log::Restaged;
pub use receipt::{Answered, Receipt};
pub use receipt_error::ReceiptError;
pub use receipt_key::ReceiptKey;
pub use send::{MAX_FUTURE, SendError, SendRefused};
