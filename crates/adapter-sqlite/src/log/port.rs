//! The log's port.
use super::{SqliteLog, append, erase, read, scan, streams};
use async_trait::async_trait;
use foldwright_domain::{RawEvent, StreamKey, TenantId};
use foldwright_ports::{
    Append, AppendError, Appended, Cursor, Error, EventLog, EventRef, Limits, LogCapabilities, Page, Result,
    Retention, Selection,
};

#[async_trait]
impl EventLog for SqliteLog {
    fn capabilities(&self) -> LogCapabilities {
        LogCapabilities { conditional: true }
    }

    async fn append(&self, appends: Vec<Append>) -> Vec<Result<Vec<Appended>, AppendError>> {
        let calls = appends.len();
        if calls == 0 {
            return Vec::new();
        }
        let bytes = appends
            .iter()
            .flat_map(|append| append.batch.events())
            .map(|event| event.data.len())
            .sum();
        let appended = self
            .store
            .writer
            .run("append", bytes, move |write| append::append_all(write, &appends))
            .await;
        match appended {
            Ok(appended) => appended
                .into_iter()
                .map(|one| one.map_err(|actual| AppendError::CountMismatch { actual }))
                .collect(),
            Err(error) => (0..calls)
                .map(|_| {
                    let (kind, message) = (error.kind(), error.to_string());
                    Err(AppendError::Store(Error::new(kind, "append", message)))
                })
                .collect(),
        }
    }

    async fn load(&self, stream: &StreamKey, from: Option<Cursor>, limits: Limits) -> Result<Page<RawEvent>> {
        let stream = stream.clone();
        self.store
            .readers
            .run("load", move |db| read::load(db, &stream, from.as_ref(), limits))
            .await
    }

    async fn count(&self, streams: &[StreamKey]) -> Result<Vec<u64>> {
        let streams = streams.to_vec();
        self.store
            .readers
            .run("count", move |db| read::count(db, &streams))
            .await
    }

    async fn find(&self, events: &[EventRef]) -> Result<Vec<Option<RawEvent>>> {
        let events = events.to_vec();
        self.store
            .readers
            .run("find", move |db| read::find(db, &events))
            .await
    }

    async fn scan(
        &self,
        selection: &Selection,
        from: Option<Cursor>,
        limits: Limits,
    ) -> Result<Page<RawEvent>> {
        let selection = selection.clone();
        self.store
            .readers
            .run("scan", move |db| {
                scan::scan(db, &selection, from.as_ref(), limits)
            })
            .await
    }

    async fn aggregates(
        &self,
        selection: &Selection,
        from: Option<Cursor>,
        limits: Limits,
    ) -> Result<Page<StreamKey>> {
        let selection = selection.clone();
        self.store
            .readers
            .run("aggregates", move |db| {
                streams::aggregates(db, &selection, from.as_ref(), limits)
            })
            .await
    }

    async fn tenants(&self, from: Option<Cursor>, limits: Limits) -> Result<Page<TenantId>> {
        self.store
            .readers
            .run("tenants", move |db| streams::tenants(db, from.as_ref(), limits))
            .await
    }

    async fn erase(&self, selection: &Selection, limit: usize) -> Result<usize> {
        erase::erase(&self.store, selection, None, limit).await
    }

    async fn retain(&self, retention: &Retention, limit: usize) -> Result<usize> {
        let selection = Selection {
            tenant: retention.tenant.clone(),
            aggregate_types: retention.aggregate_types.clone(),
            event_types: Vec::new(),
            occurred: None,
        };
        erase::erase(&self.store, &selection, Some(retention.accepted_before), limit).await
    }
}
