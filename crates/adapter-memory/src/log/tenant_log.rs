//! The events of one tenant.
use super::{
    cursors,
    stream::{Place, Stream, StreamName},
};
use crate::{keyed::Keyed, pager::page};
use foldwright_domain::{EventId, Identity, Millis, Position, RawEvent, StreamKey};
use foldwright_ports::{
    Append, AppendError, Appended, EventRef, Expect, Limits, Page, Result, Retention, Selection,
};
use std::{collections::BTreeMap, ops::Bound, sync::Arc};

#[derive(Debug, Default)]
pub(super) struct TenantLog {
    identities: Keyed<Identity, Arc<RawEvent>>,
    canonical: BTreeMap<Place, Arc<RawEvent>>,
    streams: BTreeMap<StreamName, Stream>,
}

impl TenantLog {
    pub(super) fn is_empty(&self) -> bool {
        self.canonical.is_empty()
    }

    /// Identities first, so that a repeated append recognises itself before its expectation is looked at.
    pub(super) fn append(&mut self, append: Append) -> Result<Vec<Appended>, AppendError> {
        let answers: Vec<_> = append
            .batch
            .events()
            .iter()
            .map(|event| self.judge(event))
            .collect();
        let fresh = answers.contains(&Appended::Fresh);
        if let (Expect::Count(expected), true) = (append.expect, fresh) {
            let name = StreamName::of(append.batch.stream());
            let actual = self.streams.get(&name).map_or(0, |s| s.events.len() as u64);
            if actual != expected {
                return Err(AppendError::CountMismatch { actual });
            }
        }
        if fresh {
            let stream = self
                .streams
                .entry(StreamName::of(append.batch.stream()))
                .or_default();
            for (event, answer) in append.batch.into_events().into_iter().zip(&answers) {
                if *answer == Appended::Fresh {
                    let event = Arc::new(event);
                    stream.insert(event.clone());
                    self.canonical.insert(Place::of(&event), event.clone());
                    self.identities.insert(event.meta.identity, event);
                }
            }
        }
        Ok(answers)
    }

    fn judge(&self, event: &RawEvent) -> Appended {
        let Some(there) = self.identities.get(&event.meta.identity) else {
            return Appended::Fresh;
        };
        let stored = there.meta.id;
        let (a, b) = (&there.meta, &event.meta);
        let same = a.event_type == b.event_type
            && a.version == b.version
            && a.occurred_at == b.occurred_at
            && a.stream == b.stream
            && there.data == event.data;
        if same {
            Appended::Duplicate { stored }
        } else {
            Appended::Conflict { stored }
        }
    }

    pub(super) fn find(&self, event: &EventRef) -> Option<RawEvent> {
        self.streams
            .get(&StreamName::of(&event.stream))?
            .find(event.id)
            .cloned()
    }

    pub(super) fn count(&self, stream: &StreamKey) -> u64 {
        let stream = self.streams.get(&StreamName::of(stream));
        stream.map_or(0, |stream| stream.events.len() as u64)
    }

    pub(super) fn load(&self, stream: &StreamKey, from: Option<Place>, limits: Limits) -> Page<RawEvent> {
        let Some(stream) = self.streams.get(&StreamName::of(stream)) else {
            return Page::last(Vec::new());
        };
        let rows = stream
            .events
            .range((after(from), Bound::Unbounded))
            .map(|(place, event)| (*place, Some(sized(event))));
        page(limits, rows, cursors::of_place)
    }

    pub(super) fn scan(&self, selection: &Selection, from: Option<Place>, limits: Limits) -> Page<RawEvent> {
        let rows = self
            .within(selection, after(from))
            .map(|(place, event)| (*place, selects(selection, event).then(|| sized(event))));
        page(limits, rows, cursors::of_place)
    }

    /// The events of a selection's time range, behind `from` where that is later.
    fn within<'a>(
        &'a self,
        selection: &Selection,
        from: Bound<Place>,
    ) -> impl Iterator<Item = (&'a Place, &'a Arc<RawEvent>)> + use<'a> {
        let occurred = selection.occurred.as_ref();
        let start = occurred.map_or(Bound::Unbounded, |range| Bound::Included(first_at(range.start)));
        let end = occurred.map(|range| first_at(range.end));
        let from = match (from, start) {
            (Bound::Excluded(from), Bound::Included(start)) if from < start => Bound::Included(start),
            (Bound::Excluded(from), _) => Bound::Excluded(from),
            _ => start,
        };
        self.canonical
            .range((from, Bound::Unbounded))
            .take_while(move |(place, _)| end.is_none_or(|end| **place < end))
    }

    pub(super) fn aggregates(
        &self,
        selection: &Selection,
        from: Option<StreamName>,
        limits: Limits,
    ) -> Page<StreamKey> {
        let from = from.map_or(Bound::Unbounded, Bound::Excluded);
        let rows = self
            .streams
            .range((from, Bound::Unbounded))
            .map(|(name, stream)| {
                let selected = stream.events.values().any(|event| selects(selection, event));
                let item = selected.then(|| {
                    let size = name.aggregate_type.len() + name.id.as_str().len();
                    (
                        StreamKey {
                            tenant: selection.tenant.clone(),
                            aggregate_type: name.aggregate_type.clone(),
                            id: name.id.clone(),
                        },
                        size,
                    )
                });
                (name, item)
            });
        page(limits, rows, |name| cursors::of_name(name))
    }

    pub(super) fn erase(&mut self, selection: &Selection, limit: usize) -> usize {
        let doomed = self
            .within(selection, Bound::Unbounded)
            .filter(|(_, event)| selects(selection, event))
            .map(|(place, _)| *place)
            .take(limit)
            .collect();
        self.remove(doomed)
    }

    pub(super) fn retain(&mut self, retention: &Retention, limit: usize) -> usize {
        let doomed = self
            .canonical
            .iter()
            .filter(|(_, event)| {
                event.meta.accepted_at < retention.accepted_before
                    && lists(&retention.aggregate_types, &event.meta.stream.aggregate_type)
            })
            .map(|(place, _)| *place)
            .take(limit)
            .collect();
        self.remove(doomed)
    }

    fn remove(&mut self, doomed: Vec<Place>) -> usize {
        let mut removed = 0;
        for place in doomed {
            let Some(event) = self.canonical.remove(&place) else {
                continue;
            };
            removed += 1;
            self.identities.remove(&place.identity);
            let name = StreamName::of(&event.meta.stream);
            if let Some(stream) = self.streams.get_mut(&name) {
                stream.remove(&place);
                if stream.events.is_empty() {
                    self.streams.remove(&name);
                }
            }
        }
        removed
    }
}

/// The place before all events of this instant.
fn first_at(occurred_at: Millis) -> Place {
    Place {
        position: Position {
            occurred_at,
            id: EventId::from_u128(0),
        },
        identity: Identity([0; 16]),
    }
}

fn after(from: Option<Place>) -> Bound<Place> {
    from.map_or(Bound::Unbounded, Bound::Excluded)
}

fn sized(event: &Arc<RawEvent>) -> (RawEvent, usize) {
    (event.as_ref().clone(), event.data.len())
}

fn selects(selection: &Selection, event: &RawEvent) -> bool {
    lists(&selection.aggregate_types, &event.meta.stream.aggregate_type)
        && lists(&selection.event_types, &event.meta.event_type)
        && selection
            .occurred
            .as_ref()
            .is_none_or(|range| range.contains(&event.meta.occurred_at))
}

/// An empty list names everything.
fn lists(names: &[Arc<str>], name: &Arc<str>) -> bool {
    names.is_empty() || names.contains(name)
}
