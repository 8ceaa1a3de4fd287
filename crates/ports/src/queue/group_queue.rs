//! The group queue's contract.
use crate::{
    BlobRef, Capabilities, Error, GroupId, Hold, JobId, Lease, LeaseRef, NewJob, Nonce, QueueSettings,
    Result, Room, Settlement, Verdict, Want, WorkerId,
};
use async_trait::async_trait;
use bytes::Bytes;
use foldwright_domain::{Millis, TenantId};
use std::time::Duration;

/// Jobs in groups: within a group in order and one batch at a time, groups in parallel.
///
/// ```text
///            stage                    claim                     settle
///  job ──► waiting ──────────────────► leased ──────────────────► completed
///            │  ▲  delayed, stranded     │ lapse, back, defer       (+ the jobs that follow)
///            │  └────────────────────────┤
///            │                           ├─ retry ─► waiting, the group closed for a while
///            └─ merged: squashed         ├─ quarantine ─► blocked, until an operator opens the group
///                                        └─ dead-letter ─► dead, until an operator requeues it
/// ```
///
/// # Contract
/// 1. A group has at most one live lease. Its token is above every token given before.
/// 2. Within a group, jobs are handed out by `(score, stage sequence)` among those that are due; due followers pass
///    a delayed head. The score is the position's `occurred_at`, clamped.
/// 3. Every staged job is in exactly one state, and the counters equal what is counted.
/// 4. A group with a due job at its turn, without a lease, a hold, a reservation, a wait, a block or a pause, whose
///    route is open and whose tenant is below its cap, is claimable now by a worker that knows the job's route, format
///    and the group's need. A job that the worker does not know, or whose route is paused or closed, ends the batch:
///    order in the group holds.
/// 5. A completed job is never handed out again under a live token.
/// 6. A claimed job stays in the store until it is settled.
/// 7. A waiting job never expires.
/// 8. The next group that is handed out is of the tenant with the lowest [`Share`](crate::Share) of its groups in
///    flight (leases neither settled nor reaped, those of this call included; holds do not count); of equal shares,
///    with the lowest [`Pass`](crate::Pass); of equal passes, whose first group has been due the longest. A tenant at
///    its cap, or paused, is passed over. Within a tenant: the group whose first due job has been due the longest.
///    Fairness and caps hold per shard. The work of a claim does not grow with the groups that wait, are parked,
///    paused or stranded.
/// 9. A *wary* group (one whose lease lapsed under a worker that had fallen silent, with no success since) is handed out
///    alone: as the only lease of its claim. It ends a claim that has already handed out another one. Unblock and drain
///    leave it wary; a success ends that.
///    While its worker has another wary group in hand it is put off for [`WARY_WAIT`] instead, which ends the claim, so that of what a poison
///    group takes down with it nothing is in hand with it again.
///
/// # Staging
/// The same id already there (waiting, leased, blocked, dead): [`Staged::Known`], nothing is added; a waiting body
/// is replaced if asked, and only by a canonically later one, which changes neither place nor wait nor attempts. A
/// dedup job whose group has an open dedup window of its route over a job that waits, unblocked: [`Staged::Squashed`] into it;
/// its id, place and depth stay; `extend` moves window and `not_before`, `replace` takes what the canonically later one
/// carries, and of an earlier one its context where that is of the same thing (a late event still leads to a newer
/// state). Where that job was handed out or is blocked, the window is stale and the new job is
/// [`Staged::New`]. Staging into a group that is leased, backing off or blocked leaves the group as it is.
///
/// # Attempts
/// Counted at the job that failed: when another job of the group is the first and fails, its count starts from one.
/// Any job done starts it from zero, and so do unblock, drain, dead-letter and requeue.
/// [`Rest::Retry`](crate::Rest::Retry) raises the count and gives the job back in one step. Beside it the group keeps its
/// *streak*, all failed attempts since its last success, whatever job they were at; at
/// [`QueueSettings::streak`](crate::QueueSettings) the group is quarantined with an error that names the streak and the
/// last error, also where the ladder ends with the same attempt. Whatever starts the attempts from zero does so with streak and deaths.
///
/// # Poison
/// A worker is alive while its record ([`beat`](Self::beat)) runs. A reap that returns the lease of a worker whose record
/// has run out without a goodbye makes the group wary and notes the worker as silent since then. If it stays silent for
/// as long again as its record was meant to live, the next reap counts a *death* for each of those groups that has had no
/// success since; if it beats, or says goodbye, nothing is counted. So neither a clock that jumps nor a store that was
/// away for a while makes a death. At [`QueueSettings::deaths`](crate::QueueSettings) the group is quarantined unread,
/// with an error that gives the count: at once, or when the lease it is under by then ends without a success. A reap
/// confirms deaths before it returns leases, so what it finds lapsed is never a death at once. A record that has run out
/// is forgotten one more of its lives later, unless a lease or a suspicion still points to it.
///
/// # Outages
/// A failed attempt ([`Rest::Retry`](crate::Rest::Retry), [`Rest::Quarantine`](crate::Rest::Quarantine)) counts in the
/// [`Trouble`](crate::Trouble) of its tenant and route, by the [`Fingerprint`](crate::Fingerprint) of its error. While
/// that is closed, no job of the route is handed out for the tenant; when it is closed by one fingerprint for
/// [`BreakerSettings::tenants`](crate::BreakerSettings) tenants at a time, for nobody, until the last of them opens again.
///
/// # Full
/// [`Room::Sender`] is refused with [`Kind::Full`](crate::Kind::Full) and a wait, as [`QueueBounds`](crate::QueueBounds) says; nothing that
/// runs under a live lease is.
///
/// # Durability
/// What a call answered survives the death of the process. The jobs in a settlement's `then` are durable before its
/// outcome is.
///
/// # Idempotency
/// A mutating call repeated under its nonce answers as the first time and changes nothing: the same grants as far
/// as they are still live, the same verdicts. Nonces are kept for
/// [`QueueSettings::nonce_ttl`](crate::QueueSettings).
///
/// # Cancellation
/// Dropping a call leaves it undecided whether it took effect; repeat it under its nonce. [`wait`](Self::wait) may be
/// dropped freely.
///
/// # Errors
/// An error means that nothing of the call took effect, unless its kind says that the outcome is unknown. A foreign
/// or dead token is a verdict, not an error.
///
/// # How engines meet it
/// *SQLite, Postgres*: one transaction per call. *Redis*: one script per call and shard; `then` is staged first, in
/// the shards of its groups, before the outcome is written in the lease's shard; tokens come from one persistent
/// counter per shard, `TIME` is the clock; a promoted replica first waits out a lease.
#[async_trait]
pub trait GroupQueue: Send + Sync + 'static {
    /// What this adapter is, for people who look at what was wired: the Rust type unless it says otherwise.
    fn adapter(&self) -> &'static str {
        std::any::type_name::<Self>()
    }

    /// How many calls it serves at a time, where that is bounded (a pool of connections); `None` where callers never wait
    /// for each other's place. A kernel whose worker needs more does not start.
    fn connections(&self) -> Option<usize> {
        None
    }

    /// The settings it works with, for those that count by them: the default ones unless it says otherwise.
    fn settings(&self) -> QueueSettings {
        QueueSettings::default()
    }

    /// Stages jobs of any number of groups; answers in the order of the call. All or nothing.
    async fn stage(&self, nonce: Nonce, jobs: Vec<NewJob>, room: Room) -> Result<Vec<Staged>, StageRefused>;

    /// Hands out work of up to `want.max_groups` groups.
    async fn claim(&self, nonce: Nonce, worker: WorkerId, want: &Want) -> Result<Vec<Lease>>;

    /// Settles leases, each with the jobs that follow from it, and hands out the next work in the same round trip.
    /// A verdict for each settlement, in the order of the call; one that is refused or lost never fails the others.
    async fn settle(
        &self,
        nonce: Nonce,
        worker: WorkerId,
        settlements: Vec<Settlement>,
        next: Option<&Want>,
    ) -> Result<Settled>;

    /// Lets leases live for `lease` from now. `Applied`, or `Lost` for one that is settled, lapsed or not the live
    /// one; nothing else changes then.
    async fn extend(&self, leases: &[LeaseRef], lease: Duration) -> Result<Vec<Verdict>>;

    /// Returns leases past their deadline to where their jobs came from, at most `limit`; counts deaths that are confirmed
    /// by now; forgets nonces, answers and liveness records that are past their time.
    async fn reap(&self, limit: usize) -> Result<Reaped>;

    /// Waits until there may be something to claim for these capabilities, until `at_most` at the latest. A
    /// hint: it may return early, and a lost wake-up is covered by `at_most`.
    async fn wait(&self, capabilities: &Capabilities, at_most: Duration) -> Result<()>;

    /// The answer of a settled command, as long as it is kept.
    async fn answer(&self, tenant: &TenantId, job: JobId) -> Result<Option<Bytes>>;

    /// Leases groups by name, also such as have no job, are blocked or paused, so that nothing of them runs meanwhile. The
    /// groups are taken in their order ([`Ord`]), whatever the order of the call, up to the first that is not free: that
    /// one is reserved and those behind it wait, so that two holders never wait for each other. Groups that this worker
    /// already holds are granted again, under the same token. One answer for each group, in the order of the call.
    ///
    /// A group that another holder has reserved is answered [`Hold::Waiting`], and so is, where the call is repeated under
    /// its nonce, one whose grant has lapsed since.
    ///
    /// A reservation lasts for `lease`; while it stands, the group is handed out to nobody else. A hold is settled with
    /// [`Outcome::none`](crate::Outcome::none) and [`Rest::Back`](crate::Rest::Back), may be extended, and lapses like any
    /// lease; settled in any other way it is refused as [`Kind::Invalid`](crate::Kind::Invalid). It leaves attempts, streak, [`Lease::previous`](crate::Lease::previous) and
    /// [`Lease::completed`](crate::Lease::completed) as they were, and is not counted in flight.
    async fn hold(
        &self,
        nonce: Nonce,
        worker: WorkerId,
        groups: &[GroupId],
        lease: Duration,
    ) -> Result<Vec<Hold>>;

    /// Renews the worker's liveness record for `ttl` from now, and notes what it knows. Repeating it is harmless.
    async fn beat(&self, worker: WorkerId, capabilities: &Capabilities, ttl: Duration) -> Result<()>;

    /// Ends the worker's liveness record: it stops in good order, and what it may still hold lapses without being held
    /// against anything.
    async fn goodbye(&self, worker: WorkerId) -> Result<()>;

    /// Who holds these bodies: a hold is an unsettled job (waiting, leased, blocked or dead).
    async fn held(&self, blobs: &[BlobRef]) -> Result<Vec<Held>>;

    /// Forgets when these bodies were last released; for a sweep that has deleted them.
    async fn forget(&self, blobs: &[BlobRef]) -> Result<()>;
}

