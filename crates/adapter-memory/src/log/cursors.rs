//! Cursors of the event log.
use super::stream::{Place, StreamName};
use crate::cursor::{Reader, Writer, of_text, to_text};
use foldwright_domain::{AggregateId, EventId, Identity, Millis, Position, TenantId};
use foldwright_ports::{Cursor, Error, Kind, Result};

const PLACE: u8 = b'p';
const NAME: u8 = b'n';
const TENANT: u8 = b't';

pub(super) fn of_place(place: &Place) -> Cursor {
    Writer::new(PLACE)
        .i64(place.position.occurred_at.0)
        .u128(place.position.id.as_u128())
        .bytes(place.identity.0)
        .done()
}

pub(super) fn to_place(cursor: &Cursor, operation: &'static str) -> Result<Place> {
    let mut reader = Reader::new(cursor, PLACE, operation)?;
    let position = Position {
        occurred_at: Millis(reader.i64()?),
        id: EventId::from_u128(reader.u128()?),
    };
    let identity = Identity(reader.bytes()?);
    reader.end()?;
    Ok(Place { position, identity })
}

pub(super) fn of_name(name: &StreamName) -> Cursor {
    Writer::new(NAME)
        .text(&name.aggregate_type)
        .text(name.id.as_str())
        .done()
}

pub(super) fn to_name(cursor: &Cursor, operation: &'static str) -> Result<StreamName> {
    let mut reader = Reader::new(cursor, NAME, operation)?;
    let (aggregate_type, id) = (reader.text()?, reader.text()?);
    reader.end()?;
    Ok(StreamName {
        aggregate_type: aggregate_type.into(),
        id: AggregateId::parse(id).map_err(|error| reader.bad().caused_by(error))?,
    })
}

pub(super) fn of_tenant(tenant: &TenantId) -> Cursor {
    of_text(TENANT, tenant.as_str())
}

pub(super) fn to_tenant(cursor: &Cursor, operation: &'static str) -> Result<TenantId> {
    let name = to_text(cursor, TENANT, operation)?;
    TenantId::parse(name)
        .map_err(|error| Error::new(Kind::Invalid, operation, "this cursor names no tenant").caused_by(error))
}
