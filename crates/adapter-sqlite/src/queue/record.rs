//! What most groups have nothing of.
use super::first;
use serde::{Deserialize, Serialize};

#[derive(Clone, PartialEq, Eq, Default, Serialize, Deserialize, Debug)]
pub(super) struct More {
    pub(super) failures: u32,
    /// The job at which they were counted; `None` in a record of the first format: whichever is first.
    pub(super) failed: Option<Failed>,
    /// Failed attempts since the last success, whatever job they were at.
    pub(super) streak: u32,
    /// Confirmed deaths of workers since the last success.
    pub(super) deaths: u32,
    /// Whether a lease lapsed under a worker that had fallen silent, with no success since.
    pub(super) wary: bool,
    pub(super) need: Option<u32>,
    pub(super) blocked: Option<Block>,
    pub(super) last_error: Option<String>,
    pub(super) closed_until: Option<i64>,
    /// Whether it is closed because an attempt failed.
    pub(super) retrying: bool,
    pub(super) paused: bool,
    pub(super) reserved: Option<Reserved>,
    pub(super) windows: Vec<Window>,
    /// Whether a job was delayed since the group was last empty.
    pub(super) delayed: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Debug)]
pub(super) struct Failed {
    pub(super) seq: i64,
    pub(super) id: [u8; 24],
}

#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, Debug)]
pub(super) struct Block {
    pub(super) since: i64,
    pub(super) job: [u8; 24],
    pub(super) route: i64,
    pub(super) error: String,
}

/// Someone waits to hold the group.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Debug)]
pub(super) struct Reserved {
    pub(super) worker: [u8; 16],
    pub(super) until: i64,
}

/// An open dedup window.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Debug)]
pub(super) struct Window {
    pub(super) route: i64,
    /// The job that waits in it. A window without one is a throttle's: it is remembered for its time.
    pub(super) seq: Option<i64>,
    pub(super) until: i64,
    pub(super) throttled: bool,
}

/// What a settle needs to know of a job without reading it.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Debug)]
pub(super) struct LeasedJob {
    pub(super) seq: i64,
    pub(super) route: i64,
    /// Whether it holds a body in a blob store.
    pub(super) holds: bool,
    /// What it carries; `None` in a lease of the first format.
    pub(super) bytes: Option<i64>,
}

/// The jobs of a lease.
#[derive(Clone, PartialEq, Eq, Default, Serialize, Deserialize, Debug)]
pub(super) struct LeasedJobs(pub(super) Vec<LeasedJob>);

impl More {
    /// How often this job has failed.
    pub(super) fn failures_of(&self, seq: i64) -> u32 {
        match self.failed {
            Some(failed) if failed.seq != seq => 0,
            _ => self.failures,
        }
    }

    /// Starts the ladder, and all that goes with it, anew.
    pub(super) fn forgive(&mut self) {
        (self.failures, self.failed) = (0, None);
        (self.streak, self.deaths) = (0, 0);
    }

    /// Who waits to hold the group.
    pub(super) fn reserved_at(&self, now: i64) -> Option<Reserved> {
        self.reserved.filter(|reserved| reserved.until > now)
    }

    /// What is left of it when the last job is gone.
    pub(super) fn emptied(&mut self, now: i64) -> Self {
        let mut windows = std::mem::take(&mut self.windows);
        windows.retain(|window| window.throttled && window.until > now);
        for window in &mut windows {
            window.seq = None;
        }
        Self {
            windows,
            paused: self.paused,
            reserved: self.reserved_at(now),
            ..Self::default()
        }
    }
}

impl From<first::More> for More {
    fn from(first: first::More) -> Self {
        let windows = first.windows.into_iter().map(|window| Window {
            route: window.route,
            seq: Some(window.seq),
            until: window.until,
            throttled: false,
        });
        Self {
            failures: first.failures,
            streak: first.failures,
            need: first.need,
            blocked: first.blocked,
            retrying: first.failures > 0 && first.closed_until.is_some(),
            last_error: first.last_error,
            closed_until: first.closed_until,
            windows: windows.collect(),
            delayed: first.delayed,
            ..Self::default()
        }
    }
}

impl From<first::LeasedJobs> for LeasedJobs {
    fn from(first: first::LeasedJobs) -> Self {
        let jobs = first.0.into_iter().map(|job| LeasedJob {
            seq: job.seq,
            route: job.route,
            holds: job.holds,
            bytes: None,
        });
        Self(jobs.collect())
    }
}
