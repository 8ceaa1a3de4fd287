//! What every handler works with.
use crate::{
    counters::Counters,
    fold::RefoldGate,
    router::Router,
    subscriber::SubscriberCounts,
    telemetry::{Propagation, RouteMetrics},
    wire::Bodies,
};
use foldwright_ports::{IdSource, Ports, Route};
use std::{
    collections::BTreeMap,
    sync::{Arc, atomic::AtomicBool},
    time::Duration,
};

/// The ports and the kernel's own parts, shared by all workers of a kernel.
pub(crate) struct Context {
    pub(crate) ports: Ports,
    pub(crate) ids: Arc<dyn IdSource>,
    pub(crate) bodies: Bodies,
    pub(crate) router: Router,
    pub(crate) refolds: RefoldGate,
    pub(crate) counters: Arc<Counters>,
    /// What is measured of each route.
    pub(crate) metrics: BTreeMap<Route, RouteMetrics>,
    /// How spans and the contexts of jobs belong together.
    pub(crate) propagation: Arc<dyn Propagation>,
    /// By route.
    pub(crate) subscribers: BTreeMap<Route, Arc<SubscriberCounts>>,
    /// The envelope format that this process writes.
    pub(crate) format: u8,
    /// How long a subscriber may run.
    pub(crate) effect_timeout: Duration,
    /// Whether the worker of this process stops: it begins nothing new then.
    pub(crate) stopping: AtomicBool,
}
