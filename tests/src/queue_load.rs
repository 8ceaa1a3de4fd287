//! What the benches of the queue have in common.
use bytes::Bytes;
use foldwright::{
    domain::{EventId, Position, TenantId},
    ports::{
        Body, Capabilities, Capability, Clock, GroupId, JobId, Lease, NewJob, Nonce, Outcome, Route,
        RouteError, Settlement, SystemClock, Want,
    },
};
use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

/// Nonces for all callers of one bench.
#[derive(Default)]
pub struct Nonces(AtomicU64);

impl Nonces {
    /// One that was not given before.
    pub fn next(&self) -> Nonce {
        Nonce(u128::from(self.0.fetch_add(1, Ordering::Relaxed)) + 1)
    }
}

/// The one route of these benches.
///
/// # Errors
/// None in practice: the text is a route.
pub fn bench_route() -> Result<Route, RouteError> {
    Route::parse("bench/command/work")
}

/// A small job, numbered, in a group of a tenant.
#[must_use]
pub fn small_job(n: u64, tenant: &TenantId, group: u64, route: &Route) -> NewJob {
    let id = EventId::from_u128(u128::from(n) << 12);
    NewJob {
        id: JobId::of_event(id, route),
        route: route.clone(),
        group: GroupId {
            tenant: tenant.clone(),
            path: route.path().into(),
            key: format!("group:{group}").into(),
        },
        position: Some(Position {
            occurred_at: SystemClock.now(),
            id,
        }),
        delay: Duration::ZERO,
        replace: false,
        dedup: None,
        format: 1,
        header: Bytes::from_static(b"bench"),
        body: Body::Inline(Bytes::from_static(&[b'x'; 64])),
        context: None,
    }
}

/// What a worker of these benches takes.
#[must_use]
pub fn want(route: &Route, max_groups: usize) -> Want {
    let routes = BTreeMap::from([(route.clone(), Capability { version: 0 })]);
    Want {
        capabilities: Arc::new(Capabilities { routes, format: 1 }),
        max_groups,
        max_jobs_per_group: 100,
        max_bytes: 8 << 20,
        lease: Duration::from_secs(30),
    }
}

/// Everything of these leases is done.
#[must_use]
pub fn complete(leases: &[Lease]) -> Vec<Settlement> {
    leases
        .iter()
        .map(|lease| Settlement {
            lease: lease.reference(),
            outcome: Outcome::complete(lease.jobs.len()),
            answers: Vec::new(),
            then: Vec::new(),
        })
        .collect()
}
