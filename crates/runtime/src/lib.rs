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
mod description;
mod encoded;
mod fold;
#[cfg(any(test, feature = "fuzzing"))]
#[doc(hidden)]
pub mod fuzzing;
mod handlers;
mod ids;
mod kernel;
mod lean;
mod pipeline;
mod reader;
mod retention;
mod role;
mod router;
mod shutdown;
mod signals;
mod subscriber;
mod sweeper;
#[cfg(test)]
mod sweeper_test;
mod telemetry;
mod wire;
mod worker;

pub use counters::{Counter, Counters};
pub use description::{
    DescribedCommand, DescribedEnvelope, DescribedFold, DescribedMap, DescribedPipeline, DescribedSubscriber,
    DescribedTable, Description,
};
pub use fold::RefoldBudget;
pub use ids::{SeededIds, SystemIds};
pub use kernel::{
    Answered, Backlog, Kernel, KernelBuilder, MAX_FUTURE, Operator, Receipt, ReceiptError, ReceiptKey,
    Restaged, SendError, SendRefused, Standing, StoredEvents,
};
pub use pipeline::{Faults, Global, Pipeline, Projection};
pub use reader::{Reader, Unreadable};
pub use retention::{NoBase, RetainCursor, RetainError, Retained, WhyNoBase, WithoutBase};
pub use role::Role;
pub use shutdown::{Shutdown, ShutdownBudget, ShutdownError, Stopped, TooShort};
pub use signals::{Exit, Signals, run_until_done, run_until_signal};
pub use subscriber::{EffectError, KillSwitch, Subscriber, SubscriberCounts, SubscriberOptions, Switch};
pub use telemetry::{Propagation, TARGET, TraceParent, describe_metrics, metric_names};
pub use wire::TooLarge;
pub use worker::WorkerSettings;
