//! Where large bodies lie.
use crate::{BlobRef, Cursor, Limits, Page, Result};
use async_trait::async_trait;
use bytes::Bytes;
use foldwright_domain::Millis;

/// A body as a sweep sees it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BlobEntry {
    /// Which body.
    pub blob: BlobRef,
    /// Its stored size in bytes.
    pub bytes: u64,
    /// When it was last put, by the store's clock.
    pub touched_at: Millis,
}

/// Bodies by tenant and content hash.
///
/// # Contract
/// The store knows nothing of jobs: the queue knows who holds a body, and a sweep asks both. [`get`](Self::get)
/// answers `None` only where the body is certainly absent.
///
/// # Ordering
/// A get sees every put that returned before it began.
///
/// # Durability
/// A body whose put returned survives the death of process and engine.
///
/// # Idempotency
/// The second put of a body changes nothing but `touched_at`.
///
/// # Cancellation
/// Dropping a call leaves it undecided whether it took effect; repeat it.
///
/// # Errors
/// A store that cannot answer says so; it never answers `None` instead.
///
/// # How engines meet it
/// *S3*: key `tenant/hash`, `LastModified` is `touched_at`; a delete cannot be conditional there, so the sweep's
/// margin covers the gap. *Redis*: a string per body without expiry. *SQLite, Postgres*: a row per body.
#[async_trait]
pub trait BlobStore: Send + Sync + 'static {
    /// What this adapter is, for people who look at what was wired: the Rust type unless it says otherwise.
    fn adapter(&self) -> &'static str {
        std::any::type_name::<Self>()
    }

    /// Stores the bytes of a body under its name.
    async fn put(&self, blob: &BlobRef, stored: Bytes) -> Result<()>;

    /// The bytes as stored; `None` where the body is certainly absent.
    async fn get(&self, blob: &BlobRef) -> Result<Option<Bytes>>;

    /// Bodies of all tenants that were last put before `touched_before`, in a stable order.
    async fn list(
        &self,
        touched_before: Millis,
        from: Option<Cursor>,
        limits: Limits,
    ) -> Result<Page<BlobEntry>>;

    /// Deletes a body unless it was put at or after `touched_before`; answers whether it was deleted.
    async fn delete_untouched(&self, blob: &BlobRef, touched_before: Millis) -> Result<bool>;
}
