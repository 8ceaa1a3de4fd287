//! Records of maps in memory.
use crate::{
    cursor::{Reader, Writer},
    keyed::Keyed,
    lock::lock,
    pager::page,
};
use async_trait::async_trait;
use foldwright_domain::{EventId, Identity, Millis, Position, TenantId};
use foldwright_ports::{AppendStore, Cursor, Limits, Page, Record, Result};
use std::{
    collections::{BTreeMap, BTreeSet},
    ops::Bound,
    sync::{Arc, Mutex},
};

const CURSOR: u8 = b'r';

/// Records by tenant and map.
#[derive(Debug, Default)]
pub(crate) struct MemoryRecords {
    maps: Mutex<BTreeMap<(TenantId, Arc<str>), MapRecords>>,
}

/// Canonical order, made unique by the identity.
type Place = (Position, Identity);

/// The records of one tenant and map: one per identity, of the highest version.
#[derive(Debug, Default)]
struct MapRecords {
    places: Keyed<Identity, Place>,
    canonical: BTreeMap<Place, Record>,
    aggregates: BTreeMap<Arc<str>, BTreeSet<Place>>,
}

impl MapRecords {
    fn append(&mut self, record: Record) {
        let place = (record.position, record.identity);
        if let Some(old) = self.places.get(&record.identity).copied() {
            match self.canonical.get(&old) {
                Some(there) if there.version >= record.version => return,
                _ => self.remove(&old),
            }
        }
        self.places.insert(record.identity, place);
        self.aggregates
            .entry(record.stream.id.clone().into())
            .or_default()
            .insert(place);
        self.canonical.insert(place, record);
    }

    fn remove(&mut self, place: &Place) {
        if let Some(old) = self.canonical.remove(place) {
            self.places.remove(&old.identity);
            let id = old.stream.id.as_str();
            if let Some(of_one) = self.aggregates.get_mut(id) {
                of_one.remove(place);
                if of_one.is_empty() {
                    self.aggregates.remove(id);
                }
            }
        }
    }
}

#[async_trait]
impl AppendStore for MemoryRecords {
    async fn append(&self, records: Vec<Record>) -> Vec<Result<()>> {
        let mut maps = lock(&self.maps);
        let mut append = |record: Record| {
            let key = (record.stream.tenant.clone(), record.projection.clone());
            maps.entry(key).or_default().append(record);
            Ok(())
        };
        records.into_iter().map(&mut append).collect()
    }

    async fn list(
        &self,
        tenant: &TenantId,
        projection: &str,
        aggregate_id: Option<&str>,
        from: Option<Cursor>,
        limits: Limits,
    ) -> Result<Page<Record>> {
        let from = match &from {
            Some(cursor) => Bound::Excluded(to_place(cursor)?),
            None => Bound::Unbounded,
        };
        let range = (from, Bound::Unbounded);
        let maps = lock(&self.maps);
        let Some(map) = maps.get(&(tenant.clone(), projection.into())) else {
            return Ok(Page::last(Vec::new()));
        };
        let sized = |record: &Record| (record.clone(), record.record.len());
        Ok(match aggregate_id {
            None => {
                let all = map.canonical.range(range);
                page(
                    limits,
                    all.map(|(place, record)| (*place, Some(sized(record)))),
                    of_place,
                )
            }
            Some(id) => {
                let of_one = map
                    .aggregates
                    .get(id)
                    .into_iter()
                    .flat_map(|set| set.range(range));
                let rows = of_one.map(|place| (*place, map.canonical.get(place).map(sized)));
                page(limits, rows, of_place)
            }
        })
    }
}

fn of_place((position, identity): &Place) -> Cursor {
    Writer::new(CURSOR)
        .i64(position.occurred_at.0)
        .u128(position.id.as_u128())
        .bytes(identity.0)
        .done()
}

fn to_place(cursor: &Cursor) -> Result<Place> {
    let mut reader = Reader::new(cursor, CURSOR, "list records")?;
    let position = Position {
        occurred_at: Millis(reader.i64()?),
        id: EventId::from_u128(reader.u128()?),
    };
    let identity = Identity(reader.bytes()?);
    reader.end()?;
    Ok((position, identity))
}
