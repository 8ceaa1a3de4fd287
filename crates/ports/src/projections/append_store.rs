//! Where maps keep their records.
use crate::{Cursor, Limits, Page, Result};
use async_trait::async_trait;
use bytes::Bytes;
use foldwright_domain::{Identity, Position, StreamKey, TenantId};
use std::sync::Arc;

/// What a map made of one event, as bytes `B` or typed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Record<B = Bytes> {
    /// The stream of the event; its tenant owns the record.
    pub stream: StreamKey,
    /// The map's name.
    pub projection: Arc<str>,
    /// The map's `VERSION` that made it.
    pub version: u32,
    /// The event's identity.
    pub identity: Identity,
    /// The event's place in canonical order.
    pub position: Position,
    /// The record; JSON where it is bytes.
    pub record: B,
}

/// Records by `(tenant, projection, identity)`; readers see the highest map version alone.
///
/// # Contract
/// [`append`](Self::append) is idempotent by projection, version and identity. There is no read by key that a map
/// could build on; [`list`](Self::list) serves readers.
///
/// # Ordering
/// None while appending; lists are in canonical order. A list sees every append that returned before it began.
///
/// # Durability
/// A record whose append returned survives the death of process and engine.
///
/// # Idempotency
/// Appending again changes nothing. A lower version never hides a higher one.
///
/// # Cancellation
/// Dropping a call leaves it undecided whether it took effect; repeat it.
///
/// # Errors
/// Per record. A call that holds records of several tenants is split by the adapter, never refused as a whole.
///
/// # How engines meet it
/// *SQLite, Postgres*: an upsert that keeps the higher version. *ClickHouse*: `ReplacingMergeTree` keyed by tenant,
/// projection and identity with the version as its version column, read with `FINAL`; inserts gathered.
#[async_trait]
pub trait AppendStore: Send + Sync + 'static {
    /// What this adapter is, for people who look at what was wired: the Rust type unless it says otherwise.
    fn adapter(&self) -> &'static str {
        std::any::type_name::<Self>()
    }

    /// How many calls it serves at a time, where that is bounded (a pool of connections); `None` where callers never wait
    /// for each other's place. A kernel whose worker needs more does not start.
    fn connections(&self) -> Option<usize> {
        None
    }

    /// Appends records; answers in the order of the call.
    async fn append(&self, records: Vec<Record>) -> Vec<Result<()>>;

    /// Records of one tenant and map, in canonical order; of one aggregate when `aggregate_id` is given.
    async fn list(
        &self,
        tenant: &TenantId,
        projection: &str,
        aggregate_id: Option<&str>,
        from: Option<Cursor>,
        limits: Limits,
    ) -> Result<Page<Record>>;
}
