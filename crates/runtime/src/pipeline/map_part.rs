//! A declared map.
use super::{Installed, Installer, LaneKind, Part, Projection};
use crate::{
    description::{DescribedMap, DescribedTable, event_types},
    encoded::EncodedRecords,
    fold::KeyError,
    handlers::{CurrentRecord, MapHandler},
    lean::carried,
    router::Projects,
};
use bytes::Bytes;
use foldwright_domain::{EventSet, Map, RawEvent};
use foldwright_ports::RecordTable;
use std::{marker::PhantomData, sync::Arc};

pub(super) struct MapPart<M: Map> {
    pub(super) projection: Projection<M::On, M::Record>,
}

impl<M: Map> Part for MapPart<M> {
    fn kind(&self) -> &'static str {
        "map"
    }

    fn name(&self) -> &'static str {
        M::NAME
    }

    fn install(self: Box<Self>, pipeline: &'static str, installer: &mut Installer) {
        let segments = [pipeline, self.kind(), M::NAME];
        let Some(route) = installer.route(&segments) else {
            return;
        };
        let bound = installer.table::<Arc<dyn RecordTable<M::Record>>>("map", M::NAME);
        let described_table = DescribedTable::of(bound.is_some());
        let table = bound.unwrap_or_else(|| Arc::new(EncodedRecords(installer.ports.records.clone())));
        let routed: Arc<dyn Projects> = Arc::new(EachEventAlone::<M>(PhantomData));
        let read = M::On::CATALOG.iter().copied().flatten().map(|d| d.event_type);
        installer.project(read, &route, &routed);
        let (subscribers, described) =
            self.projection
                .install(&segments, Arc::new(CurrentRecord::<M>(PhantomData)), installer);
        installer.describe(pipeline).maps.push(DescribedMap {
            name: M::NAME.to_owned(),
            route: route.to_string(),
            version: M::VERSION,
            events: event_types::<M::On>(),
            table: described_table,
            subscribers: described,
        });
        let handler = Arc::new(MapHandler::<M> { table, subscribers });
        installer.add(
            route,
            Installed {
                handler,
                version: M::VERSION,
                lane: LaneKind::Bulk,
                claimed: true,
            },
        );
    }
}

/// A map needs no order, so a bad event holds up no other.
struct EachEventAlone<M>(PhantomData<fn() -> M>);

impl<M: Map> Projects for EachEventAlone<M> {
    fn group_key(&self, event: &RawEvent) -> Result<Arc<str>, KeyError> {
        Ok(event.meta.id.to_string().into())
    }

    fn carried(&self, event: &RawEvent) -> Bytes {
        carried::<M::On>(event)
    }
}
