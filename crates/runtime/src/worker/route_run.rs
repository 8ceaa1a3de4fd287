//! Running what was claimed of one route.
use super::{body_budget::BodyBudget, body_budget::oversize, split_run::SplitRun};
use crate::{
    context::Context,
    handlers::{RouteHandler, settlement},
    telemetry::job_spans,
    wire::MAX_BODY_BYTES,
};
use foldwright_ports::{Lease, Rest, Route, Settlement};
use std::sync::{Arc, atomic::Ordering};
use tokio::time::Instant;

/// Runs leases of one route, as much at a time as there is room for their bodies.
pub(super) async fn run_route(
    ctx: &Context,
    route: &Route,
    handler: Option<&Arc<dyn RouteHandler>>,
    leases: Vec<Lease>,
    budget: &BodyBudget,
    splits: u32,
) -> Vec<Settlement> {
    let Some(handler) = handler else {
        return leases.iter().map(|l| settlement(l, 0, release())).collect();
    };
    let (mut settled, mut readable) = (Vec::new(), Vec::with_capacity(leases.len()));
    for mut lease in leases {
        match cut_at_oversized(&mut lease) {
            None => readable.push(lease),
            Some(unread) => settled.push(unread),
        }
    }
    for portion in budget.portions(readable) {
        let _held = budget.hold(&portion).await;
        if ctx.stopping.load(Ordering::Relaxed) {
            settled.extend(portion.iter().map(|lease| settlement(lease, 0, Rest::Back)));
            continue;
        }
        let _spans = job_spans(route, &portion, &*ctx.propagation);
        let started = Instant::now();
        settled.extend(SplitRun::run(ctx, handler, portion, splits).await);
        if let Some(metrics) = ctx.metrics.get(route) {
            metrics.ran(started.elapsed());
        }
    }
    settled
}

/// Leaves the jobs ahead of one whose body is too large. At its turn the group is quarantined and nothing of it is read.
fn cut_at_oversized(lease: &mut Lease) -> Option<Settlement> {
    let mut jobs = lease.jobs.iter().enumerate();
    let (at, bytes) = jobs.find_map(|(at, job)| Some((at, oversize(job)?)))?;
    if at > 0 {
        lease.jobs.truncate(at);
        return None;
    }
    let error = format!(
        "the body has {bytes} bytes, at most {MAX_BODY_BYTES} are read: dead-letter or drain it, and send what it is about in smaller pieces"
    );
    Some(settlement(lease, 0, Rest::Quarantine { error }))
}

/// A worker gets only routes that it declared; one that it has no handler for is left to others.
fn release() -> Rest {
    Rest::Release {
        floor: None,
        need: None,
    }
}
