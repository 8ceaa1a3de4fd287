//! Where folds keep their states.
use crate::{Cursor, Limits, Page, Result, Revision, StateKey};
use async_trait::async_trait;
use bytes::Bytes;
use foldwright_domain::{Millis, Position, TenantId};

/// A fold's state with its envelope, as bytes `B` or typed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StateRow<B = Bytes> {
    /// What it is the state of.
    pub key: StateKey,
    /// The state; JSON where it is bytes.
    pub state: B,
    /// The fold's `VERSION` that made it.
    pub fold_version: u32,
    /// Decides between two writes.
    pub revision: Revision,
    /// How many distinct events it holds.
    pub events: u64,
    /// The canonically last event it holds; `None` before the first.
    pub last_applied: Option<Position>,
    /// When it was first stored. Never changes.
    pub created_at: Millis,
    /// When it was last stored. Grows by at least 1 with each write, whatever the clock does.
    pub updated_at: Millis,
    /// The runtime's own notes: which events are in, which subscriber jobs this write decided. Opaque to stores.
    pub ledger: Bytes,
}

/// What became of one row.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stored {
    /// It stands.
    Yes,
    /// A row of the same or a higher revision stood already; nothing changed.
    Superseded {
        /// The revision that stands.
        by: Revision,
    },
}

/// States by key; of two writes the one with the higher revision stands.
///
/// # Contract
/// [`store`](Self::store) replaces a row only by one of a strictly higher [`Revision`], compared and written in one
/// step. Absence is authoritative: [`load`](Self::load) answers `None` only where no row exists, and an error
/// wherever it cannot know.
///
/// # Ordering
/// A load sees every store that returned before it began.
///
/// # Durability
/// A row whose store returned `Yes` survives the death of process and engine.
///
/// # Idempotency
/// Storing the same revision again answers `Superseded` by itself and changes nothing.
///
/// # Cancellation
/// Dropping a call leaves it undecided whether it took effect.
///
/// # Errors
/// Per row, so that one unstorable row does not fail its neighbours. A timeout is an error, never `None`.
///
/// # How engines meet it
/// *SQLite, Postgres*: an upsert with a condition on the revision. *ClickHouse*: rows are only inserted and readers
/// take the highest revision; `Superseded` may then come from the read before the insert, and a late row loses by
/// its revision. *Redis* is a cache of it, never the store.
#[async_trait]
pub trait FoldStore: Send + Sync + 'static {
    /// What this adapter is, for people who look at what was wired: the Rust type unless it says otherwise.
    fn adapter(&self) -> &'static str {
        std::any::type_name::<Self>()
    }

    /// How many calls it serves at a time, where that is bounded (a pool of connections); `None` where callers never wait
    /// for each other's place. A kernel whose worker needs more does not start.
    fn connections(&self) -> Option<usize> {
        None
    }

    /// The rows of these keys, in the order asked.
    async fn load(&self, keys: &[StateKey]) -> Result<Vec<Option<StateRow>>>;

    /// Stores rows; answers in the order of the call.
    async fn store(&self, rows: Vec<StateRow>) -> Vec<Result<Stored>>;

    /// The rows of one fold and tenant, ordered by the bytes of the key.
    async fn list(
        &self,
        tenant: &TenantId,
        projection: &str,
        from: Option<Cursor>,
        limits: Limits,
    ) -> Result<Page<StateRow>>;
}
