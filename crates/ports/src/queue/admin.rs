//! The operator's side of the group queue.
use crate::{
    Checked, Cursor, Drift, GroupFilter, GroupId, GroupLine, JobId, JobView, LeaseEnd, Limits, Page, Pause,
    Result, Route, Scope, Swept, TenantLimits, TenantView, Verb, Why, WorkerView,
};
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

    /// Opens a blocked group: its jobs are due again in their order, with a fresh ladder. A wary group stays wary. Answers
    /// whether it was blocked.
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

    /// Moves waiting and blocked jobs of a group to the dead letters, in order, at most `limit`; a live lease and its jobs
    /// stay. Answers how many.
    async fn bury(&self, group: &GroupId, reason: &str, limit: usize) -> Result<usize>;

    /// Pauses a scope: nothing in it is handed out any more; what is in flight finishes. Answers whether it was not
    /// paused before; the first reason stays.
    async fn pause(&self, scope: &Scope, reason: &str) -> Result<bool>;

    /// Ends the pause of exactly this scope; what another pause covers stays paused. Answers whether it was paused.
    async fn resume(&self, scope: &Scope) -> Result<bool>;

    /// Every pause, by scope.
    async fn pauses(&self) -> Result<Vec<Pause>>;

    /// Sets a tenant's limits; `None` gives it the default again. Takes effect with the next claim and the next staging.
    ///
    /// # Errors
    /// [`Kind::Invalid`](crate::Kind::Invalid) for limits with a fault.
    async fn limit(&self, tenant: &TenantId, limits: Option<TenantLimits>) -> Result<()>;

    /// A tenant as the queue sees it; one that it has never seen has nothing.
    async fn tenant(&self, tenant: &TenantId) -> Result<TenantView>;

    /// Tenants that have jobs, groups in flight or limits of their own, ordered by name.
    async fn tenants(&self, from: Option<Cursor>, limits: Limits) -> Result<Page<TenantView>>;

    /// Why a group does not run; `None` for one that holds no job, no lease and no reservation.
    async fn why(&self, group: &GroupId) -> Result<Option<Why>>;

    /// Why a job does not run: what holds its group, and what comes before it. `None` for a job that is not there; a
    /// dead letter has a group but no reason, and its group's state.
    async fn why_job(&self, tenant: &TenantId, job: JobId) -> Result<Option<Why>>;

    /// Groups with at least one job, in an order that does not change. A page may be short, or empty, although more
    /// follows.
    async fn groups(
        &self,
        filter: &GroupFilter,
        from: Option<Cursor>,
        limits: Limits,
    ) -> Result<Page<GroupLine>>;

    /// The jobs of a group, in order.
    async fn jobs(&self, group: &GroupId, from: Option<Cursor>, limits: Limits) -> Result<Page<JobView>>;

    /// One job; `None` if it is not there.
    async fn job(&self, tenant: &TenantId, job: JobId) -> Result<Option<JobView>>;

    /// Does `verb` to a page of the groups that a filter selects: at most `groups` of them are looked at. With `dry_run`
    /// it only says what it would do. Ask again with [`Swept::next`] until that is `None`.
    async fn sweep(
        &self,
        verb: Verb,
        filter: &GroupFilter,
        dry_run: bool,
        from: Option<Cursor>,
        groups: usize,
    ) -> Result<Swept>;

    /// Puts back a page of the dead letters of one tenant, or of all, the oldest first: at most `letters` of them. Those
    /// put back are gone from the list, so that asking again goes on.
    async fn requeue_all(&self, tenant: Option<&TenantId>, letters: usize) -> Result<Swept>;

    /// Workers with a liveness record, by id.
    async fn workers(&self) -> Result<Vec<WorkerView>>;

    /// Proves the invariants on a page of groups, at most `groups` of them, beside live work, and puts right what is
    /// provably stray.
    async fn check(&self, from: Option<Cursor>, groups: usize) -> Result<Checked>;

    /// Counts what the figures claim to count, puts right those that differ, and answers them. Reads everything, beside
    /// live work and without holding it up.
    async fn recount(&self) -> Result<Vec<Drift>>;
}

/// Jobs of one route by state.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Depth {
    /// Not handed out and not blocked: due, delayed, backing off, parked, paused or stranded.
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
    /// Failed attempts at the job that is handed out, or is handed out next: 0 where another one failed last.
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
