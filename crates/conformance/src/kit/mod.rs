//! What the cases are built from.
mod bed;
mod events;
mod fleet;
mod jobs;
mod pages;
mod seeded;

pub(crate) use bed::{Bed, LEASE, Seen, WORKER, all_of, ids, seen, settlement, want};
pub(crate) use events::{Events, append, stream, stream_of};
pub(crate) use fleet::{by_tenant, cap, granted, up_to, weight};
pub(crate) use jobs::{
    COMMAND, FOLD, JobExt, MAP, SUBSCRIBER, blob, context, group, group_of, hash_of, job, retry, route,
};
pub(crate) use pages::{all_pages, in_pages};
pub(crate) use seeded::Seeded;

use foldwright_domain::TenantId;
use std::time::Duration;

/// A tenant's id.
pub(crate) fn tenant(name: &str) -> TenantId {
    TenantId::parse(name).unwrap()
}

/// Seconds.
pub(crate) const fn secs(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

/// Milliseconds.
pub(crate) const fn millis(millis: u64) -> Duration {
    Duration::from_millis(millis)
}
