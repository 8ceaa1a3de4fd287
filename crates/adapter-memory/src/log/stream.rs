//! The events of one stream.
use foldwright_domain::{AggregateId, EventId, Identity, Position, RawEvent, StreamKey};
use std::{collections::BTreeMap, sync::Arc};

/// A stream's name within its tenant.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct StreamName {
    pub(super) aggregate_type: Arc<str>,
    pub(super) id: AggregateId,
}

impl StreamName {
    pub(super) fn of(stream: &StreamKey) -> Self {
        Self {
            aggregate_type: stream.aggregate_type.clone(),
            id: stream.id.clone(),
        }
    }
}

/// The place of an event among all events of its tenant. The identity makes it unique: two facts may carry one id
/// when a caller breaks the rule for ids, and neither may vanish for it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Place {
    pub(super) position: Position,
    pub(super) identity: Identity,
}

impl Place {
    pub(super) fn of(event: &RawEvent) -> Self {
        Self {
            position: event.meta.position(),
            identity: event.meta.identity,
        }
    }
}

#[derive(Debug, Default)]
pub(super) struct Stream {
    pub(super) events: BTreeMap<Place, Arc<RawEvent>>,
    ids: BTreeMap<(EventId, Identity), Place>,
}

impl Stream {
    pub(super) fn insert(&mut self, event: Arc<RawEvent>) {
        let place = Place::of(&event);
        self.ids.insert((event.meta.id, place.identity), place);
        self.events.insert(place, event);
    }

    pub(super) fn remove(&mut self, place: &Place) {
        self.events.remove(place);
        self.ids.remove(&(place.position.id, place.identity));
    }

    /// The event of this id; of several, the first by identity.
    pub(super) fn find(&self, id: EventId) -> Option<&RawEvent> {
        let ((found, _), place) = self.ids.range((id, Identity([0; 16]))..).next()?;
        (*found == id).then(|| self.events.get(place).map(Arc::as_ref))?
    }
}
