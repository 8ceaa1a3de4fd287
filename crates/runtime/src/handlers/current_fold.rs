//! The state of a fold, for subscribers whose own is gone.
use super::{CurrentState, Failure};
use crate::{
    context::Context,
    fold::{KeyRule, Replaced, refold},
    subscriber::Decisions,
};
use async_trait::async_trait;
use foldwright_domain::{Fold, RawEvent, Recorded};
use foldwright_ports::{FoldRow, StateKey, StateTable};
use std::{collections::BTreeSet, sync::Arc};

pub(crate) struct CurrentFold<F: Fold> {
    pub(crate) table: Arc<dyn StateTable<F::State>>,
    pub(crate) rule: Arc<dyn KeyRule<F>>,
}

impl<F: Fold> CurrentFold<F> {
    fn key(&self, raw: &RawEvent) -> Result<StateKey, Failure> {
        let group = self
            .rule
            .group_key(raw)
            .map_err(|error| Failure::retry(error.to_string()))?;
        Ok(StateKey {
            tenant: raw.meta.stream.tenant.clone(),
            projection: F::NAME.into(),
            key: self.rule.state_key(&group).into(),
        })
    }

    async fn row(&self, key: &StateKey) -> Result<Option<FoldRow<Option<F::State>>>, Failure> {
        Ok(self
            .table
            .load(std::slice::from_ref(key))
            .await?
            .into_iter()
            .next()
            .flatten())
    }
}

/// The state of a row, if this version of the fold made it.
fn readable<F: Fold>(row: FoldRow<Option<F::State>>) -> Option<F::State> {
    row.state.filter(|_| row.fold_version == F::VERSION)
}

#[async_trait]
impl<F: Fold> CurrentState<F::On, F::State> for CurrentFold<F> {
    async fn stored(&self, raw: &RawEvent) -> Result<Option<F::State>, Failure> {
        Ok(self.row(&self.key(raw)?).await?.and_then(readable::<F>))
    }

    /// The stored state, or one folded from the log where no row of this version is there yet.
    async fn current(
        &self,
        _event: &Recorded<F::On>,
        raw: &RawEvent,
        ctx: &Context,
    ) -> Result<Option<F::State>, Failure> {
        let key = self.key(raw)?;
        let row = self.row(&key).await?;
        let estimate = row.as_ref().map_or(0, |row| row.events);
        if let Some(state) = row.and_then(readable::<F>) {
            return Ok(Some(state));
        }
        let now = ctx.ports.clock.now();
        let _admission = ctx.refolds.admit(&key.tenant, estimate, now).map_err(|after| {
            ctx.counters.deferred.add(1);
            Failure::defer(after)
        })?;
        ctx.counters.refolds.add(1);
        let replaced = Replaced {
            applied: None,
            events: 0,
            other_version: true,
            batch: &BTreeSet::new(),
        };
        let mut nobody = Decisions::new(&[], &key.key);
        let mut read = 0;
        let folded = refold(&*self.rule, &ctx.ports, &key, &replaced, &mut nobody, &mut read).await;
        ctx.refolds
            .charge(&key.tenant, read.saturating_sub(estimate), ctx.ports.clock.now());
        Ok(Some(folded?.state))
    }
}
