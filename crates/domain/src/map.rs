//! Maps: one record from one event.
use crate::{EventSet, Recorded};
use serde::{Serialize, de::DeserializeOwned};

/// A record for an event, in no order and in parallel.
///
/// Appending is idempotent by projection, version and the event's identity, so an event that comes again makes no
/// second record.
pub trait Map: Send + Sync + 'static {
    /// The events it reads.
    type On: EventSet;
    /// What it keeps of one.
    type Record: Clone + Serialize + DeserializeOwned + Send + Sync + 'static;

    /// Its name in routes and stores.
    const NAME: &'static str;
    /// Raise it whenever `map` changes: of one event's records readers see that of the highest version alone.
    const VERSION: u32;

    /// The record of an event; `None` skips it.
    fn map(event: &Recorded<Self::On>) -> Option<Self::Record>;
}
