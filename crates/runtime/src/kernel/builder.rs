//! Putting a kernel together.
use super::{Desk, Inline, Kernel, Role};
use crate::{
    context::Context,
    counters::Counters,
    fold::{RefoldBudget, RefoldGate},
    ids::SystemIds,
    pipeline::{Faults, Global, Installer, Part, Pipeline, Tables},
    telemetry::{Propagation, SpanFields},
    wire::Bodies,
    worker::{Worker, WorkerSettings},
};
use foldwright_domain::{Fold, Map};
use foldwright_ports::{IdSource, Ports, RecordTable, StateTable};
use std::sync::{Arc, atomic::AtomicBool};

/// Binds pipelines to ports. What is required is an argument of [`Kernel::builder`].
pub struct KernelBuilder {
    ports: Ports,
    role: Role,
    parts: Vec<(&'static str, Vec<Box<dyn Part>>)>,
    tables: Tables,
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
        let counters = Arc::new(Counters::default());
        let elsewhere = self.tables.keys().copied().collect();
        let mut installer = Installer::new(self.ports.clone(), counters.clone(), self.tables);
        installer.faults = self.faults;
        installer.unguarded_deciders = self.unguarded_deciders;
        let is_empty = self.parts.iter().all(|(_, parts)| parts.is_empty());
        for (pipeline, parts) in self.parts {
            for part in parts {
                part.install(pipeline, &mut installer);
            }
        }
        installer.finish();
        let unbound = std::mem::take(&mut installer.tables);
        let unbound = unbound
            .keys()
            .map(|(kind, name)| format!("a table is bound to {kind} `{name}`, which no pipeline declares"));
        installer.faults.extend(unbound);
        installer.faults.extend(self.worker.faults());
        installer.faults.extend(self.refolds.faults());
        if is_empty {
            let fault = "no command and no projection: a kernel needs a pipeline that declares one";
            installer.faults.push(fault.to_owned());
        }
        if self.role.works() && tokio::runtime::Handle::try_current().is_err() {
            let fault = "no tokio runtime: start a kernel that works inside one, with time enabled";
            installer.faults.push(fault.to_owned());
        }
        if !installer.faults.is_empty() {
            return Err(Faults(installer.faults));
        }
        let ctx = Arc::new(Context {
            bodies: Bodies::new(self.ports.hot_blobs.clone(), self.ports.cold_blobs.clone()),
            ports: self.ports,
            ids: self.ids,
            router: installer.router,
            refolds: RefoldGate::new(self.refolds),
            counters,
            propagation: self.propagation,
            effect_timeout: self.worker.effect_timeout,
            stopping: AtomicBool::new(false),
        });
        let worker = self
            .role
            .works()
            .then(|| Worker::start(&ctx, &installer.routes, self.worker));
        let inline = (self.role == Role::Migration).then(|| Inline::new(installer.routes));
        let desk = Desk::new(ctx, installer.commands, installer.folds);
        Ok(Kernel::new(desk, elsewhere, worker, inline))
    }
}