/// How long a wary group waits while its worker has another one in hand.
pub const WARY_WAIT: Duration = Duration::from_millis(20);

/// What became of a job that was to be staged.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Staged {
    /// It waits.
    New,
    /// Its id was there before.
    Known,
    /// It was merged into a waiting job.
    Squashed,
}

/// Nothing was staged; the jobs come back.
#[derive(Debug, thiserror::Error)]
#[error("{error}")]
pub struct StageRefused {
    /// The jobs, as they were handed over. Empty when the outcome is unknown and they went with the call.
    pub jobs: Vec<NewJob>,
    /// Why.
    #[source]
    pub error: Error,
}

/// What a settle answers.
#[derive(Debug)]
pub struct Settled {
    /// One for each settlement.
    pub verdicts: Vec<Verdict>,
    /// How many jobs that follow were merged into jobs that waited. A call that comes again under its nonce answers the
    /// first count.
    pub squashed: usize,
    /// The next work, if it was asked for.
    pub next: Vec<Lease>,
}

/// What a reap did.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Reaped {
    /// How many leases had lapsed.
    pub lapsed: usize,
    /// How many deaths were confirmed, over all groups.
    pub deaths: usize,
    /// How many groups were quarantined for them.
    pub poisoned: usize,
}

/// Who holds a body.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Held {
    /// At least one unsettled job.
    Yes,
    /// None any more, since this instant.
    Released(Millis),
    /// None, as far as is known.
    Never,
}
