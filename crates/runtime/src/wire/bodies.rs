//! Where bodies go: into the job, the hot tier or the cold one.
use super::{BodyInfo, Encoding, TooLarge, WireError, codec};
use bytes::Bytes;
use foldwright_domain::TenantId;
use foldwright_ports::{BlobHash, BlobRef, BlobStore, Body, Error};
use std::sync::Arc;

/// Up to this stored size a body travels in its job: 4 KiB.
pub(crate) const INLINE_BYTES: usize = 4 << 10;

/// Up to this stored size a body lies in the hot tier: 256 KiB.
pub(crate) const HOT_BYTES: u64 = 256 << 10;

/// Writes and reads bodies. The stored size picks the tier, the raw size the refusal.
#[derive(Clone)]
pub(crate) struct Bodies {
    hot: Arc<dyn BlobStore>,
    cold: Arc<dyn BlobStore>,
}

/// A body that is durable and ready for any number of jobs.
#[derive(Clone, Debug)]
pub(crate) struct Written {
    pub(crate) body: Body,
    pub(crate) info: BodyInfo,
}

/// Why a body could not be written or read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BodyError {
    #[error(transparent)]
    TooLarge(#[from] TooLarge),
    #[error("the body {hash} is gone from its tier")]
    Missing { hash: BlobHash },
    #[error("the body {hash} is not what its name says")]
    Forged { hash: BlobHash },
    #[error(transparent)]
    Wire(#[from] WireError),
    #[error(transparent)]
    Store(#[from] Error),
}

impl Bodies {
    pub(crate) fn new(hot: Arc<dyn BlobStore>, cold: Arc<dyn BlobStore>) -> Self {
        Self { hot, cold }
    }

    /// Makes raw bytes ready to be carried. Returns only when they are durable where they lie outside the job.
    pub(crate) async fn write(&self, tenant: &TenantId, raw: &Bytes) -> Result<Written, BodyError> {
        let (encoding, stored) = codec::pack(raw)?;
        let raw_bytes = raw.len() as u64;
        if stored.len() <= INLINE_BYTES {
            let info = BodyInfo { encoding, raw_bytes, blob: None };
            return Ok(Written { body: Body::Inline(stored), info });
        }
        let hash = BlobHash::of(raw);
        let bytes = stored.len() as u64;
        self.tier(bytes).put(&BlobRef { tenant: tenant.clone(), hash }, tagged(encoding, &stored)).await?;
        let info = BodyInfo { encoding, raw_bytes, blob: Some(hash) };
        Ok(Written { body: Body::Blob { hash, bytes }, info })
    }

    /// The raw bytes of a job's body. The tenant is that of the job's group, whatever the header says.
    pub(crate) async fn read(&self, tenant: &TenantId, body: &Body, info: &BodyInfo) -> Result<Bytes, BodyError> {
        match body {
            Body::Inline(stored) => Ok(codec::unpack(info.encoding, stored.clone())?),
            Body::Blob { hash, bytes } => {
                let blob = BlobRef { tenant: tenant.clone(), hash: *hash };
                let stored = self.tier(*bytes).get(&blob).await?.ok_or(BodyError::Missing { hash: *hash })?;
                let (encoding, stored) = untagged(stored)?;
                let raw = codec::unpack(encoding, stored)?;
                if BlobHash::of(&raw) != *hash {
                    return Err(BodyError::Forged { hash: *hash });
                }
                Ok(raw)
            }
        }
    }

    fn tier(&self, stored_bytes: u64) -> &Arc<dyn BlobStore> {
        if stored_bytes <= HOT_BYTES { &self.hot } else { &self.cold }
    }
}

/// A blob says itself how it is encoded: the first writer of a content decides, and later ones may compress
/// differently.
fn tagged(encoding: Encoding, stored: &Bytes) -> Bytes {
    let tag = match encoding {
        Encoding::Plain => 1,
        Encoding::Deflate => 2,
    };
    std::iter::once(tag).chain(stored.iter().copied()).collect()
}

fn untagged(mut blob: Bytes) -> Result<(Encoding, Bytes), WireError> {
    let what = "blob";
    if blob.is_empty() {
        return Err(WireError::Missing { what });
    }
    match blob.split_to(1).as_ref() {
        [1] => Ok((Encoding::Plain, blob)),
        [2] => Ok((Encoding::Deflate, blob)),
        _ => Err(WireError::Foreign { what }),
    }
}
