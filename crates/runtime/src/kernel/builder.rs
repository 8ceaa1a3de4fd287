//! Putting a kernel together.
use super::{
    Desk, Inline, Kernel, Wired,
    described_settings::{adapters, connections, of_refolds, of_worker},
};
use crate::{
    context::Context,
    description::{DescribedEnvelope, Description},
    fold::{RefoldBudget, RefoldGate},
    ids::SystemIds,
    pipeline::{Faults, Global, Installer, Part, Pipeline, Switches, Tables},
    role::Role,
    subscriber::{KillSwitch, Subscriber},
    telemetry::{Guarded, Propagation, RouteMetrics, SpanFields},
    wire::{Bodies, FORMAT, OLDEST, RELEASED},
    worker::{Worker, WorkerSettings},
};
use foldwright_domain::{Fold, Map};
use foldwright_ports::{IdSource, Ports, RecordTable, Route, StateTable};
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, atomic::AtomicBool},
};

/// What calls stores beside a worker's lanes: the keeper of its leases, its beat and the janitor.
const BESIDE_LANES: usize = 3;

/// Binds pipelines to ports. What is required is an argument of [`Kernel::builder`].
pub struct KernelBuilder {
    ports: Ports,
    role: Role,
    parts: Vec<(&'static str, Vec<Box<dyn Part>>)>,
    tables: Tables,
    switches: Switches,
    format: u8,
    ids: Arc<dyn IdSource>,
    worker: WorkerSettings,
    refolds: RefoldBudget,
    propagation: Arc<dyn Propagation>,
    unguarded_deciders: bool,
    faults: Vec<String>,
}

impl KernelBuilder {
    pub(super) fn new(ports: Ports, role: Role) -> Self {
        Self {
            ports,
            role,
            parts: Vec::new(),
            tables: Tables::new(),
            switches: Switches::default(),
            format: RELEASED,
            ids: Arc::new(SystemIds::default()),
            worker: WorkerSettings::default(),
            refolds: RefoldBudget::default(),
            propagation: Arc::new(SpanFields),
            unguarded_deciders: false,
            faults: Vec::new(),
        }
    }

    /// Runs a pipeline. Every process registers the same ones, whatever its role.
    #[must_use]
    pub fn pipeline<A>(mut self, pipeline: Pipeline<A>) -> Self {
        self.parts.push((pipeline.name, pipeline.parts));
        self
    }

    /// Runs global projections.
    #[must_use]
    pub fn global(mut self, global: Global) -> Self {
        self.parts.push((global.name, global.parts));
        self
    }

    /// Keeps the states of fold `F` in a table of the user's own.
    #[must_use]
    pub fn table<F: Fold>(mut self, table: Arc<dyn StateTable<F::State>>) -> Self {
        self.bind(("fold", F::NAME), Box::new(table));
        self
    }

    /// Keeps the records of map `M` in a table of the user's own.
    #[must_use]
    pub fn record_table<M: Map>(mut self, table: Arc<dyn RecordTable<M::Record>>) -> Self {
        self.bind(("map", M::NAME), Box::new(table));
        self
    }

    /// Lets a source of the user's own switch off the subscribers named as `X`, whatever they hang on.
    #[must_use]
    pub fn kill_switch<X: Subscriber>(mut self, source: Arc<dyn KillSwitch>) -> Self {
        if self.switches.named.insert(X::NAME, source).is_some() {
            let fault = format!("two kill switches are bound to subscriber `{}`", X::NAME);
            self.faults.push(fault);
        }
        self
    }

    /// Lets a source of the user's own switch off all subscribers that have no kill switch of their own.
    #[must_use]
    pub fn kill_switches(mut self, source: Arc<dyn KillSwitch>) -> Self {
        if self.switches.others.replace(source).is_some() {
            let fault = "two kill switches are bound to all subscribers that have none of their own";
            self.faults.push(fault.to_owned());
        }
        self
    }

    /// Writes jobs in this envelope format. The default is the newest that the release before this one reads; raise it
    /// when the whole fleet runs this release, lower it before going back to one that reads less. Every format that was
    /// ever released is read, and a job in a newer one than a worker reads is left to others.
    #[must_use]
    pub fn write_format(mut self, format: u8) -> Self {
        self.format = format;
        self
    }

    /// Replaces the source of ids, for simulations.
    #[must_use]
    pub fn ids(mut self, ids: Arc<dyn IdSource>) -> Self {
        self.ids = ids;
        self
    }

    /// Replaces the settings of this process's worker.
    #[must_use]
    pub fn worker(mut self, settings: WorkerSettings) -> Self {
        self.worker = settings;
        self
    }

    /// Replaces the budget of refolds.
    #[must_use]
    pub fn refold_budget(mut self, budget: RefoldBudget) -> Self {
        self.refolds = budget;
        self
    }

    /// Ties the kernel's spans to a tracing system.
    #[must_use]
    pub fn propagation(mut self, propagation: Arc<dyn Propagation>) -> Self {
        self.propagation = propagation;
        self
    }

