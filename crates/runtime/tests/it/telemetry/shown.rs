//! What a recorder was told.
use foldwright_ports::Route;
use metrics::Key;
use metrics_util::debugging::{DebugValue, DebuggingRecorder};
use std::collections::BTreeMap;

/// Counters that say that work was declined, merged, put off, lost or swallowed.
const TROUBLES: [&str; 21] = [
    "foldwright_bodies_missing_total",
    "foldwright_commands_rejected_total",
    "foldwright_deaths_confirmed_total",
    "foldwright_drifts_total",
    "foldwright_effects_deferred_total",
    "foldwright_events_conflicting_total",
    "foldwright_groups_poisoned_total",
    "foldwright_guards_failed_total",
    "foldwright_hooks_swallowed_total",
    "foldwright_jobs_squashed_total",
    "foldwright_late_acks_total",
    "foldwright_leases_given_back_total",
    "foldwright_leases_lapsed_total",
    "foldwright_leases_lost_total",
    "foldwright_leases_released_total",
    "foldwright_refolds_deferred_total",
    "foldwright_sends_refused_full_total",
    "foldwright_states_missing_total",
    "foldwright_switches_failed_total",
    "foldwright_violations_total",
    "foldwright_wild_scores_total",
];

/// What a recorder was told, by metric and labels. It forgets counts that it has shown.
pub(super) struct Shown(Vec<(Key, DebugValue)>);

impl Shown {
    pub(super) fn take(recorder: &DebuggingRecorder) -> Self {
        let shown = recorder.snapshotter().snapshot().into_vec();
        let shown = shown.into_iter();
        Self(
            shown
                .map(|(key, _, _, value)| (key.key().clone(), value))
                .collect(),
        )
    }

    /// How many series there are.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// The troubles that were counted since the last look, and how often.
    pub(super) fn troubles(&self) -> BTreeMap<&str, u64> {
        let counts = self.0.iter().filter_map(|(key, value)| match value {
            DebugValue::Counter(count) if *count > 0 && TROUBLES.contains(&key.name()) => {
                Some((key.name(), *count))
            }
            _ => None,
        });
        counts.collect()
    }

    /// The counts of a metric of one route by a further label, those that are not zero.
    pub(super) fn by<'a>(
        &'a self,
        name: &str,
        route: &[(&str, &str)],
        further: &str,
    ) -> BTreeMap<&'a str, u64> {
        let counts = self.of(name, route).filter_map(|(key, value)| match value {
            DebugValue::Counter(count) if *count > 0 => Some((label(key, further)?, *count)),
            _ => None,
        });
        counts.collect()
    }

    /// The count of a metric over all series that have these labels.
    pub(super) fn count(&self, name: &str, labels: &[(&str, &str)]) -> u64 {
        let counts = self.of(name, labels).map(|(_, value)| match value {
            DebugValue::Counter(count) => *count,
            _ => 0,
        });
        counts.sum()
    }

    /// The gauge that has these labels.
    pub(super) fn gauge(&self, name: &str, labels: &[(&str, &str)]) -> Option<f64> {
        self.of(name, labels).find_map(|(_, value)| match value {
            DebugValue::Gauge(gauge) => Some(gauge.into_inner()),
            _ => None,
        })
    }

    fn of<'a>(&'a self, name: &str, labels: &[(&str, &str)]) -> impl Iterator<Item = &'a (Key, DebugValue)> {
        self.0.iter().filter(move |(key, _)| {
            key.name() == name && labels.iter().all(|(name, value)| label(key, name) == Some(value))
        })
    }
}

fn label<'a>(key: &'a Key, name: &str) -> Option<&'a str> {
    let mut labels = key.labels();
    labels
        .find(|label| label.key() == name)
        .map(metrics::Label::value)
}

/// The labels of a route.
pub(super) fn labels(route: &Route) -> [(&str, &str); 3] {
    [
        ("pipeline", route.pipeline()),
        ("kind", route.kind()),
        ("name", route.name()),
    ]
}
