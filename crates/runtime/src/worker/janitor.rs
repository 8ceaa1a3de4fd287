//! Work that any worker does for all: lapsed leases, orphaned bodies, and proving the queue right.
use super::{Stop, WorkerSettings, checker::Checker};
use crate::{context::Context, sweeper::Sweeper, telemetry::Gauges};
use std::sync::Arc;

/// How many lapsed leases one look returns.
const REAPED_AT_ONCE: usize = 1_000;

/// Returns lapsed leases of any worker to the queue every third of a lease; sweeps bodies and checks the queue now and
/// then.
pub(crate) async fn tidy(ctx: Arc<Context>, settings: WorkerSettings, mut stop: Stop) {
    let mut sweeper = Sweeper::default();
    let mut checker = Checker::default();
    let mut gauges = Gauges::default();
    let started = ctx.ports.clock.now();
    let (mut next_sweep, mut next_check) = (started.plus(settings.sweep), started.plus(settings.check));
    loop {
        stop.sleep(settings.lease / 3).await;
        if stop.is_set() {
            return;
        }
        match ctx.ports.queue.reap(REAPED_AT_ONCE).await {
            Ok(reaped) => {
                ctx.counters.leases_lapsed.add(reaped.lapsed as u64);
                ctx.counters.deaths_confirmed.add(reaped.deaths as u64);
                ctx.counters.poisoned.add(reaped.poisoned as u64);
                if reaped.poisoned > 0 {
                    tracing::error!(
                        groups = reaped.poisoned,
                        "groups are quarantined because handling them kills workers: see their errors, then unblock or drain them"
                    );
                }
            }
            Err(error) => {
                tracing::warn!(%error, "lapsed leases could not be returned, the next look tries again");
            }
        }
        if let Err(error) = gauges.look(&*ctx.ports.queue_admin).await {
            tracing::warn!(%error, "the gauges of the queue could not be set, the next look tries again");
        }
        let now = ctx.ports.clock.now();
        if now >= next_sweep {
            next_sweep = now.plus(settings.sweep);
            if let Some(Err(error)) = stop.or(sweeper.sweep(&ctx.ports)).await {
                tracing::warn!(%error, "the sweep of bodies stopped, the next one goes on there");
            }
        }
        if now >= next_check {
            next_check = now.plus(settings.check);
            stop.or(checker.check(&ctx)).await;
        }
    }
}
