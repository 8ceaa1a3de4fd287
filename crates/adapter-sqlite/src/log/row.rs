//! Events as they are stored.
use crate::{
    error::{Fault, Outcome},
    names::Names,
};
use bytes::Bytes;
use foldwright_domain::{
    AggregateId, CommandId, EventId, Identity, Meta, Millis, RawEvent, StreamKey, TenantId,
};
use rusqlite::{Connection, OptionalExtension, Row, params};

/// Selects whole events, in the order in which [`read`] takes them.
macro_rules! select_events {
    ($rest:literal) => {
        concat!(
            "SELECT seq, tenant, stream, occurred_at, id, identity, accepted_at, event_type, version,
             correlation_id, causation_id, idempotency_key, trace_context, data FROM fw_events ",
            $rest
        )
    };
}
pub(super) use select_events;

/// Where an event stands in canonical order; the number decides where even the ids are equal.
pub(super) type Place = (i64, [u8; 16], i64);

/// Before every event.
pub(super) const FIRST: Place = (i64::MIN, [0; 16], i64::MIN);

/// A stream's row.
pub(super) struct Stream {
    pub(super) number: i64,
    pub(super) tenant: i64,
    pub(super) events: u64,
    pub(super) key: StreamKey,
}

impl Stream {
    /// The row of this stream, if it has events.
    pub(super) fn find(db: &Connection, names: &mut Names, key: &StreamKey) -> Outcome<Option<Self>> {
        let (Some(tenant), Some(aggregate_type)) = (
            names.find(db, key.tenant.as_str())?,
            names.find(db, &key.aggregate_type)?,
        ) else {
            return Ok(None);
        };
        let found: Option<(i64, i64)> = db
            .prepare_cached(
                "SELECT id, events FROM fw_streams
                 WHERE tenant = ?1 AND aggregate_type = ?2 AND aggregate_id = ?3",
            )?
            .query_row(params![tenant, aggregate_type, key.id.as_str()], |row| {
                Ok((row.get(0)?, row.get(1)?))
            })
            .optional()?;
        Ok(found.map(|(number, events)| Self {
            number,
            tenant,
            events: u64::try_from(events).unwrap_or(0),
            key: key.clone(),
        }))
    }

    /// The row of this number; it must belong to `tenant`.
    pub(super) fn load(
        db: &Connection,
        names: &mut Names,
        number: i64,
        tenant: (i64, &TenantId),
    ) -> Outcome<Self> {
        let found: Option<(i64, i64, String, i64)> = db
            .prepare_cached(
                "SELECT tenant, aggregate_type, aggregate_id, events FROM fw_streams WHERE id = ?1",
            )?
            .query_row([number], |row| {
                Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?))
            })
            .optional()?;
        let (owner, aggregate_type, id, events) =
            found.ok_or_else(|| Fault::corrupt(format!("stream {number} is missing")))?;
        if owner != tenant.0 {
            return Err(Fault::Foreign("stored event"));
        }
        Ok(Self {
            number,
            tenant: owner,
            events: u64::try_from(events).unwrap_or(0),
            key: StreamKey {
                tenant: tenant.1.clone(),
                aggregate_type: names.text(db, aggregate_type)?,
                id: AggregateId::parse(id).map_err(|error| Fault::corrupt(error.to_string()))?,
            },
        })
    }
}

/// An event's place.
pub(super) fn place(row: &Row<'_>) -> Outcome<Place> {
    Ok((row.get(3)?, row.get(4)?, row.get(0)?))
}

/// The event of a row of `stream`.
pub(super) fn read(db: &Connection, names: &mut Names, row: &Row<'_>, stream: &Stream) -> Outcome<RawEvent> {
    if row.get::<_, i64>(1)? != stream.tenant {
        return Err(Fault::Foreign("stored event"));
    }
    Ok(RawEvent {
        meta: Meta {
            id: event_id(row.get(4)?),
            identity: Identity(row.get(5)?),
            stream: stream.key.clone(),
            event_type: names.text(db, row.get(7)?)?,
            version: names.text(db, row.get(8)?)?,
            occurred_at: Millis(row.get(3)?),
            accepted_at: Millis(row.get(6)?),
            idempotency_key: row.get(11)?,
            correlation_id: CommandId::from_u128(u128::from_be_bytes(row.get(9)?)),
            causation_id: event_id(row.get(10)?),
            trace_context: row.get(12)?,
        },
        data: Bytes::from(row.get::<_, Vec<u8>>(13)?),
    })
}

pub(super) fn event_id(bytes: [u8; 16]) -> EventId {
    EventId::from_u128(u128::from_be_bytes(bytes))
}
