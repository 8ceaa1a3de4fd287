//! Removing events.
use super::{
    row::{FIRST, Place},
    scan::{Filter, Streams},
};
use crate::{
    error::{Fault, Outcome},
    reader::Read,
    store::Store,
    writer::Write,
};
use foldwright_domain::Millis;
use foldwright_ports::{Result, Selection};
use rusqlite::OptionalExtension;

/// Events that one read looks at, and that one write removes: appends and loads go on in between.
const STEP: usize = 2_000;

/// Removes selected events, at most `limit`. They are looked for by a reader, so that the writer never searches.
pub(super) async fn erase(
    store: &Store,
    selection: &Selection,
    accepted_before: Option<Millis>,
    limit: usize,
) -> Result<usize> {
    let (mut erased, mut place) = (0, Some(FIRST));
    while let Some(from) = place {
        let (selection, wanted) = (selection.clone(), limit - erased);
        if wanted == 0 {
            break;
        }
        let found = store
            .readers
            .run("erase", move |read| {
                look(read, &selection, accepted_before, from, wanted)
            })
            .await?;
        place = found.next;
        if !found.events.is_empty() {
            erased += store
                .writer
                .run("erase", 0, move |write| remove(write, &found.events))
                .await?;
        }
    }
    Ok(erased)
}

struct Found {
    /// Stream and row of each event.
    events: Vec<(i64, i64)>,
    /// Where to go on.
    next: Option<Place>,
}

fn look(
    read: &mut Read<'_>,
    selection: &Selection,
    accepted_before: Option<Millis>,
    from: Place,
    wanted: usize,
) -> Outcome<Found> {
    let db = read.db;
    let mut found = Found {
        events: Vec::new(),
        next: None,
    };
    let Some(filter) = Filter::new(db, read.names, selection)? else {
        return Ok(found);
    };
    let mut streams = Streams::new(filter.tenant, &selection.tenant);
    let mut select = db.prepare_cached(
        "SELECT seq, stream, occurred_at, id, accepted_at, event_type FROM fw_events
         WHERE tenant = ?1 AND (occurred_at, id, seq) > (?2, ?3, ?4) AND occurred_at >= ?5
         ORDER BY occurred_at, id, seq",
    )?;
    let mut rows = select.query((filter.tenant, from.0, from.1, from.2, filter.from))?;
    let mut looked_at = 0;
    while let Some(row) = rows.next()? {
        let place: Place = (row.get(2)?, row.get(3)?, row.get(0)?);
        if filter.is_past(place.0) {
            break;
        }
        let stream = row.get(1)?;
        if accepted_before.is_none_or(|before| row.get(4).is_ok_and(|at: i64| at < before.0))
            && Filter::takes(filter.event_types.as_ref(), row.get(5)?)
            && streams.takes(db, stream, filter.aggregate_types.as_ref())?
        {
            found.events.push((stream, place.2));
        }
        looked_at += 1;
        if looked_at >= STEP || found.events.len() >= wanted {
            found.next = Some(place);
            break;
        }
    }
    Ok(found)
}

/// Removes events, and the streams that have none left.
fn remove(write: &mut Write<'_>, events: &[(i64, i64)]) -> Outcome<usize> {
    let db = write.db;
    let mut removed = 0;
    for (stream, seq) in events {
        // Another erasure may have been faster.
        if db
            .prepare_cached("DELETE FROM fw_events WHERE seq = ?1 AND stream = ?2")?
            .execute([seq, stream])?
            == 0
        {
            continue;
        }
        removed += 1;
        let left: Option<i64> = db
            .prepare_cached("UPDATE fw_streams SET events = events - 1 WHERE id = ?1 RETURNING events")?
            .query_row([stream], |row| row.get(0))
            .optional()?;
        match left {
            Some(0) => {
                db.prepare_cached("DELETE FROM fw_streams WHERE id = ?1")?
                    .execute([stream])?;
            }
            Some(_) => {}
            None => return Err(Fault::corrupt(format!("stream {stream} is missing"))),
        }
    }
    Ok(removed)
}
