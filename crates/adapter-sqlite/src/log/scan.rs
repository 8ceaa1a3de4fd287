//! Reading events of many streams.
use super::row::{self, FIRST, Place, Stream, select_events};
use crate::{
    codec,
    error::{Fault, Outcome},
    names::Names,
    page::Filling,
    reader::Read,
};
use foldwright_domain::{RawEvent, TenantId};
use foldwright_ports::{Cursor, Limits, Page, Selection};
use rusqlite::{Connection, OptionalExtension};
use std::{collections::BTreeMap, sync::Arc};

/// Events that one page looks at, at most, however few of them are selected: a read must not last for ever.
const LOOKED_AT: usize = 20_000;

/// Which names a selection lets through; `None` lets all through.
pub(super) struct Filter {
    pub(super) tenant: i64,
    pub(super) aggregate_types: Option<Vec<i64>>,
    pub(super) event_types: Option<Vec<i64>>,
    pub(super) from: i64,
    /// The first instant behind the range; `None` where it has no end.
    pub(super) to: Option<i64>,
}

impl Filter {
    /// `None` where the tenant has no events.
    pub(super) fn new(db: &Connection, names: &mut Names, selection: &Selection) -> Outcome<Option<Self>> {
        let Some(tenant) = names.find(db, selection.tenant.as_str())? else {
            return Ok(None);
        };
        let mut numbers = |texts: &[Arc<str>]| -> Outcome<Option<Vec<i64>>> {
            if texts.is_empty() {
                return Ok(None);
            }
            let mut numbers = Vec::new();
            for text in texts {
                numbers.extend(names.find(db, text)?);
            }
            Ok(Some(numbers))
        };
        Ok(Some(Self {
            tenant,
            aggregate_types: numbers(&selection.aggregate_types)?,
            event_types: numbers(&selection.event_types)?,
            from: selection
                .occurred
                .as_ref()
                .map_or(i64::MIN, |range| range.start.0),
            to: selection.occurred.as_ref().map(|range| range.end.0),
        }))
    }

    pub(super) fn takes(list: Option<&Vec<i64>>, number: i64) -> bool {
        list.is_none_or(|list| list.contains(&number))
    }

    /// Whether an instant lies behind the range.
    pub(super) fn is_past(&self, occurred_at: i64) -> bool {
        self.to.is_some_and(|to| occurred_at >= to)
    }
}

/// Events of many streams, in canonical order.
pub(super) fn scan(
    read: &mut Read<'_>,
    selection: &Selection,
    from: Option<&Cursor>,
    limits: Limits,
) -> Outcome<Page<RawEvent>> {
    let db = read.db;
    let start: Place = from.map_or(Ok(FIRST), codec::cursor)?;
    let Some(filter) = Filter::new(db, read.names, selection)? else {
        return Ok(Page::last(Vec::new()));
    };
    let mut streams = Streams::new(filter.tenant, &selection.tenant);
    let mut select = db.prepare_cached(select_events!(
        "WHERE tenant = ?1 AND (occurred_at, id, seq) > (?2, ?3, ?4) AND occurred_at >= ?5
         ORDER BY occurred_at, id, seq"
    ))?;
    let mut rows = select.query((filter.tenant, start.0, start.1, start.2, filter.from))?;
    let mut page = Filling::new(limits);
    let mut looked_at = 0;
    while let Some(row) = rows.next()? {
        let place = row::place(row)?;
        if filter.is_past(place.0) {
            break;
        }
        looked_at += 1;
        let number = row.get(2)?;
        if Filter::takes(filter.event_types.as_ref(), row.get(7)?)
            && streams.takes(db, number, filter.aggregate_types.as_ref())?
        {
            let stream = streams.get(db, read.names, number)?;
            let event = row::read(db, read.names, row, stream)?;
            let bytes = event.data.len();
            if !page.offer(event, bytes, place) {
                break;
            }
        }
        if looked_at >= LOOKED_AT {
            page.stop_at(place);
            break;
        }
    }
    page.finish()
}

/// Streams that one read has met.
pub(super) struct Streams<'a> {
    tenant: (i64, &'a TenantId),
    types: BTreeMap<i64, i64>,
    rows: BTreeMap<i64, Stream>,
}

impl<'a> Streams<'a> {
    pub(super) fn new(number: i64, tenant: &'a TenantId) -> Self {
        Self {
            tenant: (number, tenant),
            types: BTreeMap::new(),
            rows: BTreeMap::new(),
        }
    }

    /// Whether a stream's type is one of these.
    pub(super) fn takes(&mut self, db: &Connection, number: i64, types: Option<&Vec<i64>>) -> Outcome<bool> {
        if types.is_none() {
            return Ok(true);
        }
        let aggregate_type = match self.types.get(&number) {
            Some(aggregate_type) => *aggregate_type,
            None => {
                let aggregate_type = db
                    .prepare_cached("SELECT aggregate_type FROM fw_streams WHERE id = ?1")?
                    .query_row([number], |row| row.get(0))
                    .optional()?
                    .ok_or_else(|| Fault::corrupt(format!("stream {number} is missing")))?;
                self.types.insert(number, aggregate_type);
                aggregate_type
            }
        };
        Ok(Filter::takes(types, aggregate_type))
    }

    fn get(&mut self, db: &Connection, names: &mut Names, number: i64) -> Outcome<&Stream> {
        use std::collections::btree_map::Entry;
        match self.rows.entry(number) {
            Entry::Occupied(row) => Ok(row.into_mut()),
            Entry::Vacant(place) => Ok(place.insert(Stream::load(db, names, number, self.tenant)?)),
        }
    }
}
