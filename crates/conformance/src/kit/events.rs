//! Events to append.
use super::tenant;
use bytes::Bytes;
use foldwright_domain::{
    AggregateId, Batch, CommandId, EventId, Identity, Meta, Millis, RawEvent, StreamKey,
};
use foldwright_ports::{Append, Expect};

/// The stream of an order of `acme`.
pub(crate) fn stream(id: &str) -> StreamKey {
    stream_of("acme", "order", id)
}

/// A stream.
pub(crate) fn stream_of(owner: &str, aggregate_type: &str, id: &str) -> StreamKey {
    StreamKey {
        tenant: tenant(owner),
        aggregate_type: aggregate_type.into(),
        id: AggregateId::parse(id).unwrap(),
    }
}

/// The events of one command, appended whatever was there before.
pub(crate) fn append(events: Vec<RawEvent>) -> Append {
    let stream = events.first().unwrap().meta.stream.clone();
    Append {
        batch: Batch::new(&stream, events).unwrap(),
        expect: Expect::Any,
    }
}

/// Makes events with ids that ascend.
#[derive(Debug)]
pub(crate) struct Events(u128);

impl Events {
    pub(crate) fn new() -> Self {
        Self(0x0192_0000_0000_7000_8000_0000_0000_0000)
    }

    /// The next event, which occurred at `at`.
    pub(crate) fn next(&mut self, stream: &StreamKey, at: i64) -> RawEvent {
        self.0 += 1 << 12;
        Self::with_id(stream, self.0, at)
    }

    /// An event with an id of one's own.
    pub(crate) fn with_id(stream: &StreamKey, id: u128, at: i64) -> RawEvent {
        let id = EventId::from_u128(id);
        RawEvent {
            meta: Meta {
                id,
                identity: Identity::of_id(id),
                stream: stream.clone(),
                event_type: "shop.sales.order.placed".into(),
                version: "2026-03-01".into(),
                occurred_at: Millis(at),
                accepted_at: Millis(1_764_500_000_000),
                idempotency_key: None,
                correlation_id: CommandId::from_u128(id.as_u128()),
                causation_id: id,
                trace_context: None,
            },
            data: Bytes::from(format!("{{\"n\":{}}}", id.as_u128() >> 12 & 0xffff)),
        }
    }
}
