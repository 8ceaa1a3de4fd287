//! What a worker can take on.
use crate::Route;
use std::{collections::BTreeMap, sync::Arc, time::Duration};

/// What a worker says of one route.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Capability {
    /// The highest version of the projection that it can read and write; 0 where there is none. A group that was
    /// released with a higher need is not handed out to it.
    pub version: u32,
}

/// The routes a worker knows, and the newest envelope format it reads. It gets nothing else: other jobs are
/// *stranded* and wait for a worker that knows them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Capabilities {
    /// By route.
    pub routes: BTreeMap<Route, Capability>,
    /// The newest envelope format.
    pub format: u8,
}

/// How much a worker takes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Want {
    /// What it knows.
    pub capabilities: Arc<Capabilities>,
    /// At most this many groups.
    pub max_groups: usize,
    /// At most this many jobs of one group.
    pub max_jobs_per_group: usize,
    /// At most this many stored bytes in all. A first job that is larger comes alone.
    pub max_bytes: u64,
    /// How long the leases live without a heartbeat.
    pub lease: Duration,
}
