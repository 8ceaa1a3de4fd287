//! Runs the jobs of one fold.
use super::{
    Failure, Handled, Incoming, RouteHandler, SharedState,
    fold_attempt::{Attempt, Folded},
    load_rows::{Loaded, load_rows},
    read_events, settlement, stage_pending, subscriber_jobs,
};
use crate::{
    context::Context,
    fold::{Job, KeyRule, Ledger},
    subscriber::{Decides, Pending},
};
use async_trait::async_trait;
use foldwright_domain::Fold;
use foldwright_ports::{
    FoldRow, Lease, LeaseEnd, NewJob, Rest, Revision, Settlement, StateKey, StateTable, Stored,
};
use std::sync::Arc;

/// One fold with its table, its key rule and its subscribers.
pub(crate) struct FoldHandler<F: Fold> {
    pub(crate) table: Arc<dyn StateTable<F::State>>,
    pub(crate) rule: Arc<dyn KeyRule<F>>,
    pub(crate) subscribers: Vec<Arc<dyn Decides<F::On, F::State>>>,
}

/// What follows from a batch.
enum Step<S> {
    Store(Box<Waiting<S>>),
    Settle(Handled),
}

/// A lease that waits for its row to be stored.
struct Waiting<S> {
    lease: Lease,
    done: usize,
    rest: Rest,
    row: FoldRow<S>,
    pending: Pending,
}

#[async_trait]
impl<F: Fold> RouteHandler for FoldHandler<F> {
    async fn run(&self, leases: Vec<Lease>, again: bool, ctx: &Context) -> Vec<Handled> {
        let keys: Vec<StateKey> = leases.iter().map(|lease| self.state_key(lease)).collect();
        let loaded = load_rows(&*self.table, &keys).await;
        let (mut settled, mut waiting) = (Vec::new(), Vec::new());
        for ((lease, key), row) in leases.into_iter().zip(keys).zip(loaded) {
            match self.fold(lease, key, row, again, ctx).await {
                Step::Store(one) => waiting.push(*one),
                Step::Settle(one) => settled.push(one),
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
        loaded: Result<Loaded<F::State>, Failure>,
        again: bool,
        ctx: &Context,
    ) -> Step<F::State> {
        let settle = |done, rest| Step::Settle(settlement(&lease, done, rest).into());
        let loaded = match loaded {
            Ok(loaded) => loaded,
            Err(failure) => return settle(0, failure.rest()),
        };
        let own = again
            && loaded
                .as_ref()
                .is_some_and(|row| row.revision.fence == lease.fence);
        if let Some(release) = loaded
            .as_ref()
            .and_then(|row| must_release::<F>(&lease, row, own))
        {
            ctx.counters.released.add(1);
            return settle(0, release);
        }
        let Incoming { mut jobs, failure } = read_events::<F::On>(&lease, ctx).await;
        let mut rest = failure.map_or(Rest::Back, |f| f.rest());
        if let Some(strange) = jobs.iter().find(|job| !self.rule.holds(&key, &job.event)) {
            rest = keyless(strange).rest();
            let ahead = strange.index;
            jobs.truncate(ahead);
        }
        if jobs.is_empty() {
            return settle(0, rest);
        }
        // What this lease has decided before goes out with its own settlement.
        if !own && let Err(failure) = self.stage_left_over(&lease, loaded.as_ref(), ctx).await {
            return settle(0, failure.rest());
        }
        let folded = loop {
            match self.attempt(&lease, &key, loaded.as_ref(), own, &jobs, ctx).await {
                Ok(folded) => break folded,
                // Those ahead of the event at which `apply` panics still count.
                Err(Attempt::Panicked { job, message }) => {
                    rest = Rest::Quarantine {
                        error: format!("`apply` panicked: {message}"),
                    };
                    jobs.truncate(job);
                    if jobs.is_empty() {
                        return settle(0, rest);
                    }
                }
                Err(Attempt::Failed(failure)) => return settle(0, failure.rest()),
            }
        };
        let done = jobs.len();
        match folded {
            Folded::Nothing if own => match self.decided(&lease, loaded.as_ref(), ctx).await {
                Ok(then) => Step::Settle(
                    Settlement {
                        then,
                        ..settlement(&lease, done, rest)
                    }
                    .into(),
                ),
                Err(failure) => Step::Settle(Handled::stored_in_vain(&lease, &failure)),
            },
            Folded::Nothing => settle(done, rest),
            Folded::Row(row, pending) => Step::Store(Box::new(Waiting {
                lease,
                done,
                rest,
                row: *row,
                pending,
            })),
        }
    }

    /// Unless the lease that wrote the row was completed, what its write decided may never have been staged.
    async fn stage_left_over(
        &self,
        lease: &Lease,
        row: Option<&FoldRow<Option<F::State>>>,
        ctx: &Context,
    ) -> Result<(), Failure> {
        let Some(row) = row.filter(|row| !is_staged(lease, row.revision)) else {
            return Ok(());
        };
        // Without a readable state there is nothing to run them with; `attempt` carries them over then.
        let (Some(state), Ok(ledger)) = (&row.state, Ledger::decode(&row.ledger)) else {
            return Ok(());
        };
        if ledger.pending.is_empty() || row.fold_version != F::VERSION {
            return Ok(());
        }
        let state = shared::<F, _>(&row.key.key, state)?;
        stage_pending(&lease.group.tenant, &ledger.pending, &state, ctx).await
    }

    /// The jobs that earlier writes under this lease decided.
    async fn decided(
        &self,
        lease: &Lease,
        row: Option<&FoldRow<Option<F::State>>>,
        ctx: &Context,
    ) -> Result<Vec<NewJob>, Failure> {
        let Some((row, state)) = row.and_then(|row| Some((row, row.state.as_ref()?))) else {
            return Ok(Vec::new());
        };
        let ledger = Ledger::decode(&row.ledger)?;
        if ledger.pending.is_empty() {
            return Ok(Vec::new());
        }
        let state = shared::<F, _>(&row.key.key, state)?;
        // They were counted by the writes that decided them.
        let decided = Pending::new(ledger.pending, Vec::new());
        subscriber_jobs(&lease.group.tenant, &decided, &state, ctx).await
    }

    /// Stores the rows of many leases in one call; what follows from a row goes out only with its settlement.
    async fn store(&self, waiting: Vec<Waiting<F::State>>, ctx: &Context) -> Vec<Handled> {
        if waiting.is_empty() {
            return Vec::new();
        }
        let mut rows = Vec::with_capacity(waiting.len());
        let mut left = Vec::with_capacity(waiting.len());
        for Waiting {
            lease,
            done,
            rest,
            row,
            pending,
        } in waiting
        {
            let state = if pending.is_empty() {
                Ok(None)
            } else {
                shared::<F, _>(&row.key.key, &row.state).map(Some)
            };
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
                    let rest = Rest::Release {
                        floor: Some(by.fence),
                        need: None,
                    };
                    settlements.push(settlement(&lease, 0, rest).into());
                    continue;
                }
                (Err(error), _) => {
                    settlements.push(Handled::refused(&lease, error));
                    continue;
                }
                (_, Err(failure)) => Err(failure),
            };
            settlements.push(match follow {
                Ok(then) => Settlement {
                    then,
                    ..settlement(&lease, done, rest)
                }
                .into(),
                Err(failure) => Handled::stored_in_vain(&lease, &failure),
            });
        }
        settlements
    }
}

