//! A multi-tenant trace service on Foldwright.
//!
//! A span is a command that becomes one event. From the events come a summary of each trace, a row of each span, the
//! usage of each service and day, and a note that a trace has settled.
//!
//! Read [`span_recorded`] first, then the four projections, then [`pipeline`], which names them all, and [`store`],
//! the one place that knows an adapter.

#[cfg(any(test, feature = "fuzzing"))]
#[doc(hidden)]
pub mod fuzzing;
pub mod ingest;
pub mod intake;
pub mod otlp;
pub mod pipeline;
pub mod serve;
pub mod service_usage;
pub mod show;
pub mod span_recorded;
pub mod spans;
pub mod store;
pub mod trace_settled;
pub mod trace_summary;
