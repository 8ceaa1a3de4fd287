//! Reading and writing events.
use crate::Descriptor;

/// What a projection reads. Three derives write it: `Event` (the whole enum of an aggregate), `Subset` (some of its
/// variants) and `Union` (enums of several aggregates, for global projections).
///
/// Only events whose type stands in [`CATALOG`](Self::CATALOG) are handed to [`decode`](Self::decode) by the
/// kernel.
pub trait EventSet: Sized + Send + Sync + 'static {
    /// Every type and version that can be read, a list per aggregate.
    const CATALOG: &'static [&'static [Descriptor]];

    /// Reads the JSON data of a stored event, through its upcasters where it is of an older version.
    ///
    /// # Errors
    /// [`DecodeError::Unknown`] for a type or version that is not in the catalogue, [`DecodeError::Data`] for data
    /// that does not fit. Never a skip.
    fn decode(event_type: &str, version: &str, data: &[u8]) -> Result<Self, DecodeError>;

    /// Reads it as [`decode`](Self::decode) does and thins it: what folds, maps and subscribers see, whether the event
    /// comes from the queue or from the log. `derive(Event)` calls the function that a variant names with
    /// `#[event(lean = …)]`; without one the event is seen whole.
    ///
    /// Thinning is a pure function of the data, and thinning what is thinned changes nothing. As with `apply`, another
    /// `lean` is another fold: raise the `VERSION` of the folds and maps that read the event.
    ///
    /// # Errors
    /// As [`decode`](Self::decode).
    fn decode_lean(event_type: &str, version: &str, data: &[u8]) -> Result<Self, DecodeError> {
        Self::decode(event_type, version, data)
    }

    /// The thinned data of a stored event, for the jobs that carry it; `None` where the whole goes: it is not thinned, it
    /// would not become smaller, it is of an older version, or what is read of the thinned data would not be what is read
    /// of the whole. Projections see the same in any case.
    #[must_use]
    fn thinned(_event_type: &str, _version: &str, _data: &[u8]) -> Option<Vec<u8>> {
        None
    }

    /// Whether events of this type belong to the set.
    #[must_use]
    fn reads(event_type: &str) -> bool {
        Self::CATALOG
            .iter()
            .copied()
            .flatten()
            .any(|d| d.event_type == event_type)
    }
}

/// All events of one aggregate, as one enum; written by `derive(Event)`.
pub trait Event: EventSet {
    /// The type and version under which this event is written.
    fn descriptor(&self) -> &'static Descriptor;

    /// The event's data as JSON.
    ///
    /// # Errors
    /// [`EncodeError`] when serde refuses, for example a map whose keys are no strings.
    fn encode(&self) -> Result<Vec<u8>, EncodeError>;
}

/// Events of aggregate `A` alone: its enum, or a subset of it. A union is none, so a fold over a union needs a key.
pub trait EventsOf<A: ?Sized>: EventSet {}

/// Why a stored event cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DecodeError {
    /// The catalogue does not list it.
    #[error("unknown event {event_type} of {version}: deploy a build that knows it, or add an upcaster")]
    Unknown {
        /// Its type.
        event_type: String,
        /// Its version.
        version: String,
    },
    /// The data is not what this type and version say.
    #[error("the data of event {event_type} of {version} does not decode: {source}")]
    Data {
        /// Its type.
        event_type: String,
        /// Its version.
        version: String,
        /// Where it failed.
        source: serde_json::Error,
    },
}

impl DecodeError {
    /// For the derives: the catalogue does not list this event.
    #[must_use]
    pub fn unknown(event_type: &str, version: &str) -> Self {
        Self::Unknown {
            event_type: event_type.into(),
            version: version.into(),
        }
    }

    /// For the derives: the data does not fit.
    #[must_use]
    pub fn data(event_type: &str, version: &str, source: serde_json::Error) -> Self {
        Self::Data {
            event_type: event_type.into(),
            version: version.into(),
            source,
        }
    }
}

/// Why an event cannot be written.
#[derive(Debug, thiserror::Error)]
#[error("event {event_type} does not encode: {source}")]
pub struct EncodeError {
    /// Its type.
    pub event_type: &'static str,
    /// What serde said.
    pub source: serde_json::Error,
}
