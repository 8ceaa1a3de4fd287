//! Folds: ordered state from events.
use crate::{EventSet, Recorded};
use serde::{Serialize, de::DeserializeOwned};

/// State that is the left fold of the distinct events of one aggregate (or of one key, see
/// [`KeyedFold`](crate::KeyedFold)).
///
/// A fold that is added to a running service begins with the events that come then: nothing fills in the earlier ones by
/// itself.
///
/// `apply` is one `match` over [`On`](Self::On), so an event that the fold does not handle does not compile. Time
/// stamps of the state belong to the kernel's envelope and have no place in `State`. Use ordered maps and sets in
/// it, so that equal states are equal bytes.
pub trait Fold: Send + Sync + 'static {
    /// The events it reads.
    type On: EventSet;
    /// What it keeps.
    type State: Clone + Serialize + DeserializeOwned + Send + Sync + 'static;
    /// Whether order matters: [`Commutative`] or [`ByOccurrence`].
    type Order: OrderKind;

    /// Its name in routes and stores.
    const NAME: &'static str;
    /// Raise it whenever `apply` or `State` changes: a stored state of an older version is rebuilt from the log with the
    /// next event of its aggregate or key.
    const VERSION: u32;
    /// How many of its newest events are kept beside the state before them, so that one that comes late among them is
    /// folded without reading the log. 0, the default, keeps none; at most 256 are kept. Bears on a [`ByOccurrence`] fold
    /// alone. Each write stores the state twice and these events, so it pays where states are small and small disorder is
    /// common.
    const REORDER_WINDOW: usize = 0;

    /// The state before the first event.
    fn init() -> Self::State;

    /// The state after one more event. Pure.
    fn apply(state: Self::State, event: &Recorded<Self::On>) -> Self::State;
}

/// How the order of events bears on a fold. A type and not a value, so that misuse fails in `cargo check`.
pub trait OrderKind: sealed::Sealed + Send + Sync + 'static {
    /// Whether events must be applied in canonical order.
    const CANONICAL: bool;
}

/// Any order gives the same state.
#[derive(Debug)]
pub enum Commutative {}

/// Events are applied by `(occurred_at, id)`; one that comes late leads to a refold.
#[derive(Debug)]
pub enum ByOccurrence {}

impl OrderKind for Commutative {
    const CANONICAL: bool = false;
}

impl OrderKind for ByOccurrence {
    const CANONICAL: bool = true;
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for super::Commutative {}
    impl Sealed for super::ByOccurrence {}
}
