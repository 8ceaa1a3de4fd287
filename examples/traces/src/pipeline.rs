//! All that the service is made of: names and rules, no adapter.
use crate::{
    service_usage::ServiceUsage,
    span_recorded::{RecordSpan, Trace, TraceEvent},
    spans::Spans,
    trace_summary::{Summary, TraceSummary},
};
use foldwright::{Faults, prelude::*};
use std::time::Duration;

/// A trace has settled when none of its spans has come for this long.
pub const SETTLED_AFTER: Duration = Duration::from_secs(2);

/// The pipeline of traces; `on_settled` runs for each that has settled.
pub fn pipeline<S>(on_settled: S) -> Result<Pipeline<Trace>, Faults>
where
    S: Subscriber<On = TraceEvent, State = Summary>,
{
    Pipeline::define("traces")
        .declares::<RecordSpan>()
        .fold::<TraceSummary>(|fold| fold.subscriber(on_settled, Dispatch::debounce(SETTLED_AFTER)))
        .keyed::<ServiceUsage>(|fold| fold)
        .map::<Spans>(|map| map)
        .build()
}
