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

/// The newest tag that a stored body begins with.
const NEWEST: u8 = 2;

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
        let bytes = stored.len() as u64;
        let tagged = tagged(encoding, &stored);
        if stored.len() <= INLINE_BYTES {
            return Ok(Written {
                body: Body::Inline(tagged),
                info: BodyInfo {
                    raw_bytes,
                    blob: None,
                },
            });
        }
        let hash = BlobHash::of(raw);
        self.tier(bytes)
            .put(
                &BlobRef {
                    tenant: tenant.clone(),
                    hash,
                },
                tagged,
            )
            .await?;
        Ok(Written {
            body: Body::Blob { hash, bytes },
            info: BodyInfo {
                raw_bytes,
                blob: Some(hash),
            },
        })
    }

    /// The raw bytes of a job's body or context. The tenant is that of the job's group, whatever the header says.
    pub(crate) async fn read(&self, tenant: &TenantId, body: &Body) -> Result<Bytes, BodyError> {
        match body {
            Body::Inline(stored) => unpack(stored.clone()),
            Body::Blob { hash, bytes } => {
                let blob = BlobRef {
                    tenant: tenant.clone(),
                    hash: *hash,
                };
                let stored = self
                    .tier(*bytes)
                    .get(&blob)
                    .await?
                    .ok_or(BodyError::Missing { hash: *hash })?;
                let raw = unpack(stored)?;
                if BlobHash::of(&raw) != *hash {
                    return Err(BodyError::Forged { hash: *hash });
                }
                Ok(raw)
            }
        }
    }

    fn tier(&self, stored_bytes: u64) -> &Arc<dyn BlobStore> {
        if stored_bytes <= HOT_BYTES {
            &self.hot
        } else {
            &self.cold
        }
    }
}

/// The tagged body of raw bytes, as it would lie in its job or in a tier.
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) fn pack(raw: &Bytes) -> Result<Bytes, TooLarge> {
    let (encoding, stored) = codec::pack(raw)?;
    Ok(tagged(encoding, &stored))
}

/// Stored bytes say themselves how they are encoded: the first writer of a content decides, and a later one may
/// compress it differently.
fn tagged(encoding: Encoding, stored: &Bytes) -> Bytes {
    let tag = match encoding {
        Encoding::Plain => 1,
        Encoding::Deflate => 2,
    };
    let mut tagged = Vec::with_capacity(stored.len() + 1);
    tagged.push(tag);
    tagged.extend_from_slice(stored);
    tagged.into()
}

/// The raw bytes of a tagged body.
pub(crate) fn unpack(mut stored: Bytes) -> Result<Bytes, BodyError> {
    let what = "body";
    if stored.is_empty() {
        return Err(WireError::Missing { what }.into());
    }
    let encoding = match stored.split_to(1).as_ref() {
        [1] => Encoding::Plain,
        [2] => Encoding::Deflate,
        [version] if *version > NEWEST => {
            return Err(WireError::Newer {
                what,
                version: *version,
                newest: NEWEST,
            }
            .into());
        }
        _ => return Err(WireError::Foreign { what }.into()),
    };
    Ok(codec::unpack(encoding, stored)?)
}
