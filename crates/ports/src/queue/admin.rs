//! The operator's side of the group queue.
use crate::{Cursor, GroupId, JobId, LeaseEnd, Limits, Page, Result, Route};
use async_trait::async_trait;
use bytes::Bytes;
use foldwright_domain::{Millis, TenantId};
use std::collections::BTreeMap;

/// The verbs with which a person looks into a queue and mends it.
///
/// # Contract
/// Looking changes nothing. A verb on something unknown answers that it is unknown (`None`, `false`, 0) and changes
/// nothing. Verbs may be repeated.
///
/// # Ordering, durability, cancellation, errors
/// As for [`GroupQueue`](crate::GroupQueue).
#[async_trait]
pub trait QueueAdmin: Send + Sync + 'static {
    /// How many jobs are in which state, by route. Equals what a count would find.
    async fn depth(&self) -> Result<BTreeMap<Route, Depth>>;

    /// One group as it stands; `None` for one that holds no job and no lease.
    async fn group(&self, group: &GroupId) -> Result<Option<GroupView>>;

    /// Blocked groups of one tenant, or of all, ordered by when they were blocked.
    async fn blocked(
        &self,
        tenant: Option<&TenantId>,
        from: Option<Cursor>,
        limits: Limits,
    ) -> Result<Page<BlockedGroup>>;

    /// Opens a blocked group: its jobs are due again in their order, with a fresh ladder. Answers whether it was
    /// blocked.
    async fn unblock(&self, group: &GroupId) -> Result<bool>;

    /// Discards waiting and blocked jobs of a group, in order, at most `limit`; a live lease and its jobs stay. Answers
    /// how many.
    async fn drain(&self, group: &GroupId, limit: usize) -> Result<usize>;

    /// Dead letters of one tenant, or of all, ordered by when they died.
    async fn dead_letters(
        &self,
        tenant: Option<&TenantId>,
        from: Option<Cursor>,
        limits: Limits,
    ) -> Result<Page<DeadLetter>>;

    /// Puts a dead letter back: the same id, its old place by score, a fresh ladder. Answers whether it was there.
    async fn requeue(&self, tenant: &TenantId, job: JobId) -> Result<bool>;

    /// Removes a dead letter for good. Answers whether it was there.
    async fn discard(&self, tenant: &TenantId, job: JobId) -> Result<bool>;
}

/// Jobs of one route by state.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Depth {
    /// Not handed out and not blocked: due, delayed, backing off or stranded.
    pub waiting: u64,
    /// Handed out under a lease that has neither been settled nor reaped.
    pub leased: u64,
    /// In a blocked group.
    pub blocked: u64,
    /// Dead letters.
    pub dead: u64,
}

/// A group as an operator sees it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct GroupView {
    /// Its jobs, in order, the first 100 of them.
    pub jobs: Vec<JobId>,
    /// How many jobs it has in all.
    pub depth: u64,
    /// Whether a lease is live or not reaped yet.
    pub leased: bool,
    /// Failed attempts at the first job.
    pub failures: u32,
    /// How its last lease ended.
    pub previous: LeaseEnd,
    /// The error it is blocked by.
    pub blocked_by: Option<String>,
    /// The error of its last failed attempt, while there was no success since.
    pub last_error: Option<String>,
    /// When it opens again, while it backs off or is deferred.
    pub closed_until: Option<Millis>,
}

/// A quarantined group.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BlockedGroup {
    /// Which group.
    pub group: GroupId,
    /// The job at which it failed.
    pub job: JobId,
    /// That job's route.
    pub route: Route,
    /// Failed attempts.
    pub failures: u32,
    /// What went wrong.
    pub error: String,
    /// Since when.
    pub since: Millis,
}

/// A job that was given up, kept until an operator decides.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DeadLetter {
    /// Which job.
    pub job: JobId,
    /// Its group.
    pub group: GroupId,
    /// Its route.
    pub route: Route,
    /// As it was staged.
    pub header: Bytes,
    /// What went wrong.
    pub error: String,
    /// Since when.
    pub since: Millis,
}
