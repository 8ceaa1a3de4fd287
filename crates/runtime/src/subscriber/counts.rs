//! What one subscriber did with the events that were routed to it.
use crate::{
    counters::Counter,
    telemetry::{SUBSCRIBER_EVENTS, labels_of},
};
use foldwright_ports::Route;
use metrics::Label;

/// Counts of one subscriber in one kernel since it was started.
///
/// `declined + staged + collapsed + failed = routed` whenever no batch of its projection is in hand. An event of a batch
/// that fails before its state is stored was not routed yet: it comes again. Each is a metric by route and outcome as well.
#[derive(Debug)]
pub struct SubscriberCounts {
    /// Events that its projection newly holds and brought to it.
    pub routed: Counter,
    /// Events that it did not want, or that came while it was switched off.
    pub declined: Counter,
    /// Those of the declined for which it was switched off: `when` was not asked.
    pub switched_off: Counter,
    /// Runs that were handed to the queue with the outcome of their projection's job.
    pub staged: Counter,
    /// Events for which a run of a later event of the same batch stands.
    pub collapsed: Counter,
    /// Runs that were decided and not handed over, because the state or the runs could not be stored: they are decided
    /// again, and counted again, with the next attempt.
    pub failed: Counter,
    /// Runs that were handed over again, because it was not known whether they had been.
    pub restaged: Counter,
    /// Runs that waited when it was switched off and were completed at their turn without running.
    pub killed: Counter,
}

impl SubscriberCounts {
    pub(crate) fn of(route: &Route) -> Self {
        let count = |outcome: &'static str| {
            let mut labels = labels_of(route);
            labels.push(Label::from_static_parts("outcome", outcome));
            Counter::new(metrics::counter!(SUBSCRIBER_EVENTS, labels))
        };
        Self {
            routed: count("routed"),
            declined: count("declined"),
            switched_off: count("switched_off"),
            staged: count("staged"),
            collapsed: count("collapsed"),
            failed: count("failed"),
            restaged: count("restaged"),
            killed: count("killed"),
        }
    }
}
