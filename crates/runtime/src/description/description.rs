//! What a kernel was wired to.
use super::text::Lines;
use crate::subscriber::SubscriberOptions;
use foldwright_domain::{Dispatch, EventSet};
use foldwright_ports::Route;
use serde::Serialize;
use std::{collections::BTreeMap, fmt};

/// What was wired: as text through [`Display`](fmt::Display), as JSON through serde. Field names do not change; fields
/// may be added.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Description {
    /// What this process does: `web`, `worker`, `all` or `migration`.
    pub role: String,
    /// Envelope formats of jobs.
    pub envelope: DescribedEnvelope,
    /// By name.
    pub pipelines: Vec<DescribedPipeline>,
    /// The adapter of each port, as the Rust type that it is.
    pub adapters: BTreeMap<String, String>,
    /// Every setting by its name, with its unit. Those of the worker only where the role has one.
    pub settings: BTreeMap<String, String>,
}

/// Envelope formats of jobs.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct DescribedEnvelope {
    /// The newest format that is read; all older ones are too.
    pub reads: u8,
    /// The format that is written.
    pub writes: u8,
}

/// A pipeline, or a set of global projections.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct DescribedPipeline {
    /// The first segment of its routes.
    pub name: String,
    /// In the order of their declaration.
    pub commands: Vec<DescribedCommand>,
    /// In the order of their declaration.
    pub folds: Vec<DescribedFold>,
    /// In the order of their declaration.
    pub maps: Vec<DescribedMap>,
}

/// A command.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct DescribedCommand {
    /// Its name.
    pub name: String,
    /// Its route.
    pub route: String,
    /// The aggregate type of its events.
    pub aggregate: String,
    /// The fold that it decides on; `None` for a command with a handler.
    pub decides_on: Option<String>,
}

/// A fold.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct DescribedFold {
    /// Its name.
    pub name: String,
    /// Its route.
    pub route: String,
    /// Its version.
    pub version: u32,
    /// Whether order matters to it.
    pub by_occurrence: bool,
    /// `aggregate <type>`, or `own` for a key of its own.
    pub key: String,
    /// The event types it reads.
    pub events: Vec<String>,
    /// Where its states are.
    pub table: DescribedTable,
    /// What listens to it.
    pub subscribers: Vec<DescribedSubscriber>,
}

/// A map.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct DescribedMap {
    /// Its name.
    pub name: String,
    /// Its route.
    pub route: String,
    /// Its version.
    pub version: u32,
    /// The event types it reads.
    pub events: Vec<String>,
    /// Where its records are.
    pub table: DescribedTable,
    /// What listens to it.
    pub subscribers: Vec<DescribedSubscriber>,
}

/// Where a projection's rows are.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum DescribedTable {
    /// In the kernel's own store.
    Kernel,
    /// In a table that the composition root bound.
    Bound,
}

impl DescribedTable {
    pub(crate) const fn of(bound: bool) -> Self {
        if bound { Self::Bound } else { Self::Kernel }
    }
}

/// A subscriber.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct DescribedSubscriber {
    /// Its name.
    pub name: String,
    /// Its route.
    pub route: String,
    /// `each`, `each after <time>`, `debounce <time>` or `throttle <time>`.
    pub dispatch: String,
    /// The roles it runs in; `None` means every one that takes work.
    pub run_in: Option<Vec<String>>,
    /// Whether a kill switch is bound to it.
    pub kill_switch: bool,
}

impl DescribedSubscriber {
    pub(crate) fn new(route: &Route, options: &SubscriberOptions, kill_switch: bool) -> Self {
        let dispatch = match options.dispatch {
            Dispatch::Each { delay } if delay.is_zero() => "each".to_owned(),
            Dispatch::Each { delay } => format!("each after {delay:?}"),
            Dispatch::Debounce { quiet } => format!("debounce {quiet:?}"),
            Dispatch::Throttle { window } => format!("throttle {window:?}"),
        };
        let roles = options.run_in.as_ref();
        Self {
            name: route.name().to_owned(),
            route: route.to_string(),
            dispatch,
            run_in: roles.map(|roles| roles.iter().map(|role| role.name()).collect()),
            kill_switch,
        }
    }
}

/// The event types of a set, in the order of their declaration.
pub(crate) fn event_types<E: EventSet>() -> Vec<String> {
    let types = E::CATALOG.iter().copied().flatten();
    types.map(|descriptor| descriptor.event_type.to_owned()).collect()
}

impl fmt::Display for Description {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&Lines::of(self).aligned())
    }
}
