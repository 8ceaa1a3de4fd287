//! The one fact of this service, and the command that states it.
use crate::otlp::Span;
use foldwright::prelude::*;

/// A trace: what spans of one trace id belong to.
pub enum Trace {}

impl Aggregate for Trace {
    const TYPE: AggregateType = AggregateType::new("trace");
    type Event = TraceEvent;
}

/// Everything that can happen to a trace.
#[derive(Event)]
#[event(aggregate = Trace, prefix = "otlp.tracing.trace")]
pub enum TraceEvent {
    /// A span of it has ended.
    #[event(name = "span_recorded", version = "2025-11-30")]
    SpanRecorded(Span),
}

/// Records a span. Exporters send spans again after a failure; trace id and span id make that the same fact.
pub enum RecordSpan {}

impl Declares for RecordSpan {
    type Of = Trace;
    type Data = Span;
    const NAME: &'static str = "record_span";

    fn aggregate_id(span: &Span) -> Result<AggregateId, InvalidId> {
        AggregateId::parse(span.trace_id.as_str())
    }

    fn idempotency_key(span: &Span) -> Option<String> {
        Some(format!("{}:{}", span.trace_id, span.span_id))
    }
}

/// When a span began, as business time.
#[must_use]
pub fn occurred_at(span: &Span) -> Millis {
    Millis(i64::try_from(span.start_ns / 1_000_000).unwrap_or(i64::MAX))
}

/// What the generative AI attributes of a span say.
pub(crate) struct GenAi<'a> {
    /// For example `chat` or `execute_tool`.
    pub(crate) operation: Option<&'a str>,
    pub(crate) input_tokens: u64,
    pub(crate) output_tokens: u64,
}

impl<'a> GenAi<'a> {
    pub(crate) fn of(span: &'a Span) -> Self {
        let tokens = |name| {
            span.attributes
                .get(name)
                .and_then(serde_json::Value::as_u64)
                .unwrap_or(0)
        };
        Self {
            operation: span
                .attributes
                .get("gen_ai.operation.name")
                .and_then(serde_json::Value::as_str),
            input_tokens: tokens("gen_ai.usage.input_tokens"),
            output_tokens: tokens("gen_ai.usage.output_tokens"),
        }
    }
}
