//! Asking a fold's rows which events they hold.
use crate::{
    context::Context,
    fold::{KeyRule, Ledger, Membership},
    lean::seen,
};
use async_trait::async_trait;
use foldwright_domain::{EventSet, Fold, Identity, RawEvent, Recorded, TenantId};
use foldwright_ports::{Error, FoldRow, Kind, Result, StateKey, StateTable};
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

/// A fold, whatever its types, for those who wait for it.
#[async_trait]
pub(crate) trait AsksLedger: Send + Sync + 'static {
    /// Whether the stored states hold all of these events that the fold reads. `false` also where that cannot be told
    /// yet.
    async fn holds(&self, tenant: &TenantId, events: &[RawEvent], ctx: &Context) -> Result<bool>;
}

/// One fold with its table.
pub(crate) struct FoldLedger<F: Fold> {
    pub(crate) table: Arc<dyn StateTable<F::State>>,
    pub(crate) rule: Arc<dyn KeyRule<F>>,
}

#[async_trait]
impl<F: Fold> AsksLedger for FoldLedger<F> {
    async fn holds(&self, tenant: &TenantId, events: &[RawEvent], ctx: &Context) -> Result<bool> {
        let mut by_key: BTreeMap<StateKey, BTreeSet<Identity>> = BTreeMap::new();
        for event in events.iter().filter(|event| F::On::reads(&event.meta.event_type)) {
            let key = self.key(tenant, event)?;
            by_key.entry(key).or_default().insert(event.meta.identity);
        }
        if by_key.is_empty() {
            return Ok(true);
        }
        let keys: Vec<_> = by_key.keys().cloned().collect();
        let rows = self.table.load(&keys).await?;
        for ((key, identities), row) in by_key.iter().zip(rows) {
            let Some(row) = row else {
                return Ok(false);
            };
            if !self.row_holds(key, identities, &row, ctx).await? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

impl<F: Fold> FoldLedger<F> {
    fn key(&self, tenant: &TenantId, event: &RawEvent) -> Result<StateKey> {
        let group = self.rule.group_key(event).map_err(|source| {
            Error::new(Kind::Invalid, "applied", "the fold has no key for an event").caused_by(source)
        })?;
        Ok(StateKey {
            tenant: tenant.clone(),
            projection: F::NAME.into(),
            key: self.rule.state_key(&group).into(),
        })
    }

    async fn row_holds(
        &self,
        key: &StateKey,
        identities: &BTreeSet<Identity>,
        row: &FoldRow<Option<F::State>>,
        ctx: &Context,
    ) -> Result<bool> {
        let ledger = Ledger::decode(&row.ledger).map_err(|source| {
            Error::new(Kind::Corrupt, "applied", "the notes of a row do not decode").caused_by(source)
        })?;
        let applied = ledger.applied.index();
        let mut unsure = false;
        for identity in identities {
            match applied.contains(identity) {
                Membership::Yes => {}
                Membership::No => return Ok(false),
                Membership::Unsure => unsure = true,
            }
        }
        if !unsure {
            return Ok(true);
        }
        let in_filter = row.events.saturating_sub(ledger.applied.exact().len() as u64);
        self.all_unsure_are_in(key, &ledger, in_filter, ctx).await
    }

    /// Of the key's events in the log, those that the filter may hold: where they are exactly as many as it does hold, it
    /// holds each of them. Reads the log within the budget of refolds; over it, nothing can be told yet.
    async fn all_unsure_are_in(
        &self,
        key: &StateKey,
        ledger: &Ledger,
        in_filter: u64,
        ctx: &Context,
    ) -> Result<bool> {
        let now = ctx.ports.clock.now();
        let estimate = in_filter.saturating_add(ledger.applied.exact().len() as u64);
        let Ok(_admission) = ctx.refolds.admit(&key.tenant, estimate, now) else {
            return Ok(false);
        };
        let (mut may_be_in, mut read, mut from) = (0_u64, 0_u64, None);
        loop {
            let page = self.rule.page(&*ctx.ports.log, key, from).await?;
            read = read.saturating_add(page.items.len() as u64);
            let applied = ledger.applied.index();
            for raw in page.items {
                if applied.contains(&raw.meta.identity) == Membership::Unsure && self.reads(key, raw) {
                    may_be_in += 1;
                }
            }
            match page.next {
                Some(next) => from = Some(next),
                None => break,
            }
        }
        let beyond = read.saturating_sub(estimate);
        ctx.refolds.charge(&key.tenant, beyond, ctx.ports.clock.now());
        Ok(may_be_in == in_filter)
    }

    /// Whether an event belongs to the key.
    fn reads(&self, key: &StateKey, raw: RawEvent) -> bool {
        let Some(Ok(data)) = F::On::reads(&raw.meta.event_type).then(|| seen::<F::On>(&raw)) else {
            return false;
        };
        data.is_ok_and(|data| {
            self.rule.holds(
                key,
                &Recorded {
                    meta: raw.meta.clone(),
                    data,
                },
            )
        })
    }
}
