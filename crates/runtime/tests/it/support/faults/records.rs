//! The append store behind a script. Its calls are about records, as `tenant/projection/json`.
use super::{Faults, Op};
use async_trait::async_trait;
use foldwright_domain::TenantId;
use foldwright_ports::{AppendStore, Cursor, Error, Limits, Page, Record, Result};
use std::sync::Arc;

pub(crate) struct FaultyRecords {
    pub(super) inner: Arc<dyn AppendStore>,
    pub(super) faults: Arc<Faults>,
}

fn name(record: &Record) -> String {
    let json = String::from_utf8_lossy(&record.record);
    format!("{}/{}/{json}", record.stream.tenant, record.projection)
}

#[async_trait]
impl AppendStore for FaultyRecords {
    async fn append(&self, records: Vec<Record>) -> Vec<Result<()>> {
        let names: Vec<_> = records.iter().map(name).collect();
        let (count, about) = (names.len(), names.clone());
        let (mut good, mut bad) = (Vec::new(), Vec::new());
        for (at, (record, name)) in records.into_iter().zip(names).enumerate() {
            match self.faults.item(Op::AppendRecords, &name) {
                Some(error) => bad.push((at, error)),
                None => good.push(record),
            }
        }
        let call = async {
            let mut answers = self.inner.append(good).await;
            for (at, error) in bad {
                answers.insert(at, Err(error));
            }
            answers
        };
        let refuse = |error: Error| {
            (0..count)
                .map(|_| Err(Error::new(error.kind(), error.operation(), error.message())))
                .collect()
        };
        self.faults.through(Op::AppendRecords, about, call, refuse).await
    }

    async fn list(
        &self,
        tenant: &TenantId,
        projection: &str,
        aggregate_id: Option<&str>,
        from: Option<Cursor>,
        limits: Limits,
    ) -> Result<Page<Record>> {
        self.inner
            .list(tenant, projection, aggregate_id, from, limits)
            .await
    }
}
