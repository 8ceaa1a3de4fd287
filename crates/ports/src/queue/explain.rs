//! Why a group or a job does not run.
use crate::{Fence, Fingerprint, GroupId, JobId, Route, Scope, WorkerId};
use foldwright_domain::Millis;
use std::fmt;

/// What a group is doing. Where several hold, the first in this order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum GroupState {
    /// Under a lease or a hold.
    Running,
    /// Quarantined.
    Blocked,
    /// In a paused scope, or its route is closed by the breaker.
    Paused,
    /// Its last attempt failed and the ladder's wait is not over.
    Retrying,
    /// Deferred by its last worker, its first job is delayed, or someone has reserved it and nobody has it yet.
    Scheduled,
    /// Due, but its tenant is at its cap.
    Parked,
    /// Due, but no live worker knows its first job's route, format or the version it needs.
    Stranded,
    /// Due: the next claim may hand it out.
    Due,
    /// It has no jobs.
    Empty,
}

/// One thing that keeps a group or a job from running now.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Reason {
    /// A pause covers it.
    Paused {
        /// Which.
        scope: Scope,
        /// Who paused it and why.
        reason: String,
        /// Since when.
        since: Millis,
    },
    /// Many groups of its route failed in the same way.
    Outage {
        /// The route.
        route: Route,
        /// Whether for all tenants or for its own.
        everyone: bool,
        /// What the failures have in common.
        fingerprint: Fingerprint,
        /// When it is tried again.
        until: Millis,
    },
    /// Its tenant has as many groups in flight as its cap allows.
    Capped {
        /// How many are in flight.
        in_flight: u64,
        /// The cap.
        cap: u32,
    },
    /// It is handed out.
    Leased {
        /// To whom.
        worker: WorkerId,
        /// Under which token.
        fence: Fence,
        /// Until when, unless it is extended. In the past: the lease has lapsed and waits for the next reap.
        until: Millis,
        /// Whether it is a hold, which runs no job.
        hold: bool,
    },
    /// Someone waits to hold it.
    Reserved {
        /// Who.
        worker: WorkerId,
        /// Until when.
        until: Millis,
    },
    /// It is quarantined.
    Blocked {
        /// The job at which it failed.
        job: JobId,
        /// What went wrong.
        error: String,
        /// Since when.
        since: Millis,
    },
    /// Its last attempt failed.
    Retrying {
        /// The job that failed.
        job: JobId,
        /// How often so far.
        failures: u32,
        /// What went wrong.
        error: String,
        /// When it is tried again.
        until: Millis,
    },
    /// Its last worker put it off.
    Deferred {
        /// Until when.
        until: Millis,
    },
    /// It is not its time yet.
    Delayed {
        /// When it is.
        until: Millis,
    },
    /// Its last worker met a newer row than it could read.
    Needs {
        /// The version that a worker must declare.
        version: u32,
    },
    /// No live worker knows its route at the needed version and format.
    Stranded {
        /// The route.
        route: Route,
    },
    /// Another job of the group comes first.
    Behind {
        /// Which.
        job: JobId,
        /// How many come first in all.
        jobs: u64,
    },
}

impl fmt::Display for Reason {
    /// One line for people; instants are milliseconds since 1970.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Paused { scope, reason, .. } => write!(f, "{scope} is paused: {reason}"),
            Self::Outage {
                route,
                everyone,
                until,
                ..
            } => {
                let whom = if *everyone { "everybody" } else { "its tenant" };
                write!(
                    f,
                    "{route} is closed for {whom} until {}, many groups failed alike",
                    until.0
                )
            }
            Self::Capped { in_flight, cap } => {
                write!(f, "its tenant has {in_flight} of {cap} groups in flight")
            }
            Self::Leased { until, hold, .. } => {
                let what = if *hold { "held" } else { "handed out" };
                write!(f, "it is {what} until {}", until.0)
            }
            Self::Reserved { until, .. } => write!(f, "it is reserved until {}", until.0),
            Self::Blocked { job, error, .. } => write!(f, "it is quarantined at job {job}: {error}"),
            Self::Retrying {
                failures,
                error,
                until,
                ..
            } => write!(
                f,
                "attempt {failures} failed, the next one comes at {}: {error}",
                until.0
            ),
            Self::Deferred { until } => write!(f, "it was put off until {}", until.0),
            Self::Delayed { until } => write!(f, "it is not due until {}", until.0),
            Self::Needs { version } => write!(
                f,
                "it waits for a worker with version {version} of its projection"
            ),
            Self::Stranded { route } => write!(f, "no live worker knows {route}"),
            Self::Behind { job, jobs } => write!(f, "{jobs} jobs come first, job {job} before all"),
        }
    }
}

/// What a group or job waits for: every reason that holds now, what must end first before what comes after it. No
/// reason: the next claim of a worker that knows it may hand it out.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Why {
    /// The group.
    pub group: GroupId,
    /// What it is doing.
    pub state: GroupState,
    /// What holds it.
    pub reasons: Vec<Reason>,
}
