//! How much a worker takes on.
use std::time::Duration;

/// Settings of the worker in one process.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WorkerSettings {
    /// Lanes for commands, folds and maps; each runs many groups in one go. Default 2.
    pub bulk_lanes: usize,
    /// Lanes for subscribers; each runs one group at a time. Default 8.
    pub effect_lanes: usize,
    /// How many groups a bulk lane takes in one claim; default 2,000.
    pub max_groups: usize,
    /// How many jobs of one group make a batch; default 500. 1 runs them singly.
    pub max_jobs_per_group: usize,
    /// How many stored bytes one claim takes; default 8 MiB.
    pub max_bytes: u64,
    /// How long a lease lives without a heartbeat, so how long a killed worker's groups wait; default 30 s.
    /// Heartbeats go out every third of it.
    pub lease: Duration,
    /// How long an idle lane waits for a wake-up before it looks by itself; default 5 s.
    pub idle: Duration,
    /// How long the worker's liveness record runs without being renewed, at most `lease`, so that a record which has run
    /// out is known when the leases lapse; default half of `lease`.
    pub liveness: Option<Duration>,
    /// How often one lease is split when its jobs are refused as a whole; default 32, 0 never. Each split costs a call.
    pub splits: u32,
    /// How many raw bytes of bodies are worked on at a time; default 64 MiB. One job that is larger goes alone. What does
    /// not fit stays in the queue's bodies until there is room.
    pub body_bytes: u64,
    /// How long a subscriber may run before it is dropped and tried again; default 5 min.
    pub effect_timeout: Duration,
    /// How long a subscriber may run before it no longer counts against its lane; default 10 s. The lane then goes on with
    /// other work beside it. A tenant with as many such runs as there are effect lanes begins no further one meanwhile, so
    /// that effects that hang hold up another tenant for twice this at most.
    pub effect_slow: Duration,
    /// How often orphaned bodies are swept; default 60 s.
    pub sweep: Duration,
    /// How often a page of the queue is proved right and its figures are counted anew; default 60 s.
    pub check: Duration,
}

/// Each lane is a task with a claim of its own; more only wait for each other.
const MOST_LANES: usize = 1_024;

/// Heartbeats every third of a shorter one would be all that a worker does.
const SHORTEST_LEASE: Duration = Duration::from_millis(100);

impl Default for WorkerSettings {
    fn default() -> Self {
        Self {
            bulk_lanes: 2,
            effect_lanes: 8,
            max_groups: 2_000,
            max_jobs_per_group: 500,
            max_bytes: 8 << 20,
            lease: Duration::from_secs(30),
            idle: Duration::from_secs(5),
            liveness: None,
            splits: 32,
            body_bytes: 64 << 20,
            effect_timeout: Duration::from_secs(300),
            effect_slow: Duration::from_secs(10),
            sweep: Duration::from_secs(60),
            check: Duration::from_secs(60),
        }
    }
}

impl WorkerSettings {
    /// How long the liveness record runs.
    pub(crate) fn liveness(&self) -> Duration {
        self.liveness.unwrap_or(self.lease / 2)
    }

    /// Every value that cannot work.
    pub(crate) fn faults(&self) -> Vec<String> {
        let mut faults = Vec::new();
        let mut positive = |name: &str, is_zero: bool| {
            if is_zero {
                faults.push(format!("worker setting `{name}` must not be zero"));
            }
        };
        positive("effect_timeout", self.effect_timeout.is_zero());
        positive("effect_slow", self.effect_slow.is_zero());
        positive("body_bytes", self.body_bytes == 0);
        positive("check", self.check.is_zero());
        positive("bulk_lanes", self.bulk_lanes == 0);
        positive("effect_lanes", self.effect_lanes == 0);
        positive("max_groups", self.max_groups == 0);
        positive("max_jobs_per_group", self.max_jobs_per_group == 0);
        positive("max_bytes", self.max_bytes == 0);
        positive("idle", self.idle.is_zero());
        positive("sweep", self.sweep.is_zero());
        for (name, lanes) in [
            ("bulk_lanes", self.bulk_lanes),
            ("effect_lanes", self.effect_lanes),
        ] {
            if lanes > MOST_LANES {
                faults.push(format!(
                    "worker setting `{name}` is {lanes}, at most {MOST_LANES}"
                ));
            }
        }
        if self.lease < SHORTEST_LEASE {
            faults.push(format!(
                "worker setting `lease` is {:?}, at least {SHORTEST_LEASE:?}",
                self.lease
            ));
        }
        if let Some(liveness) = self.liveness
            && !(SHORTEST_LEASE / 2..=self.lease).contains(&liveness)
        {
            faults.push(format!(
                "worker setting `liveness` is {liveness:?}, at least {:?} and at most the lease of {:?}",
                SHORTEST_LEASE / 2,
                self.lease
            ));
        }
        faults
    }
}
