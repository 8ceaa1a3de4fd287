//! The spans of what a kernel does.
use super::{Propagation, TARGET};
use crate::wire::Header;
use foldwright_ports::{Append, HandedJob, Lease, Route};
use tracing::{Span, field::Empty, info_span};

/// A command that is handed over. Goes on the sender's own trace where it has one.
pub(crate) fn send_span(command: &'static str, context: Option<&str>, propagation: &dyn Propagation) -> Span {
    let span = info_span!(target: TARGET, "send", command, trace_id = Empty);
    go_on(span, context, propagation)
}

/// The events of commands on their way into the log, a span for each command. Nothing where nobody listens.
pub(crate) fn append_spans(appends: &[Append], propagation: &dyn Propagation) -> Vec<Span> {
    if !tracing::enabled!(target: TARGET, tracing::Level::INFO) {
        return Vec::new();
    }
    let span = |append: &Append| {
        let events = append.batch.events();
        let context = events
            .first()
            .and_then(|event| event.meta.trace_context.as_deref());
        let span = info_span!(target: TARGET, "append", events = events.len(), trace_id = Empty);
        go_on(span, context, propagation)
    };
    appends.iter().map(span).collect()
}

/// An effect while it runs; what the user's code opens lies below it.
pub(crate) fn effect_span(route: &Route, context: Option<&str>, propagation: &dyn Propagation) -> Span {
    let span = info_span!(target: TARGET, "effect", %route, trace_id = Empty);
    go_on(span, context, propagation)
}

fn go_on(span: Span, context: Option<&str>, propagation: &dyn Propagation) -> Span {
    if let Some(context) = context.filter(|_| !span.is_disabled()) {
        propagation.go_on(&span, context);
    }
    span
}

/// A span for each job of these leases, open for as long as it is kept. Nothing where nobody listens.
pub(crate) fn job_spans(route: &Route, leases: &[Lease], propagation: &dyn Propagation) -> Vec<Span> {
    if !tracing::enabled!(target: TARGET, tracing::Level::INFO) {
        return Vec::new();
    }
    let of_lease = |lease: &Lease| {
        let (tenant, attempt) = (lease.group.tenant.as_str(), lease.attempt);
        let spans = lease
            .jobs
            .iter()
            .map(|job| job_span(route, tenant, job, attempt, propagation));
        spans.collect::<Vec<_>>()
    };
    leases.iter().flat_map(of_lease).collect()
}

/// A job that runs; its own context is read from its header, and a header that cannot be read has none.
fn job_span(
    route: &Route,
    tenant: &str,
    job: &HandedJob,
    attempt: u32,
    propagation: &dyn Propagation,
) -> Span {
    let span = info_span!(
        target: TARGET,
        "job",
        %route,
        kind = route.kind(),
        tenant,
        job = %job.id,
        attempt,
        trace_id = Empty
    );
    if span.is_disabled() {
        return span;
    }
    let context = Header::decode(&job.header)
        .ok()
        .and_then(|header| header.trace_context);
    go_on(span, context.as_deref(), propagation)
}
