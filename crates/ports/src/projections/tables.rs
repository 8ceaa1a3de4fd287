//! Typed tables, for those who want columns instead of JSON.
use crate::{Record, Result, StateKey, StateRow, Stored};
use async_trait::async_trait;

/// A state row with a typed state.
pub type FoldRow<S> = StateRow<S>;

/// A table of one fold, with columns of the user's own. Bound to a fold at the composition root.
///
/// The contract is that of [`FoldStore`](crate::FoldStore): revisions decide, absence is authoritative, the ledger
/// and the other fields of the envelope are kept as they are.
#[async_trait]
pub trait StateTable<S>: Send + Sync + 'static {
    /// The rows of these keys, in the order asked. The state of a row is `None` where the stored one is not what `S`
    /// says (an older version, or broken): the kernel then rebuilds it from the log.
    async fn load(&self, keys: &[StateKey]) -> Result<Vec<Option<FoldRow<Option<S>>>>>;

    /// Stores rows; answers in the order of the call.
    async fn store(&self, rows: Vec<FoldRow<S>>) -> Vec<Result<Stored>>;
}

/// A table of one map, with columns of the user's own. The contract is that of [`AppendStore`](crate::AppendStore).
#[async_trait]
pub trait RecordTable<R>: Send + Sync + 'static {
    /// Appends records; answers in the order of the call.
    async fn append(&self, records: Vec<Record<R>>) -> Vec<Result<()>>;
}
