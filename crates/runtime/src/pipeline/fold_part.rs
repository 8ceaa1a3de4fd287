//! A declared fold.
use super::{Installed, InstalledFold, Installer, Lane, Part, Projection};
use crate::{
    encoded::EncodedStates,
    fold::{KeyError, KeyRule},
    handlers::{CurrentFold, FoldHandler, FoldLedger},
    router::Projects,
};
use foldwright_domain::{EventSet, Fold, RawEvent};
use foldwright_ports::StateTable;
use std::{any::TypeId, marker::PhantomData, sync::Arc};

pub(super) struct FoldPart<F: Fold> {
    pub(super) rule: Arc<dyn KeyRule<F>>,
    /// Whether it has one state per aggregate, as deciders need it.
    pub(super) by_aggregate: bool,
    pub(super) projection: Projection<F::On, F::State>,
}

impl<F: Fold> Part for FoldPart<F> {
    fn kind(&self) -> &'static str {
        "fold"
    }

    fn name(&self) -> &'static str {
        F::NAME
    }

    fn install(self: Box<Self>, pipeline: &str, installer: &mut Installer) {
        let segments = [pipeline, self.kind(), F::NAME];
        let Some(route) = installer.route(&segments) else {
            return;
        };
        let Self {
            rule,
            by_aggregate,
            projection,
        } = *self;
        let bound = installer.table::<Arc<dyn StateTable<F::State>>>("fold", F::NAME);
        let table = bound.unwrap_or_else(|| Arc::new(EncodedStates(installer.ports.folds.clone())));
        let routed: Arc<dyn Projects> = Arc::new(FoldRouting {
            rule: rule.clone(),
            _fold: PhantomData,
        });
        let event_types = F::On::CATALOG.iter().copied().flatten().map(|d| d.event_type);
        installer.project(event_types, &route, &routed);
        installer.folds.insert(
            F::NAME,
            InstalledFold {
                pipeline: pipeline.into(),
                of: TypeId::of::<F>(),
                by_aggregate,
                table: Box::new(table.clone()),
                ledger: Arc::new(FoldLedger {
                    table: table.clone(),
                    rule: rule.clone(),
                }),
            },
        );
        let current = Arc::new(CurrentFold {
            table: table.clone(),
            rule: rule.clone(),
        });
        let subscribers = projection.install(&segments, current, installer);
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
                lane: Lane::Bulk,
            },
        );
    }
}

struct FoldRouting<F> {
    rule: Arc<dyn KeyRule<F>>,
    _fold: PhantomData<fn() -> F>,
}

impl<F: Fold> Projects for FoldRouting<F> {
    fn group_key(&self, event: &RawEvent) -> Result<Arc<str>, KeyError> {
        self.rule.group_key(event)
    }
}
