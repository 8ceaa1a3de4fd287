//! A declared decider.
use super::{Installed, InstalledFold, Installer, LaneKind, Part, Registered};
use crate::{
    fold::aggregate_group_key,
    handlers::{DECIDE_PATH, DeciderHandler},
};
use foldwright_domain::{Aggregate, Decider, Fold, StreamKey};
use foldwright_ports::{Route, StateTable};
use std::{any::TypeId, marker::PhantomData, sync::Arc};

pub(super) struct DeciderPart<C>(pub(super) PhantomData<fn() -> C>);

impl<C: Decider> Part for DeciderPart<C> {
    fn kind(&self) -> &'static str {
        "command"
    }

    fn name(&self) -> &'static str {
        C::NAME
    }

    fn install(self: Box<Self>, pipeline: &'static str, installer: &mut Installer) {
        let Some(route) = installer.route(&[pipeline, self.kind(), C::NAME]) else {
            return;
        };
        let group = |stream: &StreamKey, _: &C| (DECIDE_PATH.into(), aggregate_group_key(stream));
        let registered = Registered::new(route.clone(), C::Of::TYPE.as_str(), group);
        installer.command(pipeline, C::NAME, registered, Some(<C::Fold as Fold>::NAME));
        installer.later(move |installer| add::<C>(route, pipeline, installer));
    }
}

/// Adds the handler when all folds are known.
fn add<C: Decider>(route: Route, pipeline: &str, installer: &mut Installer) {
    let conditional = installer.ports.log.capabilities().conditional;
    if !conditional && !installer.unguarded_deciders {
        installer.faults.push(format!(
            "{route}: a decider needs a log with conditional append, this one has none: use another log, or say \
             `accept_unguarded_deciders` if its weaker promise will do"
        ));
    }
    let name = <C::Fold as Fold>::NAME;
    let Some(table) = installer
        .folds
        .get(name)
        .and_then(|fold| table::<C>(fold, pipeline))
    else {
        installer.faults.push(format!(
            "{route}: it decides on fold `{name}`, which pipeline {pipeline} does not declare: add it with `fold`"
        ));
        return;
    };
    let handler = Arc::new(DeciderHandler::<C> { table, conditional });
    installer.add(
        route,
        Installed {
            handler,
            version: 0,
            lane: LaneKind::Bulk,
            claimed: true,
        },
    );
}

/// The table of a fold, if it is the one that the decider names: of its pipeline, with one state per aggregate.
fn table<C: Decider>(
    fold: &InstalledFold,
    pipeline: &str,
) -> Option<Arc<dyn StateTable<<C::Fold as Fold>::State>>> {
    let is_it = fold.pipeline == pipeline && fold.by_aggregate && fold.of == TypeId::of::<C::Fold>();
    let table = fold
        .table
        .downcast_ref::<Arc<dyn StateTable<<C::Fold as Fold>::State>>>();
    table.filter(|_| is_it).cloned()
}
