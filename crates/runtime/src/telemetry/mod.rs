//! What a kernel shows of itself: traces that go on from send to effect, and metrics.
//!
//! Traces are spans of the target [`TARGET`]; filter it out and they cost nothing. The context goes with the jobs as a W3C
//! `traceparent`, so one trace goes on over processes and retries. Metrics go to whatever recorder the `metrics` facade
//! has; install it before a kernel is started. No label holds a payload, an id or, by default, a tenant.
mod gauges;
mod job_spans;
mod names;
mod propagation;
mod route_metrics;
mod trace_parent;

pub(crate) use gauges::Gauges;
pub(crate) use job_spans::{append_spans, effect_span, job_spans, send_span};
pub(crate) use names::{
    ATTEMPTS_FAILED, CAPPED_TENANTS, JOB_WAIT, JOBS_COMPLETED, LEASES_ENDED, PAUSES, QUEUE_JOBS, RUN_TIME,
    STRANDED_JOBS, SUBSCRIBER_EVENTS, WORKERS, labels_of,
};
pub use names::{describe_metrics, metric_names};
pub use propagation::Propagation;
pub(crate) use propagation::{Guarded, SpanFields};
pub(crate) use route_metrics::RouteMetrics;
pub use trace_parent::TraceParent;

/// The target of the kernel's spans.
pub const TARGET: &str = "foldwright::trace";
