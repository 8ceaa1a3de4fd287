//! What is held against a group.
use foldwright_ports::{JobId, WorkerId};

/// Failures and deaths since a group's last success, or since an operator gave it a fresh start.
#[derive(Default)]
pub(super) struct Health {
    /// The job that failed last, and how often it failed in a row.
    failed: Option<(JobId, u32)>,
    /// Failed attempts, whatever job they were at.
    pub(super) streak: u32,
    /// Confirmed deaths of its workers.
    pub(super) deaths: u32,
    /// Silent workers under which its lease lapsed and whose death is not confirmed yet.
    pub(super) suspects: Vec<WorkerId>,
    /// A lease of it lapsed under a silent worker, and there was no success since.
    pub(super) wary: bool,
    pub(super) last_error: Option<String>,
}

impl Health {
    /// Counts a failed attempt at a job.
    pub(super) fn fail(&mut self, job: JobId) -> u32 {
        let failures = self.failures_at(job).saturating_add(1);
        self.failed = Some((job, failures));
        self.streak = self.streak.saturating_add(1);
        failures
    }

    /// Failed attempts at a job in a row.
    pub(super) fn failures_at(&self, job: JobId) -> u32 {
        self.failed
            .filter(|(failed, _)| *failed == job)
            .map_or(0, |(_, failures)| failures)
    }

    /// The job that failed last, and how often.
    pub(super) fn failed(&self) -> Option<(JobId, u32)> {
        self.failed
    }

    /// Failed attempts at the job that failed last.
    pub(super) fn failures(&self) -> u32 {
        self.failed.map_or(0, |(_, failures)| failures)
    }

    /// A fresh start. What made the group wary is not undone by it, and its last error stays to be read.
    pub(super) fn start_from_zero(&mut self) {
        self.failed = None;
        self.streak = 0;
        self.deaths = 0;
        self.suspects = Vec::new();
    }

    /// A job was done.
    pub(super) fn succeed(&mut self) {
        self.start_from_zero();
        self.wary = false;
        self.last_error = None;
    }
}
