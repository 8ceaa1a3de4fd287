//! Heartbeats, lapsed leases, orphaned bodies.
use super::{LiveLeases, Stop, WorkerSettings};
use crate::{context::Context, sweeper::Sweeper};
use foldwright_ports::Verdict;
use std::sync::Arc;

/// How many lapsed leases one look returns.
const REAPED_AT_ONCE: usize = 1_000;

/// Extends the worker's leases every third of their life, returns lapsed ones of any worker to the queue, and sweeps
/// bodies now and then. Ends after the lanes, so that what they still do stays theirs.
pub(crate) async fn keep(ctx: Arc<Context>, leases: Arc<LiveLeases>, settings: WorkerSettings, mut stop: Stop) {
    let beat = settings.lease / 3;
    let mut sweeper = Sweeper::default();
    let mut next_sweep = ctx.ports.clock.now().plus(settings.sweep);
    loop {
        stop.sleep(beat).await;
        if stop.is_set() {
            return;
        }
        extend(&ctx, &leases, settings).await;
        if let Err(error) = ctx.ports.queue.reap(REAPED_AT_ONCE).await {
            tracing::warn!(%error, "lapsed leases could not be returned, the next beat tries again");
        }
        let now = ctx.ports.clock.now();
        if now >= next_sweep {
            next_sweep = now.plus(settings.sweep);
            if let Err(error) = sweeper.sweep(&ctx.ports).await {
                tracing::warn!(%error, "the sweep of bodies stopped, the next one goes on there");
            }
        }
    }
}

async fn extend(ctx: &Context, leases: &LiveLeases, settings: WorkerSettings) {
    let live = leases.all();
    if live.is_empty() {
        return;
    }
    match ctx.ports.queue.extend(&live, settings.lease).await {
        Ok(verdicts) => {
            let lost = live.iter().zip(&verdicts).filter(|(_, v)| !matches!(v, Verdict::Applied));
            leases.remove(lost.map(|(lease, _)| lease.fence));
        }
        Err(error) => tracing::warn!(%error, "leases could not be extended, the next beat tries again"),
    }
}
