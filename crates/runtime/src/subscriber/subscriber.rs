//! A subscriber as a user writes it.
use super::EffectError;
use foldwright_domain::{EventSet, Recorded};
use serde::{Serialize, de::DeserializeOwned};

/// A side effect after a projection's row is durable: at least once for each event it wants, with that event and the
/// stored state.
///
/// Attached inside its fold or map, so one that listens to nothing cannot be written. Its events and state are
/// those of the projection: a mismatch does not compile.
pub trait Subscriber: Send + Sync + 'static {
    /// The events of its projection.
    type On: EventSet;
    /// The state of its fold, or the record of its map.
    type State: Serialize + DeserializeOwned + Send + Sync + 'static;

    /// Its name in routes. Data for the queue: renaming the Rust type must not change it.
    const NAME: &'static str;

    /// Whether it wants this event, given the state after it. Pure, and asked before anything is staged.
    ///
    /// Fails open: a panic is logged and counted and means yes, because one run too many is cheaper than a lost one.
    fn when(_event: &Recorded<Self::On>, _state: &Self::State) -> bool {
        true
    }

    /// What runs are merged by under `Debounce` and `Throttle` of [`Dispatch`](foldwright_domain::Dispatch); the
    /// projection's key unless it says otherwise. 1–1,024 bytes; a panic, or what is no key, is counted and means the default.
    fn dedup_id(_event: &Recorded<Self::On>) -> Option<String> {
        None
    }

    /// What keeps runs in order under [`Dispatch::Each`](foldwright_domain::Dispatch); without it they run in
    /// parallel. 1–1,024 bytes; a panic, or what is no key, is counted and means the default.
    fn group_key(_event: &Recorded<Self::On>) -> Option<String> {
        None
    }

    /// The effect. May run again for the same event, so make it idempotent. Dropped, and tried again, when it takes longer
    /// than the worker's `effect_timeout`, or when a kernel that is stopped has drained for long enough.
    ///
    /// # Errors
    /// [`EffectError`] says whether another attempt can help.
    fn run(
        &self,
        event: &Recorded<Self::On>,
        state: &Self::State,
    ) -> impl Future<Output = Result<(), EffectError>> + Send;
}
