//! From a loaded row and a batch to the next row, in memory.
use super::{Failure, FoldHandler, fold::is_staged};
use crate::{
    catch::caught,
    context::Context,
    fold::{
        Admission, Applied, Batch, Job, Ledger, OpenWindow, Panicked, PanickedAt, Progress, RefoldError,
        Replaced, Windowed, kept, refold,
    },
    subscriber::{Decisions, Pending, PendingJob},
    wire::{WireError, decode_event},
};
use foldwright_domain::{Fold, Identity, Millis, OrderKind, Position, TenantId};
use foldwright_ports::{FoldRow, Lease, Revision, StateKey};
use std::collections::BTreeSet;

/// What a batch led to.
pub(super) enum Folded<S> {
    /// Every event was in already.
    Nothing,
    /// A new row, to be stored before anything follows from it.
    Row(Box<FoldRow<S>>, Pending),
}

/// Why a batch gave no row.
pub(super) enum Attempt {
    /// At this job of the batch.
    Panicked {
        job: usize,
        message: String,
    },
    Failed(Failure),
}

impl From<RefoldError> for Attempt {
    fn from(error: RefoldError) -> Self {
        Self::Failed(error.into())
    }
}

impl<F: Fold> FoldHandler<F> {
    /// Applies a batch to the loaded row, or refolds. With `own` the row was written under this lease, for jobs ahead of
    /// these: what it decided is decided by the next write too, because none of it was staged yet.
    pub(super) async fn attempt(
        &self,
        lease: &Lease,
        key: &StateKey,
        loaded: Option<&FoldRow<Option<F::State>>>,
        own: bool,
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
        let stale =
            ledger_is_lost || loaded.is_some_and(|row| row.state.is_none() || row.fold_version != F::VERSION);
        if !stale && batch.is_known() {
            return Ok(Folded::Nothing);
        }
        let mut decisions = Decisions::new(&self.subscribers, &key.key);
        let late = is_canonical::<F>() && batch.is_late(loaded.and_then(|row| row.last_applied));
        let within = if stale || !batch.unsure.is_empty() {
            None
        } else {
            self.within_window(loaded, &ledger, &batch.fresh, late, &mut decisions)?
        };
        let (progress, window) = if let Some((progress, window)) = within {
            ctx.counters.reordered.add(u64::from(late));
            (progress, Some(window))
        } else if stale || late || !batch.unsure.is_empty() {
            let events = loaded.map_or(0, |row| row.events);
            let estimate = events.saturating_add(jobs.len() as u64);
            let _admission = self.admit(&key.tenant, estimate, ctx)?;
            ctx.counters.refolds.add(1);
            let replaced = Replaced {
                applied: (!ledger_is_lost).then_some(&ledger.applied),
                events: if ledger_is_lost { 0 } else { events },
                other_version: loaded.is_some_and(|row| row.fold_version != F::VERSION),
                batch: &batch.identities(),
            };
            let mut read = 0;
            let folded = refold(&*self.rule, &ctx.ports, key, &replaced, &mut decisions, &mut read).await;
            let beyond = read.saturating_sub(estimate);
            ctx.refolds.charge(&key.tenant, beyond, ctx.ports.clock.now());
            let progress = folded?;
            let window = if kept::<F>() == 0 {
                None
            } else {
                OpenWindow::<F>::behind(&progress).and_then(|window| window.close())
            };
            (progress, window)
        } else {
            (
                self.apply(loaded, &ledger.applied, &batch.fresh, &mut decisions)?,
                None,
            )
        };
        for job in &batch.undecided {
            decisions.decide(&job.event, &progress.state, || job.stored.clone());
        }
        if own || stale && loaded.is_some_and(|row| !is_staged(lease, row.revision)) {
            decisions.carry(positions(ledger.pending)?);
        }
        let settled: BTreeSet<Identity> = batch
            .undecided
            .iter()
            .map(|job| job.event.meta.identity)
            .collect();
        let undecided = ledger
            .undecided
            .into_iter()
            .filter(|id| !settled.contains(id))
            .collect();
        let pending = decisions.into_pending();
        let ledger = Ledger {
            applied: progress.applied,
            pending: pending.to_vec(),
            undecided,
            window,
        };
        let now = ctx.ports.clock.now();
        let row = FoldRow {
            key: key.clone(),
            state: progress.state,
            fold_version: F::VERSION,
            revision: Revision {
                fence: lease.fence,
                write: match loaded {
                    Some(row) if own => row.revision.write.saturating_add(1),
                    _ => 1,
                },
            },
            events: progress.events,
            last_applied: progress.last_applied,
            created_at: loaded.map_or(now, |row| row.created_at),
            updated_at: loaded.map_or(now, |row| now.max(Millis(row.updated_at.0.saturating_add(1)))),
            ledger: ledger.encode(),
        };
        Ok(Folded::Row(Box::new(row), pending))
    }

