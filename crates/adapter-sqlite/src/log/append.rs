//! Appending.
use super::row::{Stream, event_id};
use crate::{
    error::{Fault, Outcome},
    writer::Write,
};
use foldwright_domain::{Meta, RawEvent, StreamKey};
use foldwright_ports::{Append, Appended, Expect};
use rusqlite::{OptionalExtension, params};
use std::collections::{BTreeMap, btree_map::Entry};

/// What became of one command's events, or how many events its aggregate has where another number was expected.
type Answer = Result<Vec<Appended>, u64>;

/// Appends the events of several commands. A stream is read and counted once, however many of them are for it.
pub(super) fn append_all(write: &mut Write<'_>, appends: &[Append]) -> Outcome<Vec<Answer>> {
    let mut streams = BTreeMap::new();
    let answers = appends
        .iter()
        .map(|append| append_one(write, &mut streams, append))
        .collect::<Outcome<_>>()?;
    for stream in streams.into_values() {
        stream.save(write)?;
    }
    Ok(answers)
}

/// A stream as far as it was read, and how many events were added to it since.
struct Open {
    tenant: i64,
    number: Option<i64>,
    events: u64,
    fresh: u64,
}

impl Open {
    fn find(write: &mut Write<'_>, key: &StreamKey) -> Outcome<Self> {
        let stream = Stream::find(write.db, write.names, key)?;
        let (number, events) = stream.map_or((None, 0), |stream| (Some(stream.number), stream.events));
        Ok(Self {
            tenant: write.names.number(write.db, key.tenant.as_str())?,
            number,
            events,
            fresh: 0,
        })
    }

    /// The stream's number; its row begins here if there is none.
    fn number(&mut self, write: &mut Write<'_>, key: &StreamKey) -> Outcome<i64> {
        if let Some(number) = self.number {
            return Ok(number);
        }
        let db = write.db;
        let aggregate_type = write.names.number(db, &key.aggregate_type)?;
        db.prepare_cached(
            "INSERT INTO fw_streams (tenant, aggregate_type, aggregate_id, events) VALUES (?1, ?2, ?3, 0)",
        )?
        .execute(params![self.tenant, aggregate_type, key.id.as_str()])?;
        let number = db.last_insert_rowid();
        self.number = Some(number);
        Ok(number)
    }

    fn save(self, write: &Write<'_>) -> Outcome<()> {
        let Some(number) = self.number else {
            return Ok(());
        };
        if self.fresh > 0 {
            let fresh = i64::try_from(self.fresh).unwrap_or(i64::MAX);
            write
                .db
                .prepare_cached("UPDATE fw_streams SET events = events + ?2 WHERE id = ?1")?
                .execute((number, fresh))?;
        } else if self.events == 0 {
            // All of them stand in other streams: this one has no events after all.
            write
                .db
                .prepare_cached("DELETE FROM fw_streams WHERE id = ?1")?
                .execute([number])?;
        }
        Ok(())
    }
}

fn append_one<'a>(
    write: &mut Write<'_>,
    streams: &mut BTreeMap<&'a StreamKey, Open>,
    append: &'a Append,
) -> Outcome<Answer> {
    let key = append.batch.stream();
    let stream = match streams.entry(key) {
        Entry::Occupied(stream) => stream.into_mut(),
        Entry::Vacant(place) => place.insert(Open::find(write, key)?),
    };
    if let Expect::Count(expected) = append.expect {
        // Identity comes first: a repeated append recognises itself whatever has been appended since.
        let mut known = Vec::new();
        for event in append.batch.events() {
            known.push(find(write, stream.tenant, stream.number, event)?);
        }
        let actual = stream.events + stream.fresh;
        if known.iter().any(Option::is_none) && actual != expected {
            return Ok(Err(actual));
        }
    }
    let number = stream.number(write, key)?;
    let mut answers = Vec::with_capacity(append.batch.events().len());
    for event in append.batch.events() {
        if insert(write, stream.tenant, number, event)? {
            stream.fresh += 1;
            answers.push(Appended::Fresh);
        } else {
            let known = find(write, stream.tenant, Some(number), event)?;
            answers.push(known.ok_or_else(|| Fault::corrupt("an event is gone"))?);
        }
    }
    Ok(Ok(answers))
}

/// Adds an event; answers `false` where one of its identity is there already.
fn insert(write: &mut Write<'_>, tenant: i64, stream: i64, event: &RawEvent) -> Outcome<bool> {
    let (db, meta) = (write.db, &event.meta);
    let event_type = write.names.number(db, &meta.event_type)?;
    let version = write.names.number(db, &meta.version)?;
    let added = db
        .prepare_cached(
            "INSERT INTO fw_events (tenant, stream, occurred_at, id, identity, accepted_at, event_type, version,
             correlation_id, causation_id, idempotency_key, trace_context, data)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)
             ON CONFLICT (tenant, identity) DO NOTHING",
        )?
        .execute(params![
            tenant,
            stream,
            meta.occurred_at.0,
            meta.id.as_u128().to_be_bytes(),
            meta.identity.0,
            meta.accepted_at.0,
            event_type,
            version,
            meta.correlation_id.as_u128().to_be_bytes(),
            meta.causation_id.as_u128().to_be_bytes(),
            meta.idempotency_key.as_deref(),
            meta.trace_context.as_deref(),
            event.data.as_ref()
        ])?;
    Ok(added == 1)
}

/// What an event of this identity that is there already makes of `event`.
fn find(
    write: &mut Write<'_>,
    tenant: i64,
    stream: Option<i64>,
    event: &RawEvent,
) -> Outcome<Option<Appended>> {
    let (db, meta) = (write.db, &event.meta);
    let found = db
        .prepare_cached(
            "SELECT stream, id, event_type, version, occurred_at, data FROM fw_events
             WHERE tenant = ?1 AND identity = ?2",
        )?
        .query_row(params![tenant, meta.identity.0], |row| {
            Ok(Stored {
                stream: row.get(0)?,
                id: row.get(1)?,
                event_type: row.get(2)?,
                version: row.get(3)?,
                occurred_at: row.get(4)?,
                data: row.get(5)?,
            })
        })
        .optional()?;
    let Some(found) = found else {
        return Ok(None);
    };
    let stored = event_id(found.id);
    let same = Some(found.stream) == stream
        && found.occurred_at == meta.occurred_at.0
        && found.data == event.data
        && is_named(write, found.event_type, found.version, meta)?;
    Ok(Some(if same {
        Appended::Duplicate { stored }
    } else {
        Appended::Conflict { stored }
    }))
}

struct Stored {
    stream: i64,
    id: [u8; 16],
    event_type: i64,
    version: i64,
    occurred_at: i64,
    data: Vec<u8>,
}

fn is_named(write: &mut Write<'_>, event_type: i64, version: i64, meta: &Meta) -> Outcome<bool> {
    let db = write.db;
    Ok(
        write.names.text(db, event_type)? == meta.event_type
            && write.names.text(db, version)? == meta.version,
    )
}
