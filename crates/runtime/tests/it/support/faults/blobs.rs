//! A blob store behind a script. Its calls are about bodies, as `tier/tenant/hash`.
use super::{Faults, Op};
use async_trait::async_trait;
use bytes::Bytes;
use foldwright_domain::Millis;
use foldwright_ports::{BlobEntry, BlobRef, BlobStore, Cursor, Limits, Page, Result};
use std::sync::Arc;

pub(crate) struct FaultyBlobs {
    pub(super) inner: Arc<dyn BlobStore>,
    pub(super) faults: Arc<Faults>,
    pub(super) tier: &'static str,
}

impl FaultyBlobs {
    fn about(&self, blob: &BlobRef) -> Vec<String> {
        vec![format!("{}/{}/{}", self.tier, blob.tenant, blob.hash)]
    }
}

#[async_trait]
impl BlobStore for FaultyBlobs {
    async fn put(&self, blob: &BlobRef, stored: Bytes) -> Result<()> {
        self.faults
            .through(Op::Put, self.about(blob), self.inner.put(blob, stored), Err)
            .await
    }

    async fn get(&self, blob: &BlobRef) -> Result<Option<Bytes>> {
        self.faults
            .through(Op::Get, self.about(blob), self.inner.get(blob), Err)
            .await
    }

    async fn list(
        &self,
        touched_before: Millis,
        from: Option<Cursor>,
        limits: Limits,
    ) -> Result<Page<BlobEntry>> {
        let about = vec![self.tier.to_owned()];
        self.faults
            .through(
                Op::ListBlobs,
                about,
                self.inner.list(touched_before, from, limits),
                Err,
            )
            .await
    }

    async fn delete_untouched(&self, blob: &BlobRef, touched_before: Millis) -> Result<bool> {
        let call = self.inner.delete_untouched(blob, touched_before);
        self.faults
            .through(Op::DeleteBlob, self.about(blob), call, Err)
            .await
    }
}
