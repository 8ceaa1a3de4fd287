//! Runs the jobs of one fold.
use super::{
    Applied, KeyRule, Ledger, Membership,
    progress::{Panicked, Progress},
    refold::{RefoldError, Replaced, refold},
};
use crate::{
    context::Context,
    handlers::{Failure, Incoming, Job, RouteHandler, SharedState, read_events, settlement, stage_pending, subscriber_jobs},
    subscriber::{Decides, Decisions, PendingJob},
    wire::{WireError, decode_event},
};
use async_trait::async_trait;
use foldwright_domain::{Fold, Identity, Millis, Position};
use foldwright_ports::{
    FoldRow, Lease, LeaseEnd, Outcome, Rest, Revision, Settlement, StateKey, StateTable, Stored,
};
use std::{collections::BTreeSet, sync::Arc};

/// One fold with its table, its key rule and its subscribers.
pub(crate) struct FoldHandler<F: Fold> {
    pub(crate) table: Arc<dyn StateTable<F::State>>,
    pub(crate) rule: Arc<dyn KeyRule<F>>,
    pub(crate) subscribers: Vec<Arc<dyn Decides<F::On, F::State>>>,
}

/// A row as it was loaded, `None` where nothing was ever folded.
type Loaded<S> = Option<FoldRow<Option<S>>>;

/// What a batch led to.
enum Folded<S> {
    /// Every event was in already.
    Nothing,
    /// A new row, to be stored before anything follows from it.
    Row(Box<FoldRow<S>>, Vec<PendingJob>),
}

/// A lease that waits for its row to be stored.
struct Waiting<S> {
    lease: Lease,
    done: usize,
    rest: Rest,
    row: FoldRow<S>,
    pending: Vec<PendingJob>,
}

#[async_trait]
impl<F: Fold> RouteHandler for FoldHandler<F> {
    async fn run(&self, leases: Vec<Lease>, ctx: &Context) -> Vec<Settlement> {
        let keys: Vec<StateKey> = leases.iter().map(|lease| self.state_key(lease)).collect();
        let loaded = match self.table.load(&keys).await {
            Ok(rows) => rows,
            Err(error) => {
                let failure = Failure::from(error);
                return leases.into_iter().map(|l| settlement(&l, 0, failure.rest())).collect();
            }
        };
        let (mut settled, mut waiting) = (Vec::new(), Vec::new());
        for ((lease, key), row) in leases.into_iter().zip(keys).zip(loaded) {
            match self.fold(lease, key, row, ctx).await {
                Ok(one) => waiting.push(one),
                Err(one) => settled.push(one),
            }
        }
        settled.extend(self.store(waiting, ctx).await);
        settled
    }
}

impl<F: Fold> FoldHandler<F> {
    fn state_key(&self, lease: &Lease) -> StateKey {
        StateKey {
            tenant: lease.group.tenant.clone(),
            projection: F::NAME.into(),
            key: self.rule.state_key(&lease.group.key).into(),
        }
    }

    /// Folds one lease's batch in memory: a row to store, or a settlement when there is none.
    async fn fold(
        &self,
        lease: Lease,
        key: StateKey,
        loaded: Loaded<F::State>,
        ctx: &Context,
    ) -> Result<Waiting<F::State>, Settlement> {
        if let Some(release) = loaded.as_ref().and_then(|row| must_release::<F>(&lease, row)) {
            ctx.counters.released.add(1);
            return Err(settlement(&lease, 0, release));
        }
        let Incoming { mut jobs, failure } = read_events::<F::On>(&lease, ctx).await;
        let mut rest = failure.map_or(Rest::Back, |f| f.rest());
        if let Some(strange) = jobs.iter().find(|job| !self.rule.holds(&key, &job.event)) {
            rest = keyless(strange).rest();
            let ahead = strange.index;
            jobs.truncate(ahead);
        }
        if jobs.is_empty() {
            return Err(settlement(&lease, 0, rest));
        }
        if let Err(failure) = self.stage_left_over(&lease, loaded.as_ref(), ctx).await {
            return Err(settlement(&lease, 0, failure.rest()));
        }
        let folded = loop {
            match self.attempt(&lease, &key, loaded.as_ref(), &jobs, ctx).await {
                Ok(folded) => break folded,
                // Those ahead of the event at which `apply` panics still count.
                Err(Attempt::Panicked { job, message }) => {
                    rest = Rest::Quarantine { error: format!("`apply` panicked: {message}") };
                    jobs.truncate(job);
                    if jobs.is_empty() {
                        return Err(settlement(&lease, 0, rest));
                    }
                }
                Err(Attempt::Failed(failure)) => return Err(settlement(&lease, 0, failure.rest())),
            }
        };
        let done = jobs.len();
        match folded {
            Folded::Nothing => Err(settlement(&lease, done, rest)),
            Folded::Row(row, pending) => Ok(Waiting { lease, done, rest, row: *row, pending }),
        }
    }

