//! What the server counts beside what its kernel counts, and where both are kept.
use foldwright::{Backlog, describe_metrics};
use hyper::StatusCode;
use metrics::{counter, gauge, histogram};
use metrics_exporter_prometheus::{BuildError, Matcher, PrometheusBuilder, PrometheusHandle};
use std::time::Duration;

const EXPORT_SECONDS: &str = "traces_export_seconds";

/// From a millisecond to where an exporter gives up.
const BUCKETS: [f64; 12] = [
    0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0, 10.0,
];

/// Makes Prometheus the recorder of this process. For `main` alone: a process has one.
///
/// # Errors
/// There is one already.
pub fn install() -> Result<PrometheusHandle, BuildError> {
    let handle = PrometheusBuilder::new()
        .set_buckets_for_metric(Matcher::Suffix("_seconds".to_owned()), &BUCKETS)?
        .install_recorder()?;
    describe_metrics();
    Ok(handle)
}

/// `route` is one of a handful of patterns, never a path as it came.
pub(super) fn request(route: &'static str, status: StatusCode) {
    counter!("traces_http_requests_total", "route" => route, "status" => status.as_str().to_owned())
        .increment(1);
}

pub(super) fn exported_in(time: Duration) {
    histogram!(EXPORT_SECONDS).record(time);
}

pub(super) fn spans(accepted: usize, refused: usize) {
    counter!("traces_spans_total", "outcome" => "accepted").increment(accepted as u64);
    counter!("traces_spans_total", "outcome" => "refused").increment(refused as u64);
}

pub(super) fn connections(open: usize) {
    gauge!("traces_http_connections").set(open as f64);
}

pub(super) fn turned_away() {
    counter!("traces_http_connections_refused_total").increment(1);
}

pub(super) fn budget(exports: usize, bytes: usize) {
    gauge!("traces_exports_in_flight").set(exports as f64);
    gauge!("traces_export_memory_bytes").set(bytes as f64);
}

/// Whether the store answers, and what is still to be done. What the kernel itself counts is in the recorder already.
pub(super) fn store(backlog: Option<&Backlog>) {
    gauge!("traces_store_up").set(f64::from(u8::from(backlog.is_some())));
    if let Some(backlog) = backlog {
        gauge!("traces_backlog_open").set(backlog.open() as f64);
    }
}
