//! What the server counts, and the one place that turns the kernel's counts into metrics.
use foldwright::{Backlog, Kernel};
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
    PrometheusBuilder::new()
        .set_buckets_for_metric(Matcher::Full(EXPORT_SECONDS.to_owned()), &BUCKETS)?
        .install_recorder()
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

/// The kernel's counters since its start, and the backlog of the store.
pub(super) fn kernel(kernel: &Kernel, backlog: Option<&Backlog>) {
    let c = kernel.counters();
    for (name, count) in [
        ("events_fresh", &c.events_fresh),
        ("events_duplicate", &c.events_duplicate),
        ("events_conflicting", &c.events_conflicting),
        ("rejected", &c.rejected),
        ("jobs_completed", &c.jobs_completed),
        ("leases_lost", &c.leases_lost),
        ("released", &c.released),
        ("superseded", &c.superseded),
        ("refolds", &c.refolds),
        ("deferred", &c.deferred),
        ("runs_decided", &c.runs_decided),
        ("runs_declined", &c.runs_declined),
        ("guards_failed", &c.guards_failed),
        ("hooks_swallowed", &c.hooks_swallowed),
        ("bodies_missing", &c.bodies_missing),
        ("states_missing", &c.states_missing),
    ] {
        counter!(format!("foldwright_{name}_total")).absolute(count.get());
    }
    gauge!("foldwright_store_up").set(f64::from(u8::from(backlog.is_some())));
    let Some(backlog) = backlog else { return };
    gauge!("foldwright_backlog_open").set(backlog.open() as f64);
    for (kind, depth) in [
        ("command", backlog.commands),
        ("fold", backlog.folds),
        ("map", backlog.maps),
        ("subscriber", backlog.subscribers),
    ] {
        for (state, jobs) in [
            ("waiting", depth.waiting),
            ("leased", depth.leased),
            ("blocked", depth.blocked),
            ("dead", depth.dead),
        ] {
            gauge!("foldwright_backlog_jobs", "kind" => kind, "state" => state).set(jobs as f64);
        }
    }
}
