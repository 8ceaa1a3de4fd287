//! Listing streams and tenants.
use super::scan::Filter;
use crate::{
    codec,
    error::{Fault, Outcome},
    page::Filling,
    reader::Read,
};
use foldwright_domain::{AggregateId, StreamKey, TenantId};
use foldwright_ports::{Cursor, Limits, Page, Selection};
use rusqlite::params;
use std::{collections::BTreeMap, sync::Arc};

/// Streams that one page looks at, at most, however few of them are selected.
const LOOKED_AT: usize = 10_000;

/// The streams that hold a selected event, by type and id.
pub(super) fn aggregates(
    read: &mut Read<'_>,
    selection: &Selection,
    from: Option<&Cursor>,
    limits: Limits,
) -> Outcome<Page<StreamKey>> {
    let (last_type, last_id): (String, String) = from.map_or(Ok(Default::default()), codec::cursor)?;
    let Some(filter) = Filter::new(read.db, read.names, selection)? else {
        return Ok(Page::last(Vec::new()));
    };
    let mut page = Filling::new(limits);
    let mut looked_at = 0;
    for (name, number) in types(read, &filter)? {
        if *name < *last_type {
            continue;
        }
        let after = if *name == *last_type { last_id.as_str() } else { "" };
        let mut select = read.db.prepare_cached(
            "SELECT id, aggregate_id FROM fw_streams
             WHERE tenant = ?1 AND aggregate_type = ?2 AND aggregate_id > ?3 ORDER BY aggregate_id",
        )?;
        let mut rows = select.query(params![filter.tenant, number, after])?;
        while let Some(row) = rows.next()? {
            let id: String = row.get(1)?;
            let place = (name.to_string(), id.clone());
            looked_at += 1;
            if holds_selected(read, &filter, row.get(0)?)? {
                let key = StreamKey {
                    tenant: selection.tenant.clone(),
                    aggregate_type: name.clone(),
                    id: AggregateId::parse(id).map_err(|error| Fault::corrupt(error.to_string()))?,
                };
                let bytes = key.id.as_str().len();
                if !page.offer(key, bytes, place.clone()) {
                    return page.finish();
                }
            }
            if looked_at >= LOOKED_AT {
                page.stop_at(place);
                return page.finish();
            }
        }
    }
    page.finish()
}

/// The aggregate types of a tenant that a selection lets through, by name. Reads one row per type.
fn types(read: &mut Read<'_>, filter: &Filter) -> Outcome<BTreeMap<Arc<str>, i64>> {
    let mut types = BTreeMap::new();
    let mut last = i64::MIN;
    while let Some(number) = read
        .db
        .prepare_cached(
            "SELECT min(aggregate_type) FROM fw_streams WHERE tenant = ?1 AND aggregate_type > ?2",
        )?
        .query_row((filter.tenant, last), |row| row.get::<_, Option<i64>>(0))?
    {
        if Filter::takes(filter.aggregate_types.as_ref(), number) {
            types.insert(read.names.text(read.db, number)?, number);
        }
        last = number;
    }
    Ok(types)
}

/// Whether a stream holds an event that is selected.
fn holds_selected(read: &Read<'_>, filter: &Filter, stream: i64) -> Outcome<bool> {
    if filter.event_types.is_none() && filter.to.is_none() {
        // A stream without events has no row.
        return Ok(true);
    }
    let mut select = read.db.prepare_cached(
        "SELECT tenant, occurred_at, event_type FROM fw_events WHERE stream = ?1 AND occurred_at >= ?2
         ORDER BY occurred_at",
    )?;
    let mut rows = select.query((stream, filter.from))?;
    while let Some(row) = rows.next()? {
        if row.get::<_, i64>(0)? != filter.tenant {
            return Err(Fault::Foreign("stored event"));
        }
        if filter.is_past(row.get(1)?) {
            break;
        }
        if Filter::takes(filter.event_types.as_ref(), row.get(2)?) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The tenants that have events, by name. Reads one row per tenant.
pub(super) fn tenants(read: &mut Read<'_>, from: Option<&Cursor>, limits: Limits) -> Outcome<Page<TenantId>> {
    let after: Option<String> = from.map(codec::cursor).transpose()?;
    let mut tenants = Vec::new();
    let mut last = i64::MIN;
    while let Some(number) = read
        .db
        .prepare_cached("SELECT min(tenant) FROM fw_streams WHERE tenant > ?1")?
        .query_row([last], |row| row.get::<_, Option<i64>>(0))?
    {
        tenants.push(read.names.tenant(read.db, number)?);
        last = number;
    }
    tenants.sort_unstable();
    let mut page = Filling::new(limits);
    for tenant in tenants {
        let name = tenant.as_str().to_owned();
        if after.as_ref().is_none_or(|after| name > *after) && !page.offer(tenant, name.len(), name) {
            break;
        }
    }
    page.finish()
}
