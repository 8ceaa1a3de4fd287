//! States of folds in memory.
use crate::{cursor, lock::lock, pager::page};
use async_trait::async_trait;
use foldwright_domain::TenantId;
use foldwright_ports::{Cursor, FoldStore, Limits, Page, Result, StateKey, StateRow, Stored};
use std::{
    collections::{BTreeMap, btree_map::Entry},
    ops::Bound,
    sync::{Arc, Mutex},
};

const CURSOR: u8 = b'f';

/// Rows by key, the tenant first.
#[derive(Debug, Default)]
pub(crate) struct MemoryFolds {
    rows: Mutex<BTreeMap<StateKey, StateRow>>,
}

#[async_trait]
impl FoldStore for MemoryFolds {
    async fn load(&self, keys: &[StateKey]) -> Result<Vec<Option<StateRow>>> {
        let rows = lock(&self.rows);
        Ok(keys.iter().map(|key| rows.get(key).cloned()).collect())
    }

    async fn store(&self, new: Vec<StateRow>) -> Vec<Result<Stored>> {
        let mut rows = lock(&self.rows);
        let mut store = |row: StateRow| match rows.entry(row.key.clone()) {
            Entry::Occupied(there) if there.get().revision >= row.revision => Stored::Superseded {
                by: there.get().revision,
            },
            Entry::Occupied(mut there) => {
                there.insert(row);
                Stored::Yes
            }
            Entry::Vacant(free) => {
                free.insert(row);
                Stored::Yes
            }
        };
        new.into_iter().map(|row| Ok(store(row))).collect()
    }

    async fn list(
        &self,
        tenant: &TenantId,
        projection: &str,
        from: Option<Cursor>,
        limits: Limits,
    ) -> Result<Page<StateRow>> {
        let key = |key: Arc<str>| StateKey {
            tenant: tenant.clone(),
            projection: projection.into(),
            key,
        };
        let from = match &from {
            Some(cursor) => Bound::Excluded(key(cursor::to_text(cursor, CURSOR, "list states")?.into())),
            None => Bound::Included(key("".into())),
        };
        let rows = lock(&self.rows);
        let rows = rows
            .range((from, Bound::Unbounded))
            .take_while(|(key, _)| key.tenant == *tenant && *key.projection == *projection)
            .map(|(key, row)| (key, Some((row.clone(), row.state.len() + row.ledger.len()))));
        Ok(page(limits, rows, |key| cursor::of_text(CURSOR, &key.key)))
    }
}
