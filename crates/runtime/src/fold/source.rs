//! What belongs to one state: the events of an aggregate, or those under a key.
use crate::{catch::caught, lean::seen};
use async_trait::async_trait;
use foldwright_domain::{AggregateId, EventSet, Fold, InvalidId, KeyedFold, RawEvent, Recorded, StreamKey};
use foldwright_ports::{Cursor, Error, EventLog, Kind, Limits, Page, Selection, StateKey};
use std::{marker::PhantomData, sync::Arc};

/// How many events a refold reads at a time.
const PAGE: Limits = Limits {
    items: 1_000,
    bytes: 8 << 20,
};

/// Where an event belongs.
pub(crate) struct Placed {
    pub(crate) key: Arc<str>,
    /// It lies outside the window that its fold gives for its key.
    pub(crate) outside: bool,
}

/// Finds the key of an event and the events of a key.
#[async_trait]
pub(crate) trait KeyRule<F: Fold>: Send + Sync + 'static {
    /// The key that an event belongs to; also the key of the group its job runs in.
    fn group_key(&self, event: &RawEvent) -> Result<Arc<str>, KeyError>;

    /// The same, and whether a refold of that key would not find the event.
    fn placed(&self, event: &RawEvent) -> Result<Placed, KeyError> {
        let key = self.group_key(event)?;
        Ok(Placed { key, outside: false })
    }

    /// The key under which the state of a group is stored.
    fn state_key<'a>(&self, group_key: &'a str) -> &'a str;

    /// A page of the log that holds the key's events, perhaps among others.
    async fn page(
        &self,
        log: &dyn EventLog,
        key: &StateKey,
        from: Option<Cursor>,
    ) -> Result<Page<RawEvent>, Error>;

    /// Whether the pages hold what any version of the fold has read of the key, and not what this one reads alone.
    fn pages_hold_other_versions(&self) -> bool;

    /// Whether an event of such a page belongs to the key.
    fn holds(&self, key: &StateKey, event: &Recorded<F::On>) -> bool;
}

/// Why an event has no key.
#[derive(Debug, thiserror::Error)]
pub(crate) enum KeyError {
    #[error(transparent)]
    Decode(#[from] foldwright_domain::DecodeError),
    #[error("the key does not encode: {0}")]
    Encode(#[from] serde_json::Error),
    #[error("the key of a keyed fold is 1-512 bytes of JSON: {0}")]
    Length(#[from] InvalidId),
    #[error("finding the key panicked: {0}")]
    Panicked(String),
}

/// One state per aggregate.
pub(crate) struct ByAggregate {
    aggregate_type: &'static str,
}

impl ByAggregate {
    pub(crate) fn new(aggregate_type: &'static str) -> Self {
        Self { aggregate_type }
    }
}

#[async_trait]
impl<F: Fold> KeyRule<F> for ByAggregate {
    fn group_key(&self, event: &RawEvent) -> Result<Arc<str>, KeyError> {
        Ok(aggregate_group_key(&event.meta.stream))
    }

    fn state_key<'a>(&self, group_key: &'a str) -> &'a str {
        group_key.split_once(':').map_or(group_key, |(_, id)| id)
    }

    async fn page(
        &self,
        log: &dyn EventLog,
        key: &StateKey,
        from: Option<Cursor>,
    ) -> Result<Page<RawEvent>, Error> {
        let id = AggregateId::parse(key.key.clone())
            .map_err(|source| Error::new(Kind::Invalid, "refold", "no aggregate id").caused_by(source))?;
        let stream = StreamKey {
            tenant: key.tenant.clone(),
            aggregate_type: self.aggregate_type.into(),
            id,
        };
        log.load(&stream, from, PAGE).await
    }

    fn pages_hold_other_versions(&self) -> bool {
        true
    }

    fn holds(&self, _key: &StateKey, _event: &Recorded<F::On>) -> bool {
        true
    }
}

/// The group key of work that is ordered by aggregate.
pub(crate) fn aggregate_group_key(stream: &StreamKey) -> Arc<str> {
    format!("{}:{}", stream.aggregate_type, stream.id).into()
}

/// One state per key of a keyed fold.
pub(crate) struct ByKey<F>(PhantomData<fn() -> F>);

impl<F: KeyedFold> ByKey<F> {
    pub(crate) fn new() -> Self {
        Self(PhantomData)
    }
}

#[async_trait]
impl<F: KeyedFold> KeyRule<F> for ByKey<F> {
    fn group_key(&self, event: &RawEvent) -> Result<Arc<str>, KeyError> {
        json_key::<F>(&read::<F>(event)?)
    }

    fn placed(&self, event: &RawEvent) -> Result<Placed, KeyError> {
        let event = read::<F>(event)?;
        let key = caught(|| F::key(&event)).map_err(KeyError::Panicked)?;
        let window = caught(|| F::window(&key)).map_err(KeyError::Panicked)?;
        Ok(Placed {
            key: key_text(&key)?,
            outside: !window.contains(&event.meta.occurred_at),
        })
    }

    fn state_key<'a>(&self, group_key: &'a str) -> &'a str {
        group_key
    }

    async fn page(
        &self,
        log: &dyn EventLog,
        key: &StateKey,
        from: Option<Cursor>,
    ) -> Result<Page<RawEvent>, Error> {
        let undecodable = || {
            Error::new(
                Kind::Corrupt,
                "refold",
                "the stored key of a keyed fold does not decode",
            )
        };
        let typed: F::Key = caught(|| serde_json::from_str(&key.key))
            .map_err(|message| undecodable().caused_by(message))?
            .map_err(|source| undecodable().caused_by(source))?;
        let window = caught(|| F::window(&typed)).map_err(|message| {
            Error::new(Kind::Invalid, "refold", format!("`window` panicked: {message}"))
        })?;
        let selection = Selection {
            tenant: key.tenant.clone(),
            aggregate_types: Vec::new(),
            event_types: F::On::CATALOG
                .iter()
                .copied()
                .flatten()
                .map(|d| d.event_type.into())
                .collect(),
            occurred: Some(window),
        };
        log.scan(&selection, from, PAGE).await
    }

    /// Types and window are those of this version.
    fn pages_hold_other_versions(&self) -> bool {
        false
    }

    fn holds(&self, key: &StateKey, event: &Recorded<F::On>) -> bool {
        json_key::<F>(event).is_ok_and(|found| found == key.key)
    }
}

fn read<F: Fold>(event: &RawEvent) -> Result<Recorded<F::On>, KeyError> {
    let data = seen::<F::On>(event).map_err(KeyError::Panicked)??;
    Ok(Recorded {
        meta: event.meta.clone(),
        data,
    })
}

/// The JSON of the key that an event belongs to.
pub(crate) fn json_key<F: KeyedFold>(event: &Recorded<F::On>) -> Result<Arc<str>, KeyError> {
    let key = caught(|| F::key(event)).map_err(KeyError::Panicked)?;
    key_text(&key)
}

/// The JSON of a key, checked for its length.
pub(crate) fn key_text<K: serde::Serialize>(key: &K) -> Result<Arc<str>, KeyError> {
    let text: Arc<str> = caught(|| serde_json::to_string(key))
        .map_err(KeyError::Panicked)??
        .into();
    AggregateId::parse(text.clone())?;
    Ok(text)
}
