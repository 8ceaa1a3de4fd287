//! The spans of what a kernel does.
use super::{Propagation, TARGET};
use crate::wire::Header;
use foldwright_ports::{HandedJob, Lease, Route};
use tracing::{Span, field::Empty, info_span};

/// A command that is handed over. Goes on the sender's own trace where it has one.
pub(crate) fn send_span(command: &'static str, context: Option<&str>, propagation: &dyn Propagation) -> Span {
    let span = info_span!(target: TARGET, "send", command, trace_id = Empty);
    go_on(span, context, propagation)
}

/// A command's events on their way into the log.
pub(crate) fn append_span(events: usize, context: Option<&str>, propagation: &dyn Propagation) -> Span {
    let span = info_span!(target: TARGET, "append", events, trace_id = Empty);
    go_on(span, context, propagation)
}

fn go_on(span: Span, context: Option<&str>, propagation: &dyn Propagation) -> Span {
    if let Some(context) = context.filter(|_| !span.is_disabled()) {
        propagation.go_on(&span, context);
    }
    span
}

/// The spans of the jobs that run together, open for as long as this lives. Nothing where nobody listens.
#[derive(Default)]
pub(crate) struct JobSpans(Vec<Span>);

impl JobSpans {
    /// Opens a span for each job of these leases.
    pub(crate) fn open(route: &Route, leases: &[Lease], propagation: &dyn Propagation) -> Self {
        if !tracing::enabled!(target: TARGET, tracing::Level::INFO) {
            return Self::default();
        }
        let of_lease = |lease: &Lease| {
            let attempt = lease.attempt;
            let tenant = lease.group.tenant.clone();
            lease
                .jobs
                .iter()
                .map(|job| job_span(route, tenant.as_str(), job, attempt, propagation))
                .collect::<Vec<_>>()
        };
        Self(leases.iter().flat_map(of_lease).collect())
    }
}

/// A job that runs; its own context is read from its header, and a header that cannot be read has none.
pub(crate) fn job_span(
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
