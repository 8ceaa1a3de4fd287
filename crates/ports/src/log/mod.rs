//! The event log.
mod append;
mod event_log;
mod selection;

pub use append::{Append, AppendError, Appended, Expect};
pub use event_log::{EventLog, LogCapabilities};
pub use selection::{EventRef, Retention, Selection};
