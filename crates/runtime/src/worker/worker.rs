//! The worker of one process.
use super::{
    LiveLeases, Stop, WorkerSettings,
    body_budget::BodyBudget,
    janitor::tidy,
    keeper::keep,
    lane::Lane,
    lane_runs::Seat,
    liveness::{Liveness, Record},
    settler::Settler,
    slow_runs::SlowRuns,
};
use crate::{
    context::Context,
    handlers::RouteHandler,
    pipeline::{Installed, LaneKind},
    wire::FORMAT,
};
use foldwright_ports::{Capabilities, Capability, Outcome, Rest, Route, Settlement, Verdict, Want, WorkerId};
use std::{
    collections::BTreeMap,
    sync::{Arc, atomic::Ordering},
};
use tokio::{sync::watch, task::JoinSet};

/// How many runs of one group are settled together: after a kill so many may be repeated.
const EFFECTS_AT_ONCE: usize = 16;

/// Owns the lanes and the keepers. Dropping it drops what they run; their leases lapse then.
///
/// It is stopped in steps, each of which may be cut short: [`stop`](Self::stop), [`drained`](Self::drained),
/// [`give_back`](Self::give_back), [`goodbye`](Self::goodbye).
pub(crate) struct Worker {
    ctx: Arc<Context>,
    leases: Arc<LiveLeases>,
    record: Record,
    lanes: JoinSet<()>,
    keeper: JoinSet<()>,
    liveness: Option<Liveness>,
    stop_lanes: watch::Sender<bool>,
    cut_lanes: watch::Sender<bool>,
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
        let budget = Arc::new(BodyBudget::new(settings.body_bytes));
        let slow = Arc::new(SlowRuns::new(settings.effect_lanes));
        let (stop_lanes, stop) = Stop::new();
        let (cut_lanes, cut) = Stop::new();
        let (stop_keeper, keeper_stop) = Stop::new();
        let mut lanes = JoinSet::new();
        let kinds = [
            (
                LaneKind::Bulk,
                Seat::RunPerRoute,
                settings.bulk_lanes,
                settings.max_groups,
                settings.max_jobs_per_group,
            ),
            (
                LaneKind::Effect,
                Seat::OneRun,
                settings.effect_lanes,
                1,
                settings.max_jobs_per_group.min(EFFECTS_AT_ONCE),
            ),
        ];
        for (kind, seat, count, max_groups, max_jobs_per_group) in kinds {
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
            let capabilities = Arc::new(capabilities(of_kind()));
            for _ in 0..count {
                let lane = Lane {
                    ctx: ctx.clone(),
                    handlers: handlers.clone(),
                    leases: leases.clone(),
                    settler: Settler {
                        ctx: ctx.clone(),
                        leases: leases.clone(),
                        worker,
                        lease: settings.lease,
                    },
                    want: Want {
                        capabilities: capabilities.clone(),
                        max_groups,
                        max_jobs_per_group,
                        max_bytes: settings.max_bytes,
                        lease: settings.lease,
                    },
                    idle: settings.idle,
                    seat,
                    budget: budget.clone(),
                    slow: slow.clone(),
                    effect_slow: settings.effect_slow,
                    splits: settings.splits,
                };
                lanes.spawn(lane.run(stop.clone(), cut.clone()));
            }
        }
        lanes.spawn(tidy(ctx.clone(), settings, stop));
        let mut keeper = JoinSet::new();
        keeper.spawn(keep(ctx.clone(), leases.clone(), settings, keeper_stop));
        let record = Record::new(
            ctx,
            worker,
            capabilities(routes.iter().filter(|(_, installed)| installed.claimed)),
            settings,
        );
        Self {
            ctx: ctx.clone(),
            leases,
            liveness: Some(Liveness::start(record.clone())),
            record,
            lanes,
            keeper,
            stop_lanes,
            cut_lanes,
            stop_keeper,
        }
    }

    /// Claims no more. What is in hand and has not begun is given back at once, the rest goes on.
    pub(crate) fn stop(&self) {
        self.ctx.stopping.store(true, Ordering::Relaxed);
        self.stop_lanes.send_replace(true);
    }

    /// Waits until what had begun is finished and settled. Cancel safe.
    pub(crate) async fn drained(&mut self) {
        while let Some(ended) = self.lanes.join_next().await {
            report(ended);
        }
    }

    /// Drops what still runs and gives its leases back, in the order in which they were granted. Answers how many went
    /// back: a lease may have been settled already, or lost.
    ///
    /// # Errors
    /// The queue's: the leases lapse then.
    pub(crate) async fn give_back(&mut self) -> foldwright_ports::Result<usize> {
        self.cut_lanes.send_replace(true);
        self.lanes.abort_all();
        // A lane within a call that blocks its thread ends when that returns; its leases are given back meanwhile, and
        // what it still writes under them counts for nothing.
        tokio::task::yield_now().await;
        let left = self.leases.all();
        if left.is_empty() {
            return Ok(0);
        }
        let back = left.iter().map(|lease| Settlement {
            lease: lease.clone(),
            outcome: Outcome::none(Rest::Back),
            answers: Vec::new(),
            then: Vec::new(),
        });
        let queue = &self.ctx.ports.queue;
        let settled = queue
            .settle(self.ctx.ids.nonce(), self.record.worker, back.collect(), None)
            .await?;
        let held = self.leases.remove(left.iter().map(|lease| lease.fence));
        let counters = &self.ctx.counters;
        let mut given_back = 0;
        for (lease, verdict) in left.iter().zip(&settled.verdicts) {
            match verdict {
                Verdict::Already => counters.late_acks.add(1),
                Verdict::Lost => counters.leases_lost.add(1),
                Verdict::Applied | Verdict::Refused(_) => {
                    given_back += 1;
                    counters.leases_given_back.add(1);
                    tracing::info!(group = %lease.group, "the worker stops, the lease is given back");
                }
            }
            let held = held.get(&lease.fence);
            let route = held.and_then(|held| held.route.as_ref());
            if let (Some(held), Some(metrics)) = (held, route.and_then(|route| self.ctx.metrics.get(route))) {
                metrics.settled(held.jobs.len(), 0, &Rest::Back, verdict);
            }
        }
        Ok(given_back)
    }

    /// Ends the heartbeats and the liveness record.
    ///
    /// # Errors
    /// The queue's: the record runs out then.
    pub(crate) async fn goodbye(&mut self) -> foldwright_ports::Result<()> {
        self.stop_keeper.send_replace(true);
        while let Some(ended) = self.keeper.join_next().await {
            report(ended);
        }
        if let Some(liveness) = self.liveness.take() {
            liveness.stop().await;
        }
        self.record.goodbye().await
    }
}

fn capabilities<'a>(routes: impl Iterator<Item = (&'a Route, &'a Installed)>) -> Capabilities {
    Capabilities {
        routes: routes
            .map(|(r, i)| (r.clone(), Capability { version: i.version }))
            .collect(),
        format: FORMAT,
    }
}

/// Handlers catch their users' panics, so a lane that panicked is a fault of the kernel or of an adapter. One that was
/// told to end did what it should.
fn report(ended: Result<(), tokio::task::JoinError>) {
    match ended {
        Err(error) if !error.is_cancelled() => {
            tracing::error!(%error, "a task of the worker ended badly, its leases lapse");
        }
        _ => {}
    }
}
