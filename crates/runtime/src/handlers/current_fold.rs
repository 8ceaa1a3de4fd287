//! The state of a fold, for subscribers whose own is gone.
use super::Failure;
use crate::{
    context::Context,
    fold::{KeyRule, Replaced, refold},
    subscriber::{CurrentState, Decisions},
};
use async_trait::async_trait;
use foldwright_domain::{Fold, RawEvent, Recorded};
use foldwright_ports::{StateKey, StateTable};
use std::{collections::BTreeSet, sync::Arc};

pub(crate) struct CurrentFold<F: Fold> {
    pub(crate) table: Arc<dyn StateTable<F::State>>,
    pub(crate) rule: Arc<dyn KeyRule<F>>,
}

#[async_trait]
impl<F: Fold> CurrentState<F::On, F::State> for CurrentFold<F> {
    /// The stored state, or one folded from the log where no row of this version is there yet.
    async fn current(
        &self,
        _event: &Recorded<F::On>,
        raw: &RawEvent,
        ctx: &Context,
    ) -> Result<Option<F::State>, Failure> {
        let group = self
            .rule
            .group_key(raw)
            .map_err(|error| Failure::retry(error.to_string()))?;
        let key = StateKey {
            tenant: raw.meta.stream.tenant.clone(),
            projection: F::NAME.into(),
            key: self.rule.state_key(&group).into(),
        };
        let row = self
            .table
            .load(std::slice::from_ref(&key))
            .await?
            .into_iter()
            .next()
            .flatten();
        let events = row.as_ref().map_or(0, |row| row.events);
        if let Some(state) = row
            .filter(|row| row.fold_version == F::VERSION)
            .and_then(|row| row.state)
        {
            return Ok(Some(state));
        }
        let now = ctx.ports.clock.now();
        let _admission = ctx.refolds.admit(&key.tenant, events, now).map_err(|after| {
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
        let folded = refold(&*self.rule, &*ctx.ports.log, &key, &replaced, &mut nobody).await?;
        Ok(Some(folded.state))
    }
}
