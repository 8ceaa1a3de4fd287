//! W3C contexts of OpenTelemetry spans.
use foldwright_runtime::{Propagation, TraceParent};
use opentelemetry::{
    Context,
    trace::{SpanContext, SpanId, TraceContextExt, TraceFlags, TraceId, TraceState},
};
use std::sync::Arc;
use tracing::Span;
use tracing_opentelemetry::OpenTelemetrySpanExt;

/// Ties the kernel's spans to those of `tracing-opentelemetry`.
#[derive(Clone, Copy, Debug, Default)]
pub struct OpenTelemetry;

impl Propagation for OpenTelemetry {
    fn go_on(&self, span: &Span, context: &str) {
        let Ok(parent) = context.parse::<TraceParent>() else {
            return;
        };
        let flags = if parent.sampled {
            TraceFlags::SAMPLED
        } else {
            TraceFlags::default()
        };
        let remote = SpanContext::new(
            TraceId::from_bytes(parent.trace_id.to_be_bytes()),
            SpanId::from_bytes(parent.span_id.to_be_bytes()),
            flags,
            true,
            TraceState::default(),
        );
        // An error means that no layer of OpenTelemetry listens, and then there is nothing to go on.
        let _ = span.set_parent(Context::new().with_remote_span_context(remote));
    }

    fn context_of(&self, span: &Span) -> Option<Arc<str>> {
        let context = span.context();
        let span = context.span();
        let context = span.span_context();
        context.is_valid().then(|| {
            TraceParent {
                trace_id: u128::from_be_bytes(context.trace_id().to_bytes()),
                span_id: u64::from_be_bytes(context.span_id().to_bytes()),
                sampled: context.is_sampled(),
            }
            .to_text()
        })
    }
}
