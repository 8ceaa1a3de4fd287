//! The runtime of Foldwright: it wires pipelines to ports.
//!
//! ```text
//! send ─► queue ─► command ─► log ─► settle + one job per projection
//!                                       ├─► fold: load, apply, store ─► settle + subscribers' jobs
//!                                       └─► map: map, append ─────────► settle + subscribers' jobs
//! ```
//!
//! What follows from a job is durable before its outcome is, and every job that follows has a deterministic id: a
//! crash anywhere runs the job again and lands on the same ids.
//!
//! The runtime knows no adapter. It alone serialises; see `wire` for the formats.
#![forbid(unsafe_code)]

mod catch;
mod context;
mod counters;
mod encoded;
mod fold;
mod handlers;
mod ids;
mod kernel;
mod pipeline;
mod reader;
mod router;
mod shutdown;
mod subscriber;
mod sweeper;
#[cfg(test)]
mod sweeper_test;
mod wire;
mod worker;

pub use counters::{Counter, Counters};
pub use fold::RefoldBudget;
pub use ids::{SeededIds, SystemIds};
pub use kernel::{
    Answered, Backlog, Kernel, KernelBuilder, MAX_FUTURE, Receipt, Role, SendError, SendRefused,
};
pub use pipeline::{Faults, Global, Pipeline, Projection};
pub use reader::Reader;
pub use shutdown::{
    Exit, Shutdown, ShutdownBudget, ShutdownError, Signals, Stopped, TooShort, run_until_signal,
};
pub use subscriber::{EffectError, Subscriber};
pub use wire::TooLarge;
pub use worker::WorkerSettings;
