//! Bodies in memory.
use crate::{
    cursor::{Reader, Writer},
    lock::lock,
    pager::page,
};
use async_trait::async_trait;
use bytes::Bytes;
use foldwright_domain::{Millis, TenantId};
use foldwright_ports::{BlobEntry, BlobHash, BlobRef, BlobStore, Clock, Cursor, Limits, Page, Result};
use std::{
    collections::{BTreeMap, btree_map::Entry},
    fmt,
    ops::Bound,
    sync::{Arc, Mutex},
};

const CURSOR: u8 = b'b';
const HASH_BYTES: usize = 32;

/// Bodies by tenant and hash.
pub(crate) struct MemoryBlobs {
    clock: Arc<dyn Clock>,
    blobs: Mutex<BTreeMap<BlobRef, Blob>>,
}

struct Blob {
    stored: Bytes,
    touched_at: Millis,
}

impl MemoryBlobs {
    pub(crate) fn new(clock: Arc<dyn Clock>) -> Self {
        Self {
            clock,
            blobs: Mutex::default(),
        }
    }
}

impl fmt::Debug for MemoryBlobs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryBlobs").finish_non_exhaustive()
    }
}

#[async_trait]
impl BlobStore for MemoryBlobs {
    async fn put(&self, blob: &BlobRef, stored: Bytes) -> Result<()> {
        let mut blobs = lock(&self.blobs);
        let touched_at = self.clock.now();
        match blobs.entry(blob.clone()) {
            Entry::Occupied(mut there) => there.get_mut().touched_at = touched_at,
            Entry::Vacant(free) => {
                free.insert(Blob { stored, touched_at });
            }
        }
        Ok(())
    }

    async fn get(&self, blob: &BlobRef) -> Result<Option<Bytes>> {
        Ok(lock(&self.blobs).get(blob).map(|found| found.stored.clone()))
    }

    async fn list(
        &self,
        touched_before: Millis,
        from: Option<Cursor>,
        limits: Limits,
    ) -> Result<Page<BlobEntry>> {
        let from = match &from {
            Some(cursor) => Bound::Excluded(to_ref(cursor)?),
            None => Bound::Unbounded,
        };
        let blobs = lock(&self.blobs);
        let rows = blobs.range((from, Bound::Unbounded)).map(|(name, found)| {
            let entry = (found.touched_at < touched_before).then(|| {
                let entry = BlobEntry {
                    blob: name.clone(),
                    bytes: found.stored.len() as u64,
                    touched_at: found.touched_at,
                };
                (entry, name.tenant.as_str().len() + HASH_BYTES)
            });
            (name, entry)
        });
        Ok(page(limits, rows, |name| of_ref(name)))
    }

    async fn delete_untouched(&self, blob: &BlobRef, touched_before: Millis) -> Result<bool> {
        let mut blobs = lock(&self.blobs);
        let untouched = blobs
            .get(blob)
            .is_some_and(|found| found.touched_at < touched_before);
        if untouched {
            blobs.remove(blob);
        }
        Ok(untouched)
    }
}

fn of_ref(blob: &BlobRef) -> Cursor {
    Writer::new(CURSOR)
        .text(blob.tenant.as_str())
        .bytes(blob.hash.0)
        .done()
}

fn to_ref(cursor: &Cursor) -> Result<BlobRef> {
    let mut reader = Reader::new(cursor, CURSOR, "list blobs")?;
    let (tenant, hash) = (reader.text()?, BlobHash(reader.bytes()?));
    reader.end()?;
    Ok(BlobRef {
        tenant: TenantId::parse(tenant).map_err(|error| reader.bad().caused_by(error))?,
        hash,
    })
}
