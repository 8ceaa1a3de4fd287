use super::Watch;
use async_trait::async_trait;
use foldwright_domain::TenantId;
use foldwright_ports::{Cursor, FoldStore, Limits, Page, Result, StateKey, StateRow, Stored};
use std::sync::Arc;

/// A fold store whose every write is looked at.
pub(in super::super) struct WatchedFolds {
    pub(super) inner: Arc<dyn FoldStore>,
    pub(super) watch: Arc<Watch>,
}

#[async_trait]
impl FoldStore for WatchedFolds {
    async fn load(&self, keys: &[StateKey]) -> Result<Vec<Option<StateRow>>> {
        let rows = self.inner.load(keys).await?;
        self.watch.loaded(keys, &rows);
        Ok(rows)
    }

    async fn store(&self, rows: Vec<StateRow>) -> Vec<Result<Stored>> {
        let answers = self.inner.store(rows.clone()).await;
        for (row, answer) in rows.iter().zip(&answers) {
            if matches!(answer, Ok(Stored::Yes)) {
                self.watch.stored(row);
            }
        }
        answers
    }

    async fn list(
        &self,
        tenant: &TenantId,
        projection: &str,
        from: Option<Cursor>,
        limits: Limits,
    ) -> Result<Page<StateRow>> {
        self.inner.list(tenant, projection, from, limits).await
    }
}
