//! Making history: events with the envelopes that the kernel would give them.
use crate::{Sample, Seeded};
use foldwright_domain::{
    AggregateId, CommandIds, EventId, EventSet, Identity, Meta, Millis, RawEvent, Recorded, StreamKey,
    TenantId,
};
use std::time::Duration;

/// When the time of every test begins, unless it says otherwise: 2026-01-01T00:00:00Z.
pub const START: Millis = Millis(1_767_225_600_000);

/// Whose facts tests are about, unless they say otherwise: `test`.
///
/// # Panics
/// Never: the name is a good one.
#[must_use]
pub fn tenant() -> TenantId {
    match TenantId::parse("test") {
        Ok(tenant) => tenant,
        Err(error) => panic!("{error}"),
    }
}

/// The aggregate's id, as tests write it.
///
/// # Panics
/// When it is none.
#[must_use]
#[track_caller]
pub(crate) fn aggregate_id(id: &str) -> AggregateId {
    match AggregateId::parse(id) {
        Ok(id) => id,
        Err(error) => panic!("{error}"),
    }
}

/// Events of one aggregate after the other, at times that a test moves.
#[derive(Debug)]
pub(crate) struct Timeline {
    pub(crate) tenant: TenantId,
    pub(crate) now: Millis,
    id: AggregateId,
    ids: CommandIds,
    random: Seeded,
    events: Vec<RawEvent>,
}

impl Timeline {
    pub(crate) fn new() -> Self {
        Self {
            tenant: tenant(),
            now: START,
            id: aggregate_id("test"),
            ids: CommandIds::default(),
            random: Seeded::new(0),
            events: Vec::new(),
        }
    }

    /// What happens from now on happens to this aggregate.
    pub(crate) fn switch_to(&mut self, id: AggregateId) {
        self.id = id;
    }

    /// What is given from now on happens so much later.
    pub(crate) fn pass(&mut self, duration: Duration) {
        self.now = self.now.plus(duration);
    }

    /// An event that happens now and is accepted after all others.
    pub(crate) fn add(&mut self, sample: Sample) {
        let event = self.record(sample, self.now);
        self.events.push(event);
    }

    /// The envelope that a command of one event gives.
    pub(crate) fn record(&mut self, sample: Sample, occurred_at: Millis) -> RawEvent {
        let command = self.ids.next(START, self.random.number());
        let id = EventId::from_u128(command.as_u128());
        let meta = Meta {
            id,
            identity: Identity::of_id(id),
            stream: StreamKey {
                tenant: self.tenant.clone(),
                aggregate_type: sample.aggregate_type(),
                id: self.id.clone(),
            },
            event_type: sample.event_type.into(),
            version: sample.version.into(),
            occurred_at,
            accepted_at: occurred_at,
            idempotency_key: None,
            correlation_id: command,
            causation_id: id,
            trace_context: None,
        };
        Recorded {
            meta,
            data: sample.data,
        }
    }

    /// What a projection over `S` reads of it, in canonical order.
    #[track_caller]
    pub(crate) fn read<S: EventSet>(&self) -> Vec<Recorded<S>> {
        let mut events = read::<S>(&self.events);
        events.sort_by_key(|event| event.meta.position());
        events
    }
}

/// What a projection over `S` reads of these, in their order.
#[track_caller]
pub(crate) fn read<S: EventSet>(events: &[RawEvent]) -> Vec<Recorded<S>> {
    let read = events.iter().filter(|event| S::reads(&event.meta.event_type));
    read.map(decode::<S>).collect()
}

#[track_caller]
fn decode<S: EventSet>(event: &RawEvent) -> Recorded<S> {
    let meta = event.meta.clone();
    match S::decode_lean(&meta.event_type, &meta.version, &event.data) {
        Ok(data) => Recorded { meta, data },
        Err(error) => panic!("an event does not come back as it was stored: {error}"),
    }
}
