//! A declared fold.
use super::{Installed, InstalledFold, Installer, LaneKind, Part, Projection};
use crate::{
    counters::Counters,
    description::{DescribedFold, DescribedTable, event_types},
    encoded::EncodedStates,
    fold::{KeyError, KeyRule},
    handlers::{CurrentFold, FoldHandler, FoldLedger},
    lean::carried,
    retention::BaseKeeper,
    router::Projects,
};
use bytes::Bytes;
use foldwright_domain::{EventSet, Fold, OrderKind, RawEvent};
use foldwright_ports::StateTable;
use std::{any::TypeId, marker::PhantomData, sync::Arc};

pub(super) struct FoldPart<F: Fold> {
    pub(super) rule: Arc<dyn KeyRule<F>>,
    /// The aggregate type whose id is the key; `None` for a key of its own.
    pub(super) aggregate: Option<&'static str>,
    pub(super) projection: Projection<F::On, F::State>,
}

impl<F: Fold> Part for FoldPart<F> {
    fn kind(&self) -> &'static str {
        "fold"
    }

    fn name(&self) -> &'static str {
        F::NAME
    }

    fn install(self: Box<Self>, pipeline: &'static str, installer: &mut Installer) {
        let segments = [pipeline, self.kind(), F::NAME];
        let Some(route) = installer.route(&segments) else {
            return;
        };
        let Self {
            rule,
            aggregate,
            projection,
        } = *self;
        let bound = installer.table::<Arc<dyn StateTable<F::State>>>("fold", F::NAME);
        let described_table = DescribedTable::of(bound.is_some());
        let table = bound.unwrap_or_else(|| Arc::new(EncodedStates(installer.ports.folds.clone())));
        let routed: Arc<dyn Projects> = Arc::new(FoldRouting {
            rule: rule.clone(),
            counters: installer.counters.clone(),
            _fold: PhantomData,
        });
        let read = F::On::CATALOG.iter().copied().flatten().map(|d| d.event_type);
        installer.project(read, &route, &routed);
        installer.folds.insert(
            F::NAME,
            InstalledFold {
                pipeline: pipeline.into(),
                of: TypeId::of::<F>(),
                by_aggregate: aggregate.is_some(),
                table: Box::new(table.clone()),
                ledger: Arc::new(FoldLedger {
                    table: table.clone(),
                    rule: rule.clone(),
                }),
            },
        );
        installer.bases.push(Arc::new(BaseKeeper {
            table: table.clone(),
            rule: rule.clone(),
        }));
        let current = Arc::new(CurrentFold {
            table: table.clone(),
            rule: rule.clone(),
        });
        let (subscribers, described) = projection.install(&segments, current, installer);
        installer.describe(pipeline).folds.push(DescribedFold {
            name: F::NAME.to_owned(),
            route: route.to_string(),
            version: F::VERSION,
            by_occurrence: <F::Order as OrderKind>::CANONICAL,
            key: aggregate.map_or_else(|| "own".to_owned(), |aggregate| format!("aggregate {aggregate}")),
            events: event_types::<F::On>(),
            table: described_table,
            subscribers: described,
        });
        let handler = Arc::new(FoldHandler {
            table,
            rule,
            subscribers,
        });
        installer.add(
            route,
            Installed {
                handler,
                version: F::VERSION,
                lane: LaneKind::Bulk,
                claimed: true,
            },
        );
    }
}

struct FoldRouting<F> {
    rule: Arc<dyn KeyRule<F>>,
    counters: Arc<Counters>,
    _fold: PhantomData<fn() -> F>,
}

impl<F: Fold> Projects for FoldRouting<F> {
    fn group_key(&self, event: &RawEvent) -> Result<Arc<str>, KeyError> {
        let placed = self.rule.placed(event)?;
        if placed.outside {
            self.counters.outside_window.add(1);
            tracing::warn!(fold = F::NAME, event = %event.meta.id, "an event lies outside the window of its key: it counts, and a refold would not find it");
        }
        Ok(placed.key)
    }

    fn carried(&self, event: &RawEvent) -> Bytes {
        carried::<F::On>(event)
    }
}
