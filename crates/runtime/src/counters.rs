//! What the kernel counts about itself.
use foldwright_ports::Staged;
use std::sync::atomic::{AtomicU64, Ordering};

/// A number that only grows, in this kernel and as a metric.
pub struct Counter {
    here: AtomicU64,
    metric: metrics::Counter,
}

impl Counter {
    pub(crate) fn new(metric: metrics::Counter) -> Self {
        Self {
            here: AtomicU64::new(0),
            metric,
        }
    }

    /// Counts `n` more.
    pub(crate) fn add(&self, n: u64) {
        self.here.fetch_add(n, Ordering::Relaxed);
        self.metric.increment(n);
    }

    /// The count since the kernel was started.
    #[must_use]
    pub fn get(&self) -> u64 {
        self.here.load(Ordering::Relaxed)
    }
}

impl std::fmt::Debug for Counter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.get())
    }
}

/// Makes [`Counters`]: each counter with its meaning, once, and the metric that goes with it.
macro_rules! counters {
    ($($(#[doc = $meaning:literal])+ $name:ident => $metric:literal,)+) => {
        /// Counts of one kernel since it was started. Every path on which work is declined, merged, deferred, lost to
        /// fencing or swallowed has one. Each is a metric as well; [`all`](Self::all) gives its name.
        #[derive(Debug)]
        #[non_exhaustive]
        pub struct Counters {
            $($(#[doc = $meaning])+ pub $name: Counter,)+
        }

        impl Default for Counters {
            fn default() -> Self {
                $(metrics::describe_counter!($metric, metrics::Unit::Count, concat!($($meaning),+).trim());)+
                Self { $($name: Counter::new(metrics::counter!($metric)),)+ }
            }
        }

        impl Counters {
            /// The names of all metrics.
            pub(crate) const NAMES: &[&str] = &[$($metric),+];

            /// Every counter by the name of its metric.
            pub fn all(&self) -> impl Iterator<Item = (&'static str, &Counter)> {
                [$(($metric, &self.$name)),+].into_iter()
            }
        }
    };
}

counters! {
    /// Events that were new to the log.
    events_fresh => "foldwright_events_fresh_total",
    /// Events that were in the log already.
    events_duplicate => "foldwright_events_duplicate_total",
    /// Events whose identity was in the log with another content.
    events_conflicting => "foldwright_events_conflicting_total",
    /// Commands that their handler refused.
    rejected => "foldwright_commands_rejected_total",
    /// Decisions that were taken again because their aggregate had changed meanwhile.
    decisions_repeated => "foldwright_decisions_repeated_total",
    /// Commands that were not decided because their events stood in the log already.
    decisions_standing => "foldwright_decisions_standing_total",
    /// Jobs that were completed.
    jobs_completed => "foldwright_kernel_jobs_completed_total",
    /// Leases whose outcome was refused because the token was not the live one.
    leases_lost => "foldwright_leases_lost_total",
    /// Leases that were given back because a row is newer than this worker.
    released => "foldwright_leases_released_total",
    /// Fold rows that were refused because a higher revision stood.
    superseded => "foldwright_fold_rows_superseded_total",
    /// Refolds.
    refolds => "foldwright_refolds_total",
    /// Batches that were deferred because a refold was over its budget.
    deferred => "foldwright_refolds_deferred_total",
    /// Subscriber runs that were decided.
    runs_decided => "foldwright_runs_decided_total",
    /// Events of migrations, about which a subscriber was not asked.
    runs_migrated => "foldwright_runs_migrated_total",
    /// Events that a subscriber did not want.
    runs_declined => "foldwright_runs_declined_total",
    /// Guards that panicked, which means yes, and key rules that gave no key, which means the default.
    guards_failed => "foldwright_guards_failed_total",
    /// Kill switches that could not be read, which means on.
    switches_failed => "foldwright_switches_failed_total",
    /// Events outside the window that their keyed fold gives for their key: a refold of that key would not find them.
    outside_window => "foldwright_events_outside_window_total",
    /// `after_store` hooks that panicked.
    hooks_swallowed => "foldwright_hooks_swallowed_total",
    /// Job bodies that were gone and were rebuilt from the log.
    bodies_missing => "foldwright_bodies_missing_total",
    /// Subscriber runs that saw the current state, because their own was gone or not readable by this build.
    states_missing => "foldwright_states_missing_total",
    /// Leases of subscribers that were deferred because their tenant has too many slow runs.
    effects_deferred => "foldwright_effects_deferred_total",
    /// Leases that were given back when the worker was stopped before it was done.
    leases_given_back => "foldwright_leases_given_back_total",
    /// Invariants of the queue that the continuous check found broken.
    violations => "foldwright_violations_total",
    /// Figures of the queue that differed from what they count, and were put right.
    drifts => "foldwright_drifts_total",
    /// Late events that were folded within the reorder window, without reading the log.
    reordered => "foldwright_reordered_total",
    /// Leases that had lapsed and were returned by this kernel.
    leases_lapsed => "foldwright_leases_lapsed_total",
    /// Deaths of workers that were confirmed, over all groups that they held.
    deaths_confirmed => "foldwright_deaths_confirmed_total",
    /// Groups that were quarantined because handling them killed their workers.
    poisoned => "foldwright_groups_poisoned_total",
    /// Jobs that were merged into one that waited.
    squashed => "foldwright_jobs_squashed_total",
    /// Calls of senders that were refused because the queue is full.
    full => "foldwright_sends_refused_full_total",
    /// Commands whose business time lies outside of the window in which it orders the queue.
    wild_scores => "foldwright_wild_scores_total",
    /// Outcomes that came again after they were settled.
    late_acks => "foldwright_late_acks_total",
}

impl Counters {
    /// What became of jobs that were staged.
    pub(crate) fn staged(&self, staged: &[Staged]) {
        let squashed = staged.iter().filter(|one| **one == Staged::Squashed).count();
        self.squashed.add(squashed as u64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use metrics_util::debugging::{DebugValue, DebuggingRecorder};
    use std::collections::BTreeMap;

    #[test]
    fn every_counter_moves_a_metric_of_its_own() {
        let recorder = DebuggingRecorder::new();
        metrics::with_local_recorder(&recorder, || {
            let counters = Counters::default();
            for (n, (_, counter)) in (1..).zip(counters.all()) {
                counter.add(n);
                assert_eq!(counter.get(), n);
            }
        });
        let shown = recorder.snapshotter().snapshot().into_vec();
        let shown: BTreeMap<_, _> = shown
            .into_iter()
            .map(|(key, _, _, value)| (key.key().name().to_owned(), value))
            .collect();
        assert_eq!(shown.len(), Counters::NAMES.len());
        for (n, name) in (1..).zip(Counters::NAMES) {
            assert!(name.starts_with("foldwright_") && name.ends_with("_total"));
            assert_eq!(shown[*name], DebugValue::Counter(n), "{name}");
        }
    }
}