    fn admit(&self, tenant: &TenantId, estimate: u64, ctx: &Context) -> Result<Admission, Attempt> {
        ctx.refolds
            .admit(tenant, estimate, ctx.ports.clock.now())
            .map_err(|after| {
                ctx.counters.deferred.add(1);
                Attempt::Failed(Failure::defer(after))
            })
    }

    /// Folds events into a fold that keeps its newest ones, in whatever order they come; `None` where it keeps none, or one
    /// comes from before them.
    fn within_window(
        &self,
        loaded: Option<&FoldRow<Option<F::State>>>,
        ledger: &Ledger,
        fresh: &[&Job<F::On>],
        late: bool,
        decisions: &mut Decisions<'_, F::On, F::State>,
    ) -> Result<Option<Windowed<F::State>>, Attempt> {
        if kept::<F>() == 0 {
            return Ok(None);
        }
        let Some(first) = fresh.first().map(|job| job.event.meta.position()) else {
            // Nothing changes but who was asked.
            let progress = begin::<F>(loaded, &ledger.applied)?;
            return Ok(ledger.window.clone().map(|window| (progress, window)));
        };
        let progress = begin::<F>(loaded, &ledger.applied)?;
        let window = match ledger.window.as_ref().and_then(|window| window.open::<F>(first)) {
            Some(window) => Some(window),
            None if late => None,
            None => OpenWindow::behind(&progress),
        };
        match window {
            Some(window) => window
                .fold(progress, fresh, late, decisions)
                .map_err(|PanickedAt { job, message }| Attempt::Panicked { job, message }),
            None => Ok(None),
        }
    }

    fn apply(
        &self,
        loaded: Option<&FoldRow<Option<F::State>>>,
        applied: &Applied,
        fresh: &[&Job<F::On>],
        decisions: &mut Decisions<'_, F::On, F::State>,
    ) -> Result<Progress<F::State>, Attempt> {
        let mut progress = begin::<F>(loaded, applied)?;
        for job in fresh {
            progress = progress
                .step::<F>(&job.event)
                .map_err(|Panicked { message }| Attempt::Panicked {
                    job: job.index,
                    message,
                })?;
            decisions.decide(&job.event, &progress.state, || job.stored.clone());
        }
        Ok(progress)
    }
}

/// The state before a batch.
fn begin<F: Fold>(
    loaded: Option<&FoldRow<Option<F::State>>>,
    applied: &Applied,
) -> Result<Progress<F::State>, Attempt> {
    let first = |message| Attempt::Panicked { job: 0, message };
    match loaded.and_then(|row| Some((row, row.state.as_ref()?))) {
        Some((row, state)) => Ok(Progress {
            state: caught(|| state.clone()).map_err(first)?,
            events: row.events,
            last_applied: row.last_applied,
            applied: applied.clone(),
        }),
        None => Progress::init::<F>().map_err(|Panicked { message }| first(message)),
    }
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

const fn is_canonical<F: Fold>() -> bool {
    <F::Order as OrderKind>::CANONICAL
}
