//! How spans and the contexts that go with jobs belong together.
use super::TraceParent;
use crate::catch::caught;
use std::sync::Arc;
use tracing::Span;

/// Ties the kernel's spans to a tracing system: a span goes on the trace that came with its job, and what follows from a
/// span carries that span's context.
///
/// Without one, the kernel passes on the context that a command came with, begins a trace of its own where its spans are
/// recorded and the command brought none, and notes the trace's id in each span as `trace_id`.
pub trait Propagation: Send + Sync + 'static {
    /// Makes `span` go on the trace of this `traceparent`.
    fn go_on(&self, span: &Span, context: &str);

    /// The `traceparent` of `span`, for what follows from it; `None` where it belongs to no trace.
    fn context_of(&self, span: &Span) -> Option<Arc<str>>;
}

/// Notes the trace's id in the span's fields, and nothing more.
pub(crate) struct SpanFields;

impl Propagation for SpanFields {
    fn go_on(&self, span: &Span, context: &str) {
        if let Ok(parent) = context.parse::<TraceParent>() {
            span.record(
                "trace_id",
                tracing::field::display(format_args!("{:032x}", parent.trace_id)),
            );
        }
    }

    fn context_of(&self, _span: &Span) -> Option<Arc<str>> {
        None
    }
}

/// A propagation whose panics stop no work.
pub(crate) struct Guarded(pub(crate) Arc<dyn Propagation>);

impl Propagation for Guarded {
    fn go_on(&self, span: &Span, context: &str) {
        if let Err(message) = caught(|| self.0.go_on(span, context)) {
            tracing::warn!(message, "the propagation panicked, a span has no trace to go on");
        }
    }

    fn context_of(&self, span: &Span) -> Option<Arc<str>> {
        let context = caught(|| self.0.context_of(span));
        context.unwrap_or_else(|message| {
            tracing::warn!(message, "the propagation panicked, a span has no context");
            None
        })
    }
}
