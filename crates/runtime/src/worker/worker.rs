//! The worker of one process.
use super::{LiveLeases, Stop, WorkerSettings, janitor::tidy, keeper::keep, lane::Lane};
use crate::{
    context::Context,
    handlers::RouteHandler,
    pipeline::{Installed, LaneKind},
    wire::FORMAT,
};
use foldwright_ports::{Capabilities, Capability, Route, Want, WorkerId};
use std::{
    collections::BTreeMap,
    sync::{Arc, atomic::Ordering},
};
use tokio::{sync::watch, task::JoinSet};

/// How many runs of one group are settled together: after a kill so many may be repeated.
const EFFECTS_AT_ONCE: usize = 16;

/// Owns the lanes and the keeper. Dropping it drops what they run; their leases lapse then.
pub(crate) struct Worker {
    ctx: Arc<Context>,
    lanes: JoinSet<()>,
    keeper: JoinSet<()>,
    stop_lanes: watch::Sender<bool>,
    stop_keeper: watch::Sender<bool>,
}

impl Worker {
    /// Starts to take work for these routes. Needs a tokio runtime.
    pub(crate) fn start(
        ctx: &Arc<Context>,
        routes: &BTreeMap<Route, Installed>,
        settings: WorkerSettings,
    ) -> Self {
        let worker = WorkerId(ctx.ids.nonce().0);
        let leases = Arc::new(LiveLeases::default());
        let (stop_lanes, stop) = Stop::new();
        let (stop_keeper, keeper_stop) = Stop::new();
        let mut lanes = JoinSet::new();
        let kinds = [
            (
                LaneKind::Bulk,
                settings.bulk_lanes,
                settings.max_groups,
                settings.max_jobs_per_group,
            ),
            (
                LaneKind::Effect,
                settings.effect_lanes,
                1,
                settings.max_jobs_per_group.min(EFFECTS_AT_ONCE),
            ),
        ];
        for (kind, count, max_groups, max_jobs_per_group) in kinds {
            let of_kind = || {
                routes
                    .iter()
                    .filter(move |(_, installed)| installed.claimed && installed.lane == kind)
            };
            let handlers: Arc<BTreeMap<Route, Arc<dyn RouteHandler>>> = Arc::new(
                of_kind()
                    .map(|(route, i)| (route.clone(), i.handler.clone()))
                    .collect(),
            );
            if handlers.is_empty() {
                continue;
            }
            let capabilities = Arc::new(Capabilities {
                routes: of_kind()
                    .map(|(r, i)| (r.clone(), Capability { version: i.version }))
                    .collect(),
                format: FORMAT,
            });
            for _ in 0..count {
                let lane = Lane {
                    ctx: ctx.clone(),
                    handlers: handlers.clone(),
                    leases: leases.clone(),
                    worker,
                    want: Want {
                        capabilities: capabilities.clone(),
                        max_groups,
                        max_jobs_per_group,
                        max_bytes: settings.max_bytes,
                        lease: settings.lease,
                    },
                    idle: settings.idle,
                };
                lanes.spawn(lane.run(stop.clone()));
            }
        }
        lanes.spawn(tidy(ctx.clone(), settings, stop));
        let mut keeper = JoinSet::new();
        keeper.spawn(keep(ctx.clone(), leases, settings, keeper_stop));
        Self {
            ctx: ctx.clone(),
            lanes,
            keeper,
            stop_lanes,
            stop_keeper,
        }
    }

    /// Stops claiming, finishes and settles what is in hand, then stops the heartbeats.
    pub(crate) async fn close(mut self) {
        self.ctx.stopping.store(true, Ordering::Relaxed);
        self.stop_lanes.send_replace(true);
        while let Some(ended) = self.lanes.join_next().await {
            report(ended);
        }
        self.stop_keeper.send_replace(true);
        while let Some(ended) = self.keeper.join_next().await {
            report(ended);
        }
    }
}

/// Handlers catch their users' panics, so a lane that panicked is a fault of the kernel or of an adapter.
fn report(ended: Result<(), tokio::task::JoinError>) {
    if let Err(error) = ended {
        tracing::error!(%error, "a task of the worker ended badly, its leases lapse");
    }
}