    /// Unless the lease that wrote the row was completed, what its write decided may never have been staged.
    async fn stage_left_over(
        &self,
        lease: &Lease,
        row: Option<&FoldRow<Option<F::State>>>,
        ctx: &Context,
    ) -> Result<(), Failure> {
        let Some(row) = row.filter(|row| !is_staged(lease, row.revision)) else { return Ok(()) };
        // Without a readable state there is nothing to run them with; `attempt` carries them over then.
        let (Some(state), Ok(ledger)) = (&row.state, Ledger::decode(&row.ledger)) else { return Ok(()) };
        if ledger.pending.is_empty() || row.fold_version != F::VERSION {
            return Ok(());
        }
        let state = shared::<F, _>(&row.key.key, state)?;
        stage_pending(&lease.group.tenant, &ledger.pending, &state, ctx).await
    }

    /// Applies a batch to the loaded row, or refolds.
    async fn attempt(
        &self,
        lease: &Lease,
        key: &StateKey,
        loaded: Option<&FoldRow<Option<F::State>>>,
        jobs: &[Job<F::On>],
        ctx: &Context,
    ) -> Result<Folded<F::State>, Attempt> {
        let ledger = loaded.map(|row| Ledger::decode(&row.ledger));
        let (ledger, ledger_is_lost) = match ledger {
            None => (Ledger::default(), false),
            Some(Ok(ledger)) => (ledger, false),
            // A newer build noted more than this one could write back: the row is not this build's to replace.
            Some(Err(newer @ WireError::Newer { .. })) => return Err(Attempt::Failed(newer.into())),
            Some(Err(_)) => (Ledger::default(), true),
        };
        let batch = Batch::sort(jobs, &ledger);
        let stale = ledger_is_lost
            || loaded.is_some_and(|row| row.state.is_none() || row.fold_version != F::VERSION);
        if !stale && batch.unsure.is_empty() && batch.fresh.is_empty() && batch.undecided.is_empty() {
            return Ok(Folded::Nothing);
        }
        let mut decisions = Decisions::new(&self.subscribers, &key.key);
        let late = is_canonical::<F>()
            && batch.fresh.first().is_some_and(|first| {
                loaded.and_then(|row| row.last_applied).is_some_and(|last| first.event.meta.position() < last)
            });
        let progress = if stale || late || !batch.unsure.is_empty() {
            let events = loaded.map_or(0, |row| row.events);
            let _admission = self.admit(&key.tenant, events, jobs.len(), ctx)?;
            ctx.counters.refolds.add(1);
            let replaced = Replaced {
                applied: (!ledger_is_lost).then_some(&ledger.applied),
                events: if ledger_is_lost { 0 } else { events },
                other_version: loaded.is_some_and(|row| row.fold_version != F::VERSION),
                batch: &batch.identities(),
            };
            refold(&*self.rule, &*ctx.ports.log, key, &replaced, &mut decisions).await?
        } else {
            self.apply(loaded, &ledger.applied, &batch.fresh, &mut decisions)?
        };
        for job in &batch.undecided {
            decisions.decide(&job.event, &progress.state, || job.stored.clone());
        }
        if stale && loaded.is_some_and(|row| !is_staged(lease, row.revision)) {
            decisions.carry(positions(ledger.pending)?);
        }
        let settled: BTreeSet<Identity> = batch.undecided.iter().map(|job| job.event.meta.identity).collect();
        let undecided = ledger.undecided.into_iter().filter(|id| !settled.contains(id)).collect();
        Ok(self.row(lease, key, loaded, progress, decisions.into_pending(), undecided, ctx.ports.clock.now()))
    }

