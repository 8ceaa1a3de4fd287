//! Folds under a key of their own.
use crate::{Commutative, Fold, Millis, Recorded};
use serde::{Serialize, de::DeserializeOwned};
use std::ops::Range;

/// A fold over events of many aggregates, and of several pipelines, under a key within one tenant: usage, billing,
/// totals. Commutative by its bound, because canonical order is an order within one aggregate.
pub trait KeyedFold: Fold<Order = Commutative> {
    /// What gathers events. Serialises to 1–512 bytes of JSON.
    type Key: Serialize + DeserializeOwned + Send + Sync + 'static;

    /// The key of an event.
    fn key(event: &Recorded<Self::On>) -> Self::Key;

    /// Every event of `key` has its `occurred_at` in this range: what a refold reads from the log.
    fn window(key: &Self::Key) -> Range<Millis>;
}
