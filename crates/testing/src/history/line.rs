//! The lines of a recorded history.
use foldwright_domain::{
    AggregateId, CommandId, EventId, Identity, Meta, Millis, RawEvent, Recorded, StreamKey, TenantId,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::sync::Arc;

/// One line: an object whose `line` says what it is.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "line", rename_all = "snake_case", deny_unknown_fields)]
pub(super) enum Line {
    Event(Box<StoredEvent>),
    State(StoredState),
    Record(StoredRecord),
}

/// An event as it stood in the log. Ids and identities are 32 hexadecimal digits.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(super) struct StoredEvent {
    tenant: TenantId,
    aggregate_type: Arc<str>,
    aggregate_id: AggregateId,
    pub(super) event_type: Arc<str>,
    pub(super) version: Arc<str>,
    id: String,
    identity: String,
    occurred_at: Millis,
    accepted_at: Millis,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    idempotency_key: Option<Arc<str>>,
    correlation_id: String,
    causation_id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    trace_context: Option<Arc<str>>,
    data: Value,
}

/// What a fold made of all events of one aggregate or key.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(super) struct StoredState {
    pub(super) fold: Arc<str>,
    pub(super) version: u32,
    pub(super) tenant: TenantId,
    pub(super) key: Arc<str>,
    pub(super) state: Value,
}

/// What a map made of one event.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(super) struct StoredRecord {
    pub(super) map: Arc<str>,
    pub(super) version: u32,
    pub(super) tenant: TenantId,
    pub(super) event: String,
    pub(super) record: Value,
}

impl StoredEvent {
    pub(super) fn of(event: &RawEvent) -> serde_json::Result<Self> {
        let meta = event.meta.clone();
        Ok(Self {
            tenant: meta.stream.tenant,
            aggregate_type: meta.stream.aggregate_type,
            aggregate_id: meta.stream.id,
            event_type: meta.event_type,
            version: meta.version,
            id: hex(meta.id.as_u128()),
            identity: hex(u128::from_be_bytes(meta.identity.0)),
            occurred_at: meta.occurred_at,
            accepted_at: meta.accepted_at,
            idempotency_key: meta.idempotency_key,
            correlation_id: hex(meta.correlation_id.as_u128()),
            causation_id: hex(meta.causation_id.as_u128()),
            trace_context: meta.trace_context,
            data: serde_json::from_slice(&event.data)?,
        })
    }

    /// The event as the log held it.
    pub(super) fn raw(&self) -> Result<RawEvent, String> {
        let stored = self.clone();
        let meta = Meta {
            id: EventId::from_u128(number(&stored.id)?),
            identity: Identity(number(&stored.identity)?.to_be_bytes()),
            stream: StreamKey {
                tenant: stored.tenant,
                aggregate_type: stored.aggregate_type,
                id: stored.aggregate_id,
            },
            event_type: stored.event_type,
            version: stored.version,
            occurred_at: stored.occurred_at,
            accepted_at: stored.accepted_at,
            idempotency_key: stored.idempotency_key,
            correlation_id: CommandId::from_u128(number(&stored.correlation_id)?),
            causation_id: EventId::from_u128(number(&stored.causation_id)?),
            trace_context: stored.trace_context,
        };
        Ok(Recorded {
            meta,
            data: stored.data.to_string().into(),
        })
    }
}

pub(super) fn hex(bits: u128) -> String {
    format!("{bits:032x}")
}

fn number(hex: &str) -> Result<u128, String> {
    u128::from_str_radix(hex, 16).map_err(|error| format!("`{hex}` is no id: {error}"))
}
