//! Holding on to the leases that lanes work under.
use super::{LiveLeases, Stop, WorkerSettings};
use crate::context::Context;
use foldwright_ports::Verdict;
use std::sync::Arc;

/// Extends the worker's leases every third of their life. Does nothing else, so that nothing holds it up; ends after the
/// lanes, so that what they still do stays theirs.
pub(crate) async fn keep(
    ctx: Arc<Context>,
    leases: Arc<LiveLeases>,
    settings: WorkerSettings,
    mut stop: Stop,
) {
    loop {
        stop.sleep(settings.lease / 3).await;
        if stop.is_set() {
            return;
        }
        extend(&ctx, &leases, settings).await;
    }
}

async fn extend(ctx: &Context, leases: &LiveLeases, settings: WorkerSettings) {
    let live = leases.all();
    if live.is_empty() {
        return;
    }
    match ctx.ports.queue.extend(&live, settings.lease).await {
        Ok(verdicts) => {
            let lost = live
                .iter()
                .zip(&verdicts)
                .filter(|(_, v)| !matches!(v, Verdict::Applied));
            leases.remove(lost.map(|(lease, _)| lease.fence));
        }
        Err(error) => tracing::warn!(%error, "leases could not be extended, the next beat tries again"),
    }
}
