//! Reading streams and single events.
use super::row::{self, FIRST, Place, Stream, select_events};
use crate::{codec, error::Outcome, page::Filling, reader::Read};
use foldwright_domain::{RawEvent, StreamKey};
use foldwright_ports::{Cursor, EventRef, Limits, Page};
use std::collections::BTreeMap;

/// The events of one stream, in canonical order.
pub(super) fn load(
    read: &mut Read<'_>,
    key: &StreamKey,
    from: Option<&Cursor>,
    limits: Limits,
) -> Outcome<Page<RawEvent>> {
    let db = read.db;
    let (at, id, seq): Place = from.map_or(Ok(FIRST), codec::cursor)?;
    let Some(stream) = Stream::find(db, read.names, key)? else {
        return Ok(Page::last(Vec::new()));
    };
    let mut select = db.prepare_cached(select_events!(
        "WHERE stream = ?1 AND (occurred_at, id, seq) > (?2, ?3, ?4) ORDER BY occurred_at, id, seq"
    ))?;
    let mut rows = select.query((stream.number, at, id, seq))?;
    let mut page = Filling::new(limits);
    while let Some(row) = rows.next()? {
        let event = row::read(db, read.names, row, &stream)?;
        let bytes = event.data.len();
        if !page.offer(event, bytes, row::place(row)?) {
            break;
        }
    }
    page.finish()
}

/// How many events each stream holds, as the writer counts them.
pub(super) fn count(read: &mut Read<'_>, streams: &[StreamKey]) -> Outcome<Vec<u64>> {
    let mut counts = Vec::with_capacity(streams.len());
    for stream in streams {
        let found = Stream::find(read.db, read.names, stream)?;
        counts.push(found.map_or(0, |stream| stream.events));
    }
    Ok(counts)
}

/// Single events. There is no index on event ids, so a stream is looked through once, by its index alone, however many
/// of its events are asked for.
pub(super) fn find(read: &mut Read<'_>, events: &[EventRef]) -> Outcome<Vec<Option<RawEvent>>> {
    let mut streams: BTreeMap<&StreamKey, Vec<(usize, [u8; 16])>> = BTreeMap::new();
    for (n, event) in events.iter().enumerate() {
        let id = event.id.as_u128().to_be_bytes();
        streams.entry(&event.stream).or_default().push((n, id));
    }
    let mut found = vec![None; events.len()];
    for (key, wanted) in streams {
        let Some(stream) = Stream::find(read.db, read.names, key)? else {
            continue;
        };
        let numbers = numbers(read, &stream)?;
        for (n, id) in wanted {
            if let (Some(seq), Some(found)) = (numbers.get(&id), found.get_mut(n)) {
                *found = one(read, &stream, *seq)?;
            }
        }
    }
    Ok(found)
}

/// The rows of a stream's events by id; of several with one id the canonically first.
fn numbers(read: &Read<'_>, stream: &Stream) -> Outcome<BTreeMap<[u8; 16], i64>> {
    let mut select = read.db.prepare_cached(
        "SELECT id, seq FROM fw_events WHERE stream = ?1 ORDER BY occurred_at DESC, id DESC",
    )?;
    let mut rows = select.query([stream.number])?;
    let mut numbers = BTreeMap::new();
    while let Some(row) = rows.next()? {
        numbers.insert(row.get(0)?, row.get(1)?);
    }
    Ok(numbers)
}

fn one(read: &mut Read<'_>, stream: &Stream, seq: i64) -> Outcome<Option<RawEvent>> {
    let mut select = read.db.prepare_cached(select_events!("WHERE seq = ?1"))?;
    let mut rows = select.query([seq])?;
    match rows.next()? {
        Some(row) => row::read(read.db, read.names, row, stream).map(Some),
        None => Ok(None),
    }
}
