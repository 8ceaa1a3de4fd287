//! Records of maps.
use crate::{
    codec,
    error::{Fault, Outcome},
    folds::{each, spread},
    page::Filling,
    reader::Read,
    store::Store,
    writer::Write,
};
use async_trait::async_trait;
use bytes::Bytes;
use foldwright_domain::{AggregateId, EventId, Identity, Millis, Position, StreamKey, TenantId};
use foldwright_ports::{AppendStore, Cursor, Limits, Page, Record, Result};
use rusqlite::params;
use std::sync::Arc;

/// The append store in one file.
pub(crate) struct SqliteRecords {
    store: Arc<Store>,
}

impl SqliteRecords {
    pub(crate) fn new(store: Arc<Store>) -> Self {
        Self { store }
    }
}

#[async_trait]
impl AppendStore for SqliteRecords {
    async fn append(&self, records: Vec<Record>) -> Vec<Result<()>> {
        let calls = records.len();
        if calls == 0 {
            return Vec::new();
        }
        let bytes = records.iter().map(|record| record.record.len()).sum();
        let stored = self
            .store
            .writer
            .run("append records", bytes, move |write| {
                records.iter().map(|record| each(append(write, record))).collect()
            })
            .await;
        spread(stored, calls, "append records")
    }

    async fn list(
        &self,
        tenant: &TenantId,
        projection: &str,
        aggregate_id: Option<&str>,
        from: Option<Cursor>,
        limits: Limits,
    ) -> Result<Page<Record>> {
        let list = List {
            tenant: tenant.clone(),
            projection: projection.into(),
            aggregate_id: aggregate_id.map(str::to_owned),
        };
        self.store
            .readers
            .run("list records", move |read| list.page(read, from.as_ref(), limits))
            .await
    }
}

fn append(write: &mut Write<'_>, record: &Record) -> Outcome<()> {
    let db = write.db;
    let tenant = write.names.number(db, record.stream.tenant.as_str())?;
    let projection = write.names.number(db, &record.projection)?;
    let aggregate_type = write.names.number(db, &record.stream.aggregate_type)?;
    db.prepare_cached(
        "INSERT INTO fw_records (tenant, projection, identity, owner, version, occurred_at, id, aggregate_type,
         aggregate_id, record) VALUES (?1, ?2, ?3, ?1, ?4, ?5, ?6, ?7, ?8, ?9)
         ON CONFLICT (tenant, projection, identity) DO UPDATE SET version = ?4, occurred_at = ?5, id = ?6,
         aggregate_type = ?7, aggregate_id = ?8, record = ?9 WHERE ?4 > version",
    )?
    .execute(params![
        tenant,
        projection,
        record.identity.0,
        record.version,
        record.position.occurred_at.0,
        record.position.id.as_u128().to_be_bytes(),
        aggregate_type,
        record.stream.id.as_str(),
        record.record.as_ref()
    ])?;
    Ok(())
}

/// Where a record stands in canonical order.
type Place = (i64, [u8; 16], i64);

struct List {
    tenant: TenantId,
    projection: Arc<str>,
    aggregate_id: Option<String>,
}

impl List {
    fn page(&self, read: &mut Read<'_>, from: Option<&Cursor>, limits: Limits) -> Outcome<Page<Record>> {
        let db = read.db;
        let (at, id, n): Place = from.map_or(Ok((i64::MIN, [0; 16], i64::MIN)), codec::cursor)?;
        let (Some(tenant), Some(projection)) = (
            read.names.find(db, self.tenant.as_str())?,
            read.names.find(db, &self.projection)?,
        ) else {
            return Ok(Page::last(Vec::new()));
        };
        let mut select = db.prepare_cached(if self.aggregate_id.is_some() {
            "SELECT n, owner, identity, version, occurred_at, id, aggregate_type, aggregate_id, record FROM fw_records
             WHERE tenant = ?1 AND projection = ?2 AND aggregate_id = ?6 AND (occurred_at, id, n) > (?3, ?4, ?5)
             ORDER BY occurred_at, id, n"
        } else {
            "SELECT n, owner, identity, version, occurred_at, id, aggregate_type, aggregate_id, record FROM fw_records
             WHERE tenant = ?1 AND projection = ?2 AND (occurred_at, id, n) > (?3, ?4, ?5) AND ?6 IS NULL
             ORDER BY occurred_at, id, n"
        })?;
        let mut rows = select.query(params![tenant, projection, at, id, n, self.aggregate_id])?;
        let mut page = Filling::new(limits);
        while let Some(row) = rows.next()? {
            if row.get::<_, i64>(1)? != tenant {
                return Err(Fault::Foreign("stored record"));
            }
            let place: Place = (row.get(4)?, row.get(5)?, row.get(0)?);
            let record = Record {
                stream: StreamKey {
                    tenant: self.tenant.clone(),
                    aggregate_type: read.names.text(db, row.get(6)?)?,
                    id: AggregateId::parse(row.get::<_, String>(7)?)
                        .map_err(|error| Fault::corrupt(error.to_string()))?,
                },
                projection: self.projection.clone(),
                version: row.get(3)?,
                identity: Identity(row.get(2)?),
                position: Position {
                    occurred_at: Millis(place.0),
                    id: EventId::from_u128(u128::from_be_bytes(place.1)),
                },
                record: Bytes::from(row.get::<_, Vec<u8>>(8)?),
            };
            let bytes = record.record.len();
            if !page.offer(record, bytes, place) {
                break;
            }
        }
        page.finish()
    }
}
