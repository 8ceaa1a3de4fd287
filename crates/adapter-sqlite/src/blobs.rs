//! Large bodies.
use crate::{
    codec,
    error::{Fault, Outcome},
    page::{Filling, limit_of},
    reader::Read,
    store::Store,
    writer::Write,
};
use async_trait::async_trait;
use bytes::Bytes;
use foldwright_domain::Millis;
use foldwright_ports::{BlobEntry, BlobHash, BlobRef, BlobStore, Cursor, Limits, Page, Result};
use rusqlite::{OptionalExtension, params};
use std::sync::Arc;

/// The blob store in one file.
pub(crate) struct SqliteBlobs {
    store: Arc<Store>,
}

impl SqliteBlobs {
    pub(crate) fn new(store: Arc<Store>) -> Self {
        Self { store }
    }
}

#[async_trait]
impl BlobStore for SqliteBlobs {
    async fn put(&self, blob: &BlobRef, stored: Bytes) -> Result<()> {
        let blob = blob.clone();
        self.store
            .writer
            .run("put", stored.len(), move |write| put(write, &blob, &stored))
            .await
    }

    async fn get(&self, blob: &BlobRef) -> Result<Option<Bytes>> {
        let blob = blob.clone();
        self.store.readers.run("get", move |read| get(read, &blob)).await
    }

    async fn list(
        &self,
        touched_before: Millis,
        from: Option<Cursor>,
        limits: Limits,
    ) -> Result<Page<BlobEntry>> {
        self.store
            .readers
            .run("list blobs", move |read| {
                list(read, touched_before, from.as_ref(), limits)
            })
            .await
    }

    async fn delete_untouched(&self, blob: &BlobRef, touched_before: Millis) -> Result<bool> {
        let blob = blob.clone();
        self.store
            .writer
            .run("delete blob", 0, move |write| {
                delete(write, &blob, touched_before)
            })
            .await
    }
}

fn put(write: &mut Write<'_>, blob: &BlobRef, stored: &[u8]) -> Outcome<()> {
    let db = write.db;
    let tenant = write.names.number(db, blob.tenant.as_str())?;
    // A body that is there is only touched: its bytes are not written again.
    let touched = db
        .prepare_cached(
            "UPDATE fw_blobs SET touched_at = max(touched_at, ?3) WHERE tenant = ?1 AND hash = ?2",
        )?
        .execute(params![tenant, blob.hash.0, write.now.0])?;
    if touched == 0 {
        db.prepare_cached(
            "INSERT INTO fw_blobs (tenant, hash, owner, bytes, touched_at, stored) VALUES (?1, ?2, ?1, ?3, ?4, ?5)",
        )?
        .execute(params![tenant, blob.hash.0, limit_of(stored.len()), write.now.0, stored])?;
    }
    Ok(())
}

fn get(read: &mut Read<'_>, blob: &BlobRef) -> Outcome<Option<Bytes>> {
    let Some(tenant) = read.names.find(read.db, blob.tenant.as_str())? else {
        return Ok(None);
    };
    let found: Option<(i64, Vec<u8>)> = read
        .db
        .prepare_cached("SELECT owner, stored FROM fw_blobs WHERE tenant = ?1 AND hash = ?2")?
        .query_row(params![tenant, blob.hash.0], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    match found {
        None => Ok(None),
        Some((owner, _)) if owner != tenant => Err(Fault::Foreign("stored body")),
        Some((_, stored)) => Ok(Some(stored.into())),
    }
}

fn list(
    read: &mut Read<'_>,
    touched_before: Millis,
    from: Option<&Cursor>,
    limits: Limits,
) -> Outcome<Page<BlobEntry>> {
    let db = read.db;
    let (touched_at, n): (i64, i64) = from.map_or(Ok((i64::MIN, i64::MIN)), codec::cursor)?;
    let mut select = db.prepare_cached(
        "SELECT n, owner, tenant, hash, bytes, touched_at FROM fw_blobs
         WHERE (touched_at, n) > (?1, ?2) AND touched_at < ?3 ORDER BY touched_at, n",
    )?;
    let mut rows = select.query((touched_at, n, touched_before.0))?;
    let mut page = Filling::new(limits);
    while let Some(row) = rows.next()? {
        let tenant: i64 = row.get(2)?;
        if row.get::<_, i64>(1)? != tenant {
            return Err(Fault::Foreign("stored body"));
        }
        let touched_at = row.get(5)?;
        let entry = BlobEntry {
            blob: BlobRef {
                tenant: read.names.tenant(db, tenant)?,
                hash: BlobHash(row.get(3)?),
            },
            bytes: u64::try_from(row.get::<_, i64>(4)?).unwrap_or(0),
            touched_at: Millis(touched_at),
        };
        // Entries are small whatever the bodies are.
        if !page.offer(entry, 0, (touched_at, row.get::<_, i64>(0)?)) {
            break;
        }
    }
    page.finish()
}

fn delete(write: &mut Write<'_>, blob: &BlobRef, touched_before: Millis) -> Outcome<bool> {
    let Some(tenant) = write.names.find(write.db, blob.tenant.as_str())? else {
        return Ok(false);
    };
    let deleted = write
        .db
        .prepare_cached("DELETE FROM fw_blobs WHERE tenant = ?1 AND hash = ?2 AND touched_at < ?3")?
        .execute(params![tenant, blob.hash.0, touched_before.0])?;
    Ok(deleted == 1)
}
