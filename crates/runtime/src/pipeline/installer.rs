//! From definitions to handlers.
use super::Registered;
use crate::{
    counters::Counters,
    description::{DescribedCommand, DescribedPipeline},
    handlers::{AsksLedger, RouteHandler},
    retention::KeepsBase,
    role::Role,
    router::{Projects, Router},
    subscriber::{KillSwitch, SubscriberCounts},
};
use foldwright_ports::{JobId, Ports, Route};
use std::{
    any::{Any, TypeId},
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

/// Typed tables that a composition root bound, by kind and name of the projection. Each holds an `Arc` of its table
/// trait.
pub(crate) type Tables = BTreeMap<(&'static str, &'static str), Box<dyn Any + Send>>;

/// On which lanes a route's jobs run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum LaneKind {
    /// Commands and projections: many leases in one go.
    Bulk,
    /// Subscribers: a lease at a time, because an effect may be slow.
    Effect,
}

/// A route that this kernel can run.
pub(crate) struct Installed {
    pub(crate) handler: Arc<dyn RouteHandler>,
    pub(crate) version: u32,
    pub(crate) lane: LaneKind,
    /// Whether a worker of this role takes its jobs.
    pub(crate) claimed: bool,
}

/// Kill switches that a composition root bound.
#[derive(Default)]
pub(crate) struct Switches {
    /// By the subscribers' name.
    pub(crate) named: BTreeMap<&'static str, Arc<dyn KillSwitch>>,
    /// For all others.
    pub(crate) others: Option<Arc<dyn KillSwitch>>,
    used: BTreeSet<&'static str>,
    others_used: bool,
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
    pub(crate) role: Role,
    pub(crate) counters: Arc<Counters>,
    pub(crate) tables: Tables,
    pub(crate) switches: Switches,
    pub(crate) router: Router,
    pub(crate) routes: BTreeMap<Route, Installed>,
    pub(crate) subscribers: BTreeMap<Route, Arc<SubscriberCounts>>,
    pub(crate) bases: Vec<Arc<dyn KeepsBase>>,
    pub(crate) described: BTreeMap<&'static str, DescribedPipeline>,
    pub(crate) commands: BTreeMap<&'static str, Registered>,
    pub(crate) folds: BTreeMap<&'static str, InstalledFold>,
    /// Whether deciders may run on a log that does not guard them.
    pub(crate) unguarded_deciders: bool,
    later: Vec<Later>,
    pub(crate) faults: Vec<String>,
}

impl Installer {
    pub(crate) fn new(ports: Ports, role: Role, tables: Tables, switches: Switches, format: u8) -> Self {
        Self {
            ports,
            role,
            counters: Arc::default(),
            tables,
            switches,
            router: Router::new(format),
            routes: BTreeMap::new(),
            subscribers: BTreeMap::new(),
            bases: Vec::new(),
            described: BTreeMap::new(),
            commands: BTreeMap::new(),
            folds: BTreeMap::new(),
            unguarded_deciders: false,
            later: Vec::new(),
            faults: Vec::new(),
        }
    }

    /// The description of a pipeline, to be added to.
    pub(crate) fn describe(&mut self, pipeline: &'static str) -> &mut DescribedPipeline {
        self.described
            .entry(pipeline)
            .or_insert_with(|| DescribedPipeline {
                name: pipeline.to_owned(),
                ..DescribedPipeline::default()
            })
    }

    /// Describes a command, and says under which name it can be sent.
    pub(crate) fn command(
        &mut self,
        pipeline: &'static str,
        name: &'static str,
        registered: Registered,
        decides_on: Option<&str>,
    ) {
        self.describe(pipeline).commands.push(DescribedCommand {
            name: name.to_owned(),
            route: registered.route.to_string(),
            aggregate: registered.aggregate_type.to_owned(),
            decides_on: decides_on.map(str::to_owned),
        });
        self.commands.insert(name, registered);
    }

    /// The kill switch of the subscribers of this name.
    pub(crate) fn switch(&mut self, name: &'static str) -> Option<Arc<dyn KillSwitch>> {
        if let Some(source) = self.switches.named.get(name) {
            self.switches.used.insert(name);
            return Some(source.clone());
        }
        self.switches.others_used = true;
        self.switches.others.clone()
    }

    /// What was bound to nothing, which would be left out silently.
    pub(crate) fn unbound(&self) -> Vec<String> {
        let tables = self.tables.keys();
        let mut faults: Vec<_> = tables
            .map(|(kind, name)| format!("a table is bound to {kind} `{name}`, which no pipeline declares"))
            .collect();
        let named = self.switches.named.keys();
        let unused = named.filter(|name| !self.switches.used.contains(*name));
        faults.extend(unused.map(|name| {
            format!("a kill switch is bound to subscriber `{name}`, which no pipeline declares")
        }));
        if self.switches.others.is_some() && !self.switches.others_used {
            faults.push("kill switches are bound, and no subscriber is left for them".to_owned());
        }
        faults
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
