//! From definitions to handlers.
use super::Registered;
use crate::{
    counters::Counters,
    handlers::{AsksLedger, RouteHandler},
    router::{Projects, Router},
};
use foldwright_ports::{JobId, Ports, Route};
use std::{
    any::{Any, TypeId},
    collections::BTreeMap,
    sync::Arc,
};

/// Typed tables that a composition root bound, by kind and name of the projection. Each holds an `Arc` of its table
/// trait.
pub(crate) type Tables = BTreeMap<(&'static str, &'static str), Box<dyn Any + Send>>;

/// Where a route's jobs run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Lane {
    /// Commands and projections: many leases in one go.
    Bulk,
    /// Subscribers: a lease at a time, because an effect may be slow.
    Effect,
}

/// A route that this kernel can run.
pub(crate) struct Installed {
    pub(crate) handler: Arc<dyn RouteHandler>,
    pub(crate) version: u32,
    pub(crate) lane: Lane,
}

/// A fold that this kernel knows.
pub(crate) struct InstalledFold {
    pub(crate) pipeline: String,
    pub(crate) of: TypeId,
    pub(crate) by_aggregate: bool,
    /// An `Arc` of its table trait.
    pub(crate) table: Box<dyn Any + Send>,
    pub(crate) ledger: Arc<dyn AsksLedger>,
}

/// What can be installed only when everything else is.
type Later = Box<dyn FnOnce(&mut Installer)>;

/// Collects handlers, what the router needs, and every fault.
pub(crate) struct Installer {
    pub(crate) ports: Ports,
    pub(crate) counters: Arc<Counters>,
    pub(crate) tables: Tables,
    pub(crate) router: Router,
    pub(crate) routes: BTreeMap<Route, Installed>,
    pub(crate) commands: BTreeMap<&'static str, Registered>,
    pub(crate) folds: BTreeMap<&'static str, InstalledFold>,
    /// Whether deciders may run on a log that does not guard them.
    pub(crate) unguarded_deciders: bool,
    later: Vec<Later>,
    pub(crate) faults: Vec<String>,
}

impl Installer {
    pub(crate) fn new(ports: Ports, counters: Arc<Counters>, tables: Tables) -> Self {
        Self {
            ports,
            counters,
            tables,
            router: Router::default(),
            routes: BTreeMap::new(),
            commands: BTreeMap::new(),
            folds: BTreeMap::new(),
            unguarded_deciders: false,
            later: Vec::new(),
            faults: Vec::new(),
        }
    }

    /// The route of these segments; a fault when they are no route.
    pub(crate) fn route(&mut self, segments: &[&str]) -> Option<Route> {
        match Route::parse(segments.join("/")) {
            Ok(route) => Some(route),
            Err(error) => {
                self.faults.push(error.to_string());
                None
            }
        }
    }

    /// Adds a route's handler. Group ids carry no pipeline, so paths are unique over the whole kernel.
    pub(crate) fn add(&mut self, route: Route, installed: Installed) {
        if let Some(other) = self.routes.keys().find(|other| other.path() == route.path()) {
            self.faults.push(format!(
                "`{}` is declared twice: as {other} and as {route}",
                route.path()
            ));
            return;
        }
        let suffix = |route: &Route| JobId::of_event(foldwright_domain::EventId::from_u128(0), route);
        if let Some(other) = self.routes.keys().find(|other| suffix(other) == suffix(&route)) {
            self.faults.push(format!(
                "{other} and {route} give the same job ids: rename one of them"
            ));
            return;
        }
        self.routes.insert(route, installed);
    }

    /// Installs something when everything that was declared is known.
    pub(crate) fn later(&mut self, install: impl FnOnce(&mut Self) + 'static) {
        self.later.push(Box::new(install));
    }

    /// Installs what had to wait.
    pub(crate) fn finish(&mut self) {
        for install in std::mem::take(&mut self.later) {
            install(self);
        }
    }

    /// Brings events to a projection.
    pub(crate) fn project(
        &mut self,
        event_types: impl IntoIterator<Item = &'static str>,
        route: &Route,
        projection: &Arc<dyn Projects>,
    ) {
        self.router.add(event_types, route, projection);
    }

    /// The typed table that was bound to a projection. One of another projection of that name is a fault: it would be
    /// left out silently.
    pub(crate) fn table<T: Clone + 'static>(&mut self, kind: &'static str, name: &'static str) -> Option<T> {
        match self.tables.remove(&(kind, name))?.downcast::<T>() {
            Ok(table) => Some(*table),
            Err(_) => {
                self.faults.push(format!(
                    "the table bound to {kind} `{name}` is of another state or record type"
                ));
                None
            }
        }
    }
}
