//! Work that any worker does for all: lapsed leases and orphaned bodies.
use super::{Stop, WorkerSettings};
use crate::{context::Context, sweeper::Sweeper};
use std::sync::Arc;

/// How many lapsed leases one look returns.
const REAPED_AT_ONCE: usize = 1_000;

/// Returns lapsed leases of any worker to the queue every third of a lease, and sweeps bodies now and then.
pub(crate) async fn tidy(ctx: Arc<Context>, settings: WorkerSettings, mut stop: Stop) {
    let mut sweeper = Sweeper::default();
    let mut next_sweep = ctx.ports.clock.now().plus(settings.sweep);
    loop {
        stop.sleep(settings.lease / 3).await;
        if stop.is_set() {
            return;
        }
        if let Err(error) = ctx.ports.queue.reap(REAPED_AT_ONCE).await {
            tracing::warn!(%error, "lapsed leases could not be returned, the next look tries again");
        }
        let now = ctx.ports.clock.now();
        if now >= next_sweep {
            next_sweep = now.plus(settings.sweep);
            if let Some(Err(error)) = stop.or(sweeper.sweep(&ctx.ports)).await {
                tracing::warn!(%error, "the sweep of bodies stopped, the next one goes on there");
            }
        }
    }
}
