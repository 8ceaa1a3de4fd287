//! Runs commands that decide on the state of their aggregate.
use super::{
    Failure, Handled, RouteHandler,
    decider_line::{Line, State},
    decider_state::UpToDate,
    load_rows::load_rows,
    stored_events::StoredEvents,
};
use crate::{context::Context, fold::Base, telemetry::append_spans};
use async_trait::async_trait;
use foldwright_domain::{Batch, Decider, Fold, StreamKey};
use foldwright_ports::{Append, Expect, Lease, StateKey, StateTable};
use std::sync::Arc;

/// The path of the groups that all deciders share: one group for each aggregate.
pub(crate) const DECIDE_PATH: &str = "command/decide";

/// One command type with the table of the fold that it decides on.
pub(crate) struct DeciderHandler<C: Decider> {
    pub(crate) table: Arc<dyn StateTable<State<C>>>,
    /// Whether the log refuses an append on an older state. Without, the composition root has accepted the risk.
    pub(crate) conditional: bool,
}

#[async_trait]
impl<C: Decider> RouteHandler for DeciderHandler<C> {
    async fn run(&self, leases: Vec<Lease>, _again: bool, ctx: &Context) -> Vec<Handled> {
        let mut lines = Vec::with_capacity(leases.len());
        let mut settled = Vec::new();
        for lease in &leases {
            match Line::<C>::read(lease, ctx).await {
                Ok(line) => lines.push(line),
                Err(settlement) => settled.push(settlement.into()),
            }
        }
        loop {
            self.bring_up(&mut lines, ctx).await;
            let mut decided = Vec::new();
            for line in &mut lines {
                if let Some(batch) = line.decide(ctx).await {
                    decided.push((line, batch));
                }
            }
            if decided.is_empty() {
                break;
            }
            self.append(decided, ctx).await;
        }
        settled.extend(lines.into_iter().map(|line| line.settle().into()));
        settled
    }
}

impl<C: Decider> DeciderHandler<C> {
    /// Gives every line that has none a state that holds all events of its aggregate. One load of rows and of bases and one count for all.
    async fn bring_up(&self, lines: &mut [Line<C>], ctx: &Context) {
        let mut stale: Vec<_> = lines.iter_mut().filter(|line| line.is_stale()).collect();
        if stale.is_empty() {
            return;
        }
        let streams: Vec<_> = stale.iter().map(|line| line.stream.clone()).collect();
        // In this order: what is appended in between makes a row older, never newer than its count says.
        let keys: Vec<_> = streams.iter().map(state_key::<C>).collect();
        let rows = load_rows(&*self.table, &keys).await;
        let counts = ctx.ports.log.count(&streams).await.map_err(Failure::from);
        let mut bases = Base::load_all::<C::Fold>(&*ctx.ports.folds, &keys)
            .await
            .into_iter();
        for (at, (line, row)) in stale.iter_mut().zip(rows).enumerate() {
            let missing = || Failure::retry("the fold store did not answer for every aggregate");
            let base = bases.next().ok_or_else(missing).and_then(|base| Ok(base?));
            let count = counts.as_ref().map_err(Clone::clone).and_then(|counts| {
                let missing = || Failure::retry("the log did not answer for every aggregate");
                counts.get(at).copied().ok_or_else(missing)
            });
            let state = match (row, count, base) {
                (Ok(row), Ok(count), Ok(base)) => {
                    UpToDate::load::<C::Fold>(&line.stream, row, count, base, ctx).await
                }
                (Err(failure), ..) | (_, Err(failure), _) | (.., Err(failure)) => Err(failure),
            };
            match state {
                Ok(state) => line.state = Some(state),
                Err(failure) => line.failure = Some(failure),
            }
        }
    }

    /// Appends one decision of each line, all in one call.
    async fn append(&self, decided: Vec<(&mut Line<C>, (Batch, u64))>, ctx: &Context) {
        let appends = decided.iter().map(|(_, (batch, count))| Append {
            batch: batch.clone(),
            expect: if self.conditional {
                Expect::Count(*count)
            } else {
                Expect::Any
            },
        });
        let appends: Vec<_> = appends.collect();
        let _spans = append_spans(&appends, &*ctx.propagation);
        let answers = ctx.ports.log.append(appends).await;
        let batches = decided.iter().map(|(_, (batch, _))| batch);
        let stored = StoredEvents::load(batches.zip(&answers), ctx).await;
        let mut answers = answers.into_iter();
        for (line, (batch, _)) in decided {
            let answer = answers.next();
            line.appended(batch, answer, &stored, ctx).await;
        }
    }
}

fn state_key<C: Decider>(stream: &StreamKey) -> StateKey {
    StateKey {
        tenant: stream.tenant.clone(),
        projection: C::Fold::NAME.into(),
        key: stream.id.as_str().into(),
    }
}
