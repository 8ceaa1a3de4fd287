//! The event log behind a script. Its calls are about streams, as `type:id`; appends as `type:id data`, by their first
//! event.
use super::{Faults, Op};
use async_trait::async_trait;
use foldwright_domain::{RawEvent, StreamKey, TenantId};
use foldwright_ports::{
    Append, AppendError, Appended, Cursor, EventLog, EventRef, Limits, LogCapabilities, Page, Result,
    Retention, Selection,
};
use std::sync::Arc;

pub(crate) struct FaultyLog {
    pub(super) inner: Arc<dyn EventLog>,
    pub(super) faults: Arc<Faults>,
}

fn name(stream: &StreamKey) -> String {
    format!("{}:{}", stream.aggregate_type, stream.id)
}

fn of_append(append: &Append) -> String {
    let data = append
        .batch
        .events()
        .first()
        .map(|event| String::from_utf8_lossy(&event.data).into_owned());
    format!("{} {}", name(append.batch.stream()), data.unwrap_or_default())
}

#[async_trait]
impl EventLog for FaultyLog {
    fn capabilities(&self) -> LogCapabilities {
        self.inner.capabilities()
    }

    async fn append(&self, appends: Vec<Append>) -> Vec<Result<Vec<Appended>, AppendError>> {
        let names: Vec<_> = appends.iter().map(of_append).collect();
        let (count, about) = (names.len(), names.clone());
        let (mut good, mut bad) = (Vec::new(), Vec::new());
        for (at, (append, name)) in appends.into_iter().zip(names).enumerate() {
            match self.faults.item(Op::Append, &name) {
                Some(error) => bad.push((at, error)),
                None => good.push(append),
            }
        }
        let call = async {
            let mut answers = self.inner.append(good).await;
            for (at, error) in bad {
                answers.insert(at, Err(error.into()));
            }
            answers
        };
        let refuse = |error: foldwright_ports::Error| {
            let again = || foldwright_ports::Error::new(error.kind(), error.operation(), error.message());
            (0..count).map(|_| Err(again().into())).collect()
        };
        self.faults.through(Op::Append, about, call, refuse).await
    }

    async fn load(&self, stream: &StreamKey, from: Option<Cursor>, limits: Limits) -> Result<Page<RawEvent>> {
        self.faults
            .through(
                Op::LoadEvents,
                vec![name(stream)],
                self.inner.load(stream, from, limits),
                Err,
            )
            .await
    }

    async fn count(&self, streams: &[StreamKey]) -> Result<Vec<u64>> {
        let about = streams.iter().map(name).collect();
        self.faults
            .through(Op::CountEvents, about, self.inner.count(streams), Err)
            .await
    }

    async fn find(&self, events: &[EventRef]) -> Result<Vec<Option<RawEvent>>> {
        let about = events.iter().map(|event| name(&event.stream)).collect();
        self.faults
            .through(Op::Find, about, self.inner.find(events), Err)
            .await
    }

    async fn scan(
        &self,
        selection: &Selection,
        from: Option<Cursor>,
        limits: Limits,
    ) -> Result<Page<RawEvent>> {
        let about = vec![selection.tenant.to_string()];
        self.faults
            .through(Op::Scan, about, self.inner.scan(selection, from, limits), Err)
            .await
    }

    async fn aggregates(
        &self,
        selection: &Selection,
        from: Option<Cursor>,
        limits: Limits,
    ) -> Result<Page<StreamKey>> {
        self.inner.aggregates(selection, from, limits).await
    }

    async fn tenants(&self, from: Option<Cursor>, limits: Limits) -> Result<Page<TenantId>> {
        self.inner.tenants(from, limits).await
    }

    async fn erase(&self, selection: &Selection, limit: usize) -> Result<usize> {
        self.inner.erase(selection, limit).await
    }

    async fn retain(&self, retention: &Retention, limit: usize) -> Result<usize> {
        self.inner.retain(retention, limit).await
    }
}
