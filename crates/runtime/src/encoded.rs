//! A bytes store as a typed table: the runtime serialises, adapters do not.
use crate::catch::caught;
use async_trait::async_trait;
use bytes::Bytes;
use foldwright_ports::{
    AppendStore, Error, FoldRow, FoldStore, Kind, Record, RecordTable, Result, StateKey, StateRow,
    StateTable, Stored,
};
use serde::{Serialize, de::DeserializeOwned};
use std::sync::Arc;

/// States as JSON in a fold store.
pub(crate) struct EncodedStates(pub(crate) Arc<dyn FoldStore>);

#[async_trait]
impl<S: Serialize + DeserializeOwned + Send + Sync + 'static> StateTable<S> for EncodedStates {
    async fn load(&self, keys: &[StateKey]) -> Result<Vec<Option<FoldRow<Option<S>>>>> {
        let rows = self.0.load(keys).await?;
        Ok(rows
            .into_iter()
            .map(|row| row.map(|row| with_state(row, |s| decode_json(&s))))
            .collect())
    }

    async fn store(&self, rows: Vec<FoldRow<S>>) -> Vec<Result<Stored>> {
        let (mut good, mut bad) = (Vec::with_capacity(rows.len()), Vec::new());
        for (at, row) in rows.into_iter().enumerate() {
            match encode_json(&row.state) {
                Ok(json) => good.push(with_state(row, |_| json)),
                Err(error) => bad.push((at, error)),
            }
        }
        merge(self.0.store(good).await, bad)
    }
}

/// What a store holds as JSON; `None` where it is not what this build's type says.
pub(crate) fn decode_json<S: DeserializeOwned>(json: &[u8]) -> Option<S> {
    caught(|| serde_json::from_slice(json)).ok()?.ok()
}

/// Records as JSON in an append store.
pub(crate) struct EncodedRecords(pub(crate) Arc<dyn AppendStore>);

#[async_trait]
impl<R: Serialize + Send + Sync + 'static> RecordTable<R> for EncodedRecords {
    async fn append(&self, records: Vec<Record<R>>) -> Vec<Result<()>> {
        let (mut good, mut bad) = (Vec::with_capacity(records.len()), Vec::new());
        for (at, record) in records.into_iter().enumerate() {
            match encode_json(&record.record) {
                Ok(json) => good.push(with_record(record, json)),
                Err(error) => bad.push((at, error)),
            }
        }
        merge(self.0.append(good).await, bad)
    }
}

/// One value that does not encode, or panics at it, fails alone.
pub(crate) fn encode_json<S: Serialize>(value: &S) -> Result<Bytes> {
    let error = || Error::new(Kind::Invalid, "encode", "use types that JSON can express");
    let json = caught(|| serde_json::to_vec(value)).map_err(|message| error().caused_by(message))?;
    json.map(Bytes::from).map_err(|source| error().caused_by(source))
}

/// Puts the errors back to the places of the rows that were never handed to the store; `bad` is in order.
fn merge<T>(answers: Vec<Result<T>>, bad: Vec<(usize, Error)>) -> Vec<Result<T>> {
    let mut all = answers;
    for (at, error) in bad {
        all.insert(at.min(all.len()), Err(error));
    }
    all
}

pub(crate) fn with_state<A, B>(row: StateRow<A>, convert: impl FnOnce(A) -> B) -> StateRow<B> {
    StateRow {
        key: row.key,
        state: convert(row.state),
        fold_version: row.fold_version,
        revision: row.revision,
        events: row.events,
        last_applied: row.last_applied,
        created_at: row.created_at,
        updated_at: row.updated_at,
        ledger: row.ledger,
    }
}

fn with_record<R>(record: Record<R>, json: Bytes) -> Record<Bytes> {
    Record {
        stream: record.stream,
        projection: record.projection,
        version: record.version,
        identity: record.identity,
        position: record.position,
        record: json,
    }
}