    fn admit(
        &self,
        tenant: &foldwright_domain::TenantId,
        events: u64,
        batch: usize,
        ctx: &Context,
    ) -> Result<super::budget::Admission, Attempt> {
        let estimate = events.saturating_add(batch as u64);
        ctx.refolds.admit(tenant, estimate, ctx.ports.clock.now()).map_err(|after| {
            ctx.counters.deferred.add(1);
            Attempt::Failed(Failure::defer(after))
        })
    }

    fn apply(
        &self,
        loaded: Option<&FoldRow<Option<F::State>>>,
        applied: &Applied,
        fresh: &[&Job<F::On>],
        decisions: &mut Decisions<'_, F::On, F::State>,
    ) -> Result<Progress<F::State>, Attempt> {
        let mut progress = match loaded.and_then(|row| row.state.clone().map(|state| (row, state))) {
            Some((row, state)) => Progress {
                state,
                events: row.events,
                last_applied: row.last_applied,
                applied: applied.clone(),
            },
            None => Progress::init::<F>()
                .map_err(|Panicked { message }| Attempt::Panicked { job: 0, message })?,
        };
        for job in fresh {
            progress = progress
                .step::<F>(&job.event)
                .map_err(|Panicked { message }| Attempt::Panicked { job: job.index, message })?;
            decisions.decide(&job.event, &progress.state, || job.stored.clone());
        }
        Ok(progress)
    }

    #[expect(clippy::too_many_arguments, reason = "the parts of one row")]
    fn row(
        &self,
        lease: &Lease,
        key: &StateKey,
        loaded: Option<&FoldRow<Option<F::State>>>,
        progress: Progress<F::State>,
        pending: Vec<PendingJob>,
        undecided: Vec<Identity>,
        now: Millis,
    ) -> Folded<F::State> {
        let ledger = Ledger { applied: progress.applied, pending: pending.clone(), undecided };
        let row = FoldRow {
            key: key.clone(),
            state: progress.state,
            fold_version: F::VERSION,
            revision: Revision { fence: lease.fence, write: 1 },
            events: progress.events,
            last_applied: progress.last_applied,
            created_at: loaded.map_or(now, |row| row.created_at),
            updated_at: loaded.map_or(now, |row| now.max(Millis(row.updated_at.0.saturating_add(1)))),
            ledger: ledger.encode(),
        };
        Folded::Row(Box::new(row), pending)
    }

    /// Stores the rows of many leases in one call; what follows from a row goes out only with its settlement.
    async fn store(&self, waiting: Vec<Waiting<F::State>>, ctx: &Context) -> Vec<Settlement> {
        if waiting.is_empty() {
            return Vec::new();
        }
        let mut rows = Vec::with_capacity(waiting.len());
        let mut left = Vec::with_capacity(waiting.len());
        for Waiting { lease, done, rest, row, pending } in waiting {
            let state = if pending.is_empty() { Ok(None) } else { shared::<F, _>(&row.key.key, &row.state).map(Some) };
            rows.push(row);
            left.push((lease, done, rest, pending, state));
        }
        let stored = self.table.store(rows).await;
        let mut settlements = Vec::with_capacity(left.len());
        for ((lease, done, rest, pending, state), stored) in left.into_iter().zip(stored) {
            let follow = match (stored, state) {
                (Ok(Stored::Yes), Ok(None)) => Ok(Vec::new()),
                (Ok(Stored::Yes), Ok(Some(state))) => {
                    subscriber_jobs(&lease.group.tenant, &pending, &state, ctx).await
                }
                (Ok(Stored::Superseded { by }), _) => {
                    ctx.counters.superseded.add(1);
                    let rest = Rest::Release { floor: Some(by.fence), need: None };
                    settlements.push(settlement(&lease, 0, rest));
                    continue;
                }
                (Err(error), _) => Err(Failure::from(error)),
                (_, Err(failure)) => Err(failure),
            };
            settlements.push(match follow {
                Ok(then) => Settlement {
                    lease: lease.reference(),
                    outcome: Outcome { done, rest },
                    answers: Vec::new(),
                    then,
                },
                Err(failure) => settlement(&lease, 0, failure.rest()),
            });
        }
        settlements
    }
}

