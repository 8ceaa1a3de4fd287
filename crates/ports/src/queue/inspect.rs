//! Looking at many groups, and acting on them.
use crate::{Cursor, Fingerprint, GroupId, GroupState, JobId, Route};
use bytes::Bytes;
use foldwright_domain::{Millis, TenantId};

/// Which groups. `None` selects everything.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct GroupFilter {
    /// Of this tenant.
    pub tenant: Option<TenantId>,
    /// Whose first job has this route.
    pub route: Option<Route>,
    /// In this state.
    pub state: Option<GroupState>,
    /// Whose last error has this fingerprint.
    pub error: Option<Fingerprint>,
}

/// A group in a list.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct GroupLine {
    /// Which.
    pub group: GroupId,
    /// What it is doing.
    pub state: GroupState,
    /// The route of its first job.
    pub route: Route,
    /// How many jobs it has.
    pub jobs: u64,
    /// The stored bytes they carry.
    pub bytes: u64,
    /// Failed attempts at the job that failed last.
    pub failures: u32,
    /// The error of its last failed attempt, while there was no success since.
    pub error: Option<String>,
    /// Since when it is blocked; else when it can run next, as far as time decides that.
    pub at: Option<Millis>,
}

/// What is done to many groups.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verb {
    /// As [`QueueAdmin::unblock`](crate::QueueAdmin::unblock).
    Unblock,
    /// As [`QueueAdmin::drain`](crate::QueueAdmin::drain), all of a group.
    Drain,
    /// As [`QueueAdmin::bury`](crate::QueueAdmin::bury), all of a group.
    Bury,
}

/// What a page of a bulk verb did, or would do.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Swept {
    /// Groups that it touched.
    pub groups: u64,
    /// Jobs that it touched: put back, discarded or given up.
    pub jobs: u64,
    /// Where to go on; `None` is the end.
    pub next: Option<Cursor>,
}

/// A job as an operator sees it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct JobView {
    /// Its identity.
    pub id: JobId,
    /// Its group.
    pub group: GroupId,
    /// Its route.
    pub route: Route,
    /// Where it is.
    pub state: JobState,
    /// Its place in line.
    pub score: Millis,
    /// When it was staged first.
    pub staged_at: Millis,
    /// When it may run at the earliest.
    pub not_before: Millis,
    /// As it was staged.
    pub header: Bytes,
    /// The stored bytes it carries.
    pub bytes: u64,
}

/// Where a job is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum JobState {
    /// It waits.
    Waiting,
    /// It is handed out.
    Leased,
    /// Its group is blocked.
    Blocked,
    /// It is a dead letter.
    Dead,
}
