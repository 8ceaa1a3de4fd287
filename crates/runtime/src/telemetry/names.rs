//! The metrics of a kernel by name.
use foldwright_ports::Route;
use metrics::{Label, Unit, describe_counter, describe_gauge, describe_histogram};

/// Jobs that were completed, by route.
pub(crate) const JOBS_COMPLETED: &str = "foldwright_jobs_completed_total";
/// Attempts that failed, by route.
pub(crate) const ATTEMPTS_FAILED: &str = "foldwright_attempts_failed_total";
/// Leases that ended otherwise than with all their jobs done, by route and reason.
pub(crate) const LEASES_ENDED: &str = "foldwright_leases_not_completed_total";
/// What a subscriber did with the events that were routed to it, by its route and outcome.
pub(crate) const SUBSCRIBER_EVENTS: &str = "foldwright_subscriber_events_total";
/// From staging to claim, by route.
pub(crate) const JOB_WAIT: &str = "foldwright_job_wait_seconds";
/// A run of a route's handler over the leases of one claim.
pub(crate) const RUN_TIME: &str = "foldwright_run_seconds";
/// Jobs in the queue, by route and state.
pub(crate) const QUEUE_JOBS: &str = "foldwright_queue_jobs";
/// Waiting jobs of a route that no live worker knows, by route.
pub(crate) const STRANDED_JOBS: &str = "foldwright_queue_stranded_jobs";
/// Tenants that are at their cap.
pub(crate) const CAPPED_TENANTS: &str = "foldwright_queue_capped_tenants";
/// Pauses that stand.
pub(crate) const PAUSES: &str = "foldwright_queue_pauses";
/// Workers with a live record.
pub(crate) const WORKERS: &str = "foldwright_workers";

/// The labels of a route: `pipeline`, `kind` and `name`. There are as many as there are routes.
pub(crate) fn labels_of(route: &Route) -> Vec<Label> {
    vec![
        Label::new("pipeline", route.pipeline().to_owned()),
        Label::new("kind", route.kind().to_owned()),
        Label::new("name", route.name().to_owned()),
    ]
}

/// Tells the recorder what each metric means, for those that show it. Counters of [`Counters`](crate::Counters) describe
/// themselves when a kernel is started.
pub fn describe_metrics() {
    describe_counter!(JOBS_COMPLETED, Unit::Count, "jobs that were completed");
    describe_counter!(ATTEMPTS_FAILED, Unit::Count, "attempts that failed");
    describe_counter!(
        LEASES_ENDED,
        Unit::Count,
        "leases that ended otherwise than with all their jobs done, by reason"
    );
    describe_counter!(
        SUBSCRIBER_EVENTS,
        Unit::Count,
        "what a subscriber did with the events that were routed to it"
    );
    describe_histogram!(JOB_WAIT, Unit::Seconds, "from staging to claim");
    describe_histogram!(RUN_TIME, Unit::Seconds, "a run over the leases of one claim");
    describe_gauge!(QUEUE_JOBS, Unit::Count, "jobs in the queue by state");
    describe_gauge!(
        STRANDED_JOBS,
        Unit::Count,
        "waiting jobs of a route that no live worker knows"
    );
    describe_gauge!(CAPPED_TENANTS, Unit::Count, "tenants that are at their cap");
    describe_gauge!(PAUSES, Unit::Count, "pauses that stand");
    describe_gauge!(WORKERS, Unit::Count, "workers with a live record");
}

/// The names of all metrics that a kernel may show, for dashboards and rules.
#[must_use]
pub fn metric_names() -> Vec<&'static str> {
    let mut names = vec![
        JOBS_COMPLETED,
        ATTEMPTS_FAILED,
        LEASES_ENDED,
        SUBSCRIBER_EVENTS,
        JOB_WAIT,
        RUN_TIME,
        QUEUE_JOBS,
        STRANDED_JOBS,
        CAPPED_TENANTS,
        PAUSES,
        WORKERS,
    ];
    names.extend(crate::Counters::NAMES);
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    /// G-08
    #[test]
    fn every_metric_that_the_shipped_rules_name_exists() {
        let rules = include_str!("../../../../docs/monitoring/alerts.yml");
        let is_name = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
        let named: Vec<_> = rules
            .split(|c| !is_name(c))
            .filter(|word| word.starts_with("foldwright_"))
            .collect();
        assert!(named.len() > 10, "{named:?}");
        let names = metric_names();
        for name in named {
            assert!(names.contains(&name), "{name} is no metric of the kernel");
        }
    }
}
