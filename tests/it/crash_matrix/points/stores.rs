//! The effects of the stores of states, records and bodies.
use super::Points;
use async_trait::async_trait;
use bytes::Bytes;
use foldwright::{
    domain::{Millis, TenantId},
    ports::{
        AppendStore, BlobEntry, BlobRef, BlobStore, Cursor, FoldStore, Limits, Page, Record, Result,
        StateKey, StateRow, Stored,
    },
};
use std::sync::Arc;

pub(super) struct Folds {
    pub(super) inner: Arc<dyn FoldStore>,
    pub(super) points: Arc<Points>,
}

#[async_trait]
impl FoldStore for Folds {
    async fn load(&self, keys: &[StateKey]) -> Result<Vec<Option<StateRow>>> {
        self.points.quiet(self.inner.load(keys)).await
    }

    async fn store(&self, rows: Vec<StateRow>) -> Vec<Result<Stored>> {
        let first = rows.first().map(|row| row.key.projection.to_string());
        let name = format!("store({})", first.unwrap_or_default());
        self.points.effect(name, self.inner.store(rows)).await
    }

    async fn list(
        &self,
        tenant: &TenantId,
        projection: &str,
        from: Option<Cursor>,
        limits: Limits,
    ) -> Result<Page<StateRow>> {
        self.points
            .quiet(self.inner.list(tenant, projection, from, limits))
            .await
    }
}

pub(super) struct Records {
    pub(super) inner: Arc<dyn AppendStore>,
    pub(super) points: Arc<Points>,
}

#[async_trait]
impl AppendStore for Records {
    async fn append(&self, records: Vec<Record>) -> Vec<Result<()>> {
        self.points
            .effect("records".into(), self.inner.append(records))
            .await
    }

    async fn list(
        &self,
        tenant: &TenantId,
        projection: &str,
        aggregate_id: Option<&str>,
        from: Option<Cursor>,
        limits: Limits,
    ) -> Result<Page<Record>> {
        self.points
            .quiet(self.inner.list(tenant, projection, aggregate_id, from, limits))
            .await
    }
}

pub(super) struct Blobs {
    pub(super) inner: Arc<dyn BlobStore>,
    pub(super) points: Arc<Points>,
    pub(super) tier: &'static str,
}

#[async_trait]
impl BlobStore for Blobs {
    async fn put(&self, blob: &BlobRef, stored: Bytes) -> Result<()> {
        let name = format!("put({})", self.tier);
        self.points.effect(name, self.inner.put(blob, stored)).await
    }

    async fn get(&self, blob: &BlobRef) -> Result<Option<Bytes>> {
        self.points.quiet(self.inner.get(blob)).await
    }

    async fn list(
        &self,
        touched_before: Millis,
        from: Option<Cursor>,
        limits: Limits,
    ) -> Result<Page<BlobEntry>> {
        self.points
            .quiet(self.inner.list(touched_before, from, limits))
            .await
    }

    async fn delete_untouched(&self, blob: &BlobRef, touched_before: Millis) -> Result<bool> {
        let call = self.inner.delete_untouched(blob, touched_before);
        self.points.effect("delete".into(), call).await
    }
}