/// A batch sorted into what it means for the row.
struct Batch<'a, E> {
    /// Surely not in; in canonical order, each once.
    fresh: Vec<&'a Job<E>>,
    /// Only the log can tell.
    unsure: BTreeSet<Identity>,
    /// In through a replay, their subscribers not asked yet.
    undecided: Vec<&'a Job<E>>,
}

impl<'a, E> Batch<'a, E> {
    /// The events that are not surely in.
    fn identities(&self) -> BTreeSet<Identity> {
        self.fresh.iter().map(|job| job.event.meta.identity).chain(self.unsure.iter().copied()).collect()
    }

    fn sort(jobs: &'a [Job<E>], ledger: &Ledger) -> Self {
        let applied = ledger.applied.index();
        let mut batch = Self { fresh: Vec::new(), unsure: BTreeSet::new(), undecided: Vec::new() };
        let mut seen = BTreeSet::new();
        for job in jobs {
            let identity = job.event.meta.identity;
            if !seen.insert(identity) {
                continue;
            }
            match applied.contains(&identity) {
                Membership::No => batch.fresh.push(job),
                Membership::Unsure => {
                    batch.unsure.insert(identity);
                }
                Membership::Yes if ledger.undecided.contains(&identity) => batch.undecided.push(job),
                Membership::Yes => {}
            }
        }
        batch.fresh.sort_by_key(|job| -> Position { job.event.meta.position() });
        batch
    }
}

/// Why a batch gave no row.
enum Attempt {
    /// At this job of the batch.
    Panicked { job: usize, message: String },
    Failed(Failure),
}

impl From<RefoldError> for Attempt {
    fn from(error: RefoldError) -> Self {
        Self::Failed(match error {
            RefoldError::Log(error) => error.into(),
            RefoldError::Panicked { .. } | RefoldError::Init { .. } => Failure::quarantine(error.to_string()),
            RefoldError::Decode(_) | RefoldError::Forgets { .. } => Failure::retry(error.to_string()),
        })
    }
}

/// The event has no key, or its key has changed since its job was made: in this group it would be counted wrongly.
fn keyless<E>(job: &Job<E>) -> Failure {
    Failure::retry(format!(
        "event {} has another key than its group, or none: repair `key`, drain the group, then refold the key",
        job.event.meta.id
    ))
}

/// A row of a newer fold version is never overwritten, and a token not above the row's never writes.
fn must_release<F: Fold>(lease: &Lease, row: &FoldRow<Option<F::State>>) -> Option<Rest> {
    if row.fold_version > F::VERSION {
        return Some(Rest::Release { floor: None, need: Some(row.fold_version) });
    }
    (lease.fence <= row.revision.fence)
        .then_some(Rest::Release { floor: Some(row.revision.fence), need: None })
}

/// Whether the subscriber jobs that a write decided were staged: the settlement that completed its lease, or a later
/// one, carried them. A group that was forgotten had completed everything.
fn is_staged(lease: &Lease, written: Revision) -> bool {
    lease.previous == LeaseEnd::None || lease.completed.is_some_and(|fence| fence >= written.fence)
}

/// Decided jobs with the places of their events.
fn positions(pending: Vec<PendingJob>) -> Result<Vec<(Position, PendingJob)>, Attempt> {
    pending
        .into_iter()
        .map(|job| match decode_event(&job.event) {
            Ok(event) => Ok((event.meta.position(), job)),
            Err(error) => Err(Attempt::Failed(error.into())),
        })
        .collect()
}

/// The state of a row as its subscribers see it.
fn shared<F: Fold, S: serde::Serialize>(key: &str, state: &S) -> Result<SharedState, Failure> {
    SharedState::new(F::NAME, key, state)
}

const fn is_canonical<F: Fold>() -> bool {
    <F::Order as foldwright_domain::OrderKind>::CANONICAL
}