    /// Accepts deciders on a log without conditional append, where they are otherwise a start-up fault.
    ///
    /// What is weaker then: the log does not refuse a decision that was taken on an older state. Decisions of one
    /// aggregate still run one after the other, and each sees what the log holds when it starts. But what a handler's
    /// command appends in between, or a decision whose process was paused beyond its lease, is not seen: a rule
    /// may be broken by two events that never saw each other.
    #[must_use]
    pub fn accept_unguarded_deciders(mut self) -> Self {
        self.unguarded_deciders = true;
        self
    }

    fn bind(&mut self, (kind, name): (&'static str, &'static str), table: Box<dyn std::any::Any + Send>) {
        if self.tables.insert((kind, name), table).is_some() {
            self.faults
                .push(format!("two tables are bound to {kind} `{name}`"));
        }
    }

    /// Checks everything and starts the worker if the role has one. Needs a tokio runtime with time enabled.
    ///
    /// # Errors
    /// [`Faults`] lists every fault of the composition; nothing was started then.
    pub fn start(self) -> Result<Kernel, Faults> {
        let elsewhere = self.tables.keys().copied().collect();
        let mut installer = Installer::new(
            self.ports.clone(),
            self.role,
            self.tables,
            self.switches,
            self.format,
        );
        installer.faults = self.faults;
        installer.unguarded_deciders = self.unguarded_deciders;
        let is_empty = self.parts.iter().all(|(_, parts)| parts.is_empty());
        for (pipeline, parts) in self.parts {
            for part in parts {
                part.install(pipeline, &mut installer);
            }
        }
        installer.finish();
        let unbound = installer.unbound();
        installer.faults.extend(unbound);
        installer.faults.extend(self.worker.faults());
        installer.faults.extend(self.refolds.faults());
        if !(OLDEST..=FORMAT).contains(&self.format) {
            installer.faults.push(format!(
                "envelope format {} cannot be written: this build writes {OLDEST} to {FORMAT}",
                self.format
            ));
        }
        if is_empty {
            let fault = "no command and no projection: a kernel needs a pipeline that declares one";
            installer.faults.push(fault.to_owned());
        }
        if self.role.works() {
            let faults = &mut installer.faults;
            faults.extend(pool_faults(&self.ports, &self.worker));
            if tokio::runtime::Handle::try_current().is_err() {
                let fault = "no tokio runtime: start a kernel that works inside one, with time enabled";
                faults.push(fault.to_owned());
            }
        }
        if !installer.faults.is_empty() {
            return Err(Faults(installer.faults));
        }
        let mut settings = BTreeMap::new();
        if self.role.works() {
            of_worker(&self.worker, &mut settings);
            of_refolds(&self.refolds, &mut settings);
        }
        let description = Description {
            role: self.role.name(),
            envelope: DescribedEnvelope {
                reads: FORMAT,
                writes: self.format,
            },
            pipelines: installer.described.into_values().collect(),
            adapters: adapters(&self.ports),
            settings,
        };
        let measured = installer.routes.keys();
        let metrics = measured.map(|route| (route.clone(), RouteMetrics::of(route)));
        let ctx = Arc::new(Context {
            bodies: Bodies::new(self.ports.hot_blobs.clone(), self.ports.cold_blobs.clone()),
            ports: self.ports,
            ids: self.ids,
            router: installer.router,
            refolds: RefoldGate::new(self.refolds),
            counters: installer.counters,
            subscribers: installer.subscribers,
            format: self.format,
            metrics: metrics.collect(),
            propagation: Arc::new(Guarded(self.propagation)),
            effect_timeout: self.worker.effect_timeout,
            stopping: AtomicBool::new(false),
        });
        let worker = self
            .role
            .works()
            .then(|| Worker::start(&ctx, &installer.routes, self.worker));
        let taken: BTreeSet<Route> = installer
            .routes
            .iter()
            .filter(|(_, installed)| worker.is_some() && installed.claimed)
            .map(|(route, _)| route.clone())
            .collect();
        let wired = Wired {
            elsewhere,
            taken,
            bases: installer.bases,
            description,
        };
        let inline = (self.role == Role::Migration).then(|| Inline::new(installer.routes));
        let desk = Desk::new(ctx, installer.commands, installer.folds);
        Ok(Kernel::new(desk, wired, worker, inline))
    }
}

/// A worker whose lanes wait for each other's connection cannot hold its leases.
fn pool_faults(ports: &Ports, worker: &WorkerSettings) -> Vec<String> {
    let needed = worker
        .bulk_lanes
        .saturating_add(worker.effect_lanes)
        .saturating_add(BESIDE_LANES);
    let small = connections(ports)
        .into_iter()
        .filter_map(|(store, served)| Some((store, served?)))
        .filter(|(_, served)| *served < needed);
    small
        .map(|(store, served)| {
            format!(
                "the {store} serves {served} calls at a time and the worker has {needed} tasks: raise its pool, or lower \
                 `bulk_lanes` and `effect_lanes`"
            )
        })
        .collect()
}
