//! The log's effects.
use super::Points;
use async_trait::async_trait;
use foldwright::{
    domain::{RawEvent, StreamKey, TenantId},
    ports::{
        Append, AppendError, Appended, Cursor, EventLog, EventRef, Limits, LogCapabilities, Page, Result,
        Retention, Selection,
    },
};
use std::sync::Arc;

pub(super) struct Log {
    pub(super) inner: Arc<dyn EventLog>,
    pub(super) points: Arc<Points>,
}

#[async_trait]
impl EventLog for Log {
    fn capabilities(&self) -> LogCapabilities {
        self.inner.capabilities()
    }

    async fn append(&self, appends: Vec<Append>) -> Vec<Result<Vec<Appended>, AppendError>> {
        let first = appends.first().map(|append| append.batch.stream().id.to_string());
        let name = format!("append({})", first.unwrap_or_default());
        self.points.effect(name, self.inner.append(appends)).await
    }

    async fn load(&self, stream: &StreamKey, from: Option<Cursor>, limits: Limits) -> Result<Page<RawEvent>> {
        self.points.quiet(self.inner.load(stream, from, limits)).await
    }

    async fn count(&self, streams: &[StreamKey]) -> Result<Vec<u64>> {
        self.points.quiet(self.inner.count(streams)).await
    }

    async fn find(&self, events: &[EventRef]) -> Result<Vec<Option<RawEvent>>> {
        self.points.quiet(self.inner.find(events)).await
    }

    async fn scan(
        &self,
        selection: &Selection,
        from: Option<Cursor>,
        limits: Limits,
    ) -> Result<Page<RawEvent>> {
        self.points.quiet(self.inner.scan(selection, from, limits)).await
    }

    async fn aggregates(
        &self,
        selection: &Selection,
        from: Option<Cursor>,
        limits: Limits,
    ) -> Result<Page<StreamKey>> {
        self.points
            .quiet(self.inner.aggregates(selection, from, limits))
            .await
    }

    async fn tenants(&self, from: Option<Cursor>, limits: Limits) -> Result<Page<TenantId>> {
        self.points.quiet(self.inner.tenants(from, limits)).await
    }

    async fn erase(&self, selection: &Selection, limit: usize) -> Result<usize> {
        self.points
            .effect("erase".into(), self.inner.erase(selection, limit))
            .await
    }

    async fn retain(&self, retention: &Retention, limit: usize) -> Result<usize> {
        self.points
            .effect("cut".into(), self.inner.retain(retention, limit))
            .await
    }
}
