//! The row of an event, for the fuzz targets.
use super::row::{self, Stream};
use crate::{error::Outcome, names::Names};
use foldwright_domain::{AggregateId, StreamKey, TenantId};
use rusqlite::{Connection, Row};

/// Reads the row as an event of a stream: what comes out is the stream's, at the row's own place.
pub(crate) fn event(db: &Connection, names: &mut Names, row: &Row<'_>) -> Outcome<()> {
    let (Ok(tenant), Ok(id)) = (TenantId::parse("acme"), AggregateId::parse("r-1")) else {
        panic!("the names are good");
    };
    let key = StreamKey {
        tenant,
        aggregate_type: "run".into(),
        id,
    };
    let stream = Stream {
        number: 1,
        tenant: 1,
        events: 1,
        key,
    };
    let event = row::read(db, names, row, &stream)?;
    let place = row::place(row)?;
    assert_eq!(event.meta.stream, stream.key);
    assert_eq!(
        (event.meta.occurred_at.0, event.meta.id.as_u128().to_be_bytes()),
        (place.0, place.1)
    );
    Ok(())
}