/// The event has no key, or its key has changed since its job was made: in this group it would be counted wrongly.
fn keyless<E>(job: &Job<E>) -> Failure {
    Failure::retry(format!(
        "event {} has another key than its group, or none: repair `key` and deploy it, or drain the group",
        job.event.meta.id
    ))
}

/// A row of a newer fold version is never overwritten, and a token not above the row's never writes; unless the row is
/// this lease's own, written for those ahead in it.
fn must_release<F: Fold>(lease: &Lease, row: &FoldRow<Option<F::State>>, own: bool) -> Option<Rest> {
    if row.fold_version > F::VERSION {
        return Some(Rest::Release {
            floor: None,
            need: Some(row.fold_version),
        });
    }
    (!own && lease.fence <= row.revision.fence).then_some(Rest::Release {
        floor: Some(row.revision.fence),
        need: None,
    })
}

/// Whether the subscriber jobs that a write decided were staged: the settlement that completed its lease, or a later
/// one, carried them. A group that was forgotten had completed everything.
pub(super) fn is_staged(lease: &Lease, written: Revision) -> bool {
    lease.previous == LeaseEnd::None || lease.completed.is_some_and(|fence| fence >= written.fence)
}

/// The state of a row as its subscribers see it.
fn shared<F: Fold, S: serde::Serialize>(key: &str, state: &S) -> Result<SharedState, Failure> {
    SharedState::new(F::NAME, key, state)
}
