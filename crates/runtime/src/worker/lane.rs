//! One lane: claim, run, settle, and what the settle handed out next.
use super::{
    LiveLeases, Stop,
    body_budget::BodyBudget,
    lane_runs::{Runs, Seat},
    route_run::run_route,
    settler::{FIRST_WAIT, LONGEST_WAIT, Settler},
    slow_runs::SlowRuns,
};
use crate::{
    context::Context,
    handlers::{RouteHandler, settlement},
};
use foldwright_ports::{Capabilities, Fence, Lease, Rest, Route, Settlement, Want};
use futures_util::{FutureExt, StreamExt, future::BoxFuture, stream::FuturesUnordered};
use std::{collections::BTreeMap, sync::Arc, time::Duration};
use tokio::{sync::Notify, time::Instant};

/// Routes that end within so long of each other are settled in one call.
const LINGER: Duration = Duration::from_millis(5);

/// What one lane works with.
pub(super) struct Lane {
    pub(super) ctx: Arc<Context>,
    pub(super) handlers: Arc<BTreeMap<Route, Arc<dyn RouteHandler>>>,
    pub(super) leases: Arc<LiveLeases>,
    pub(super) settler: Settler,
    pub(super) want: Want,
    pub(super) idle: Duration,
    pub(super) seat: Seat,
    pub(super) budget: Arc<BodyBudget>,
    pub(super) slow: Arc<SlowRuns>,
    pub(super) effect_slow: Duration,
    pub(super) splits: u32,
}

/// What the lane waits for.
enum Event {
    /// The answer to a claim.
    Claimed(Vec<Lease>),
    /// There may be something to claim.
    Woken,
    /// A run ended.
    Ran(u64, Vec<Fence>, Vec<Settlement>),
    /// A settle has handed this out next.
    Settled(Vec<Lease>),
}

/// What the lane looks for while it has room.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Seeking {
    Nothing,
    Claims,
    Waits,
}

/// What ended and is not settled yet.
#[derive(Default)]
struct Ready {
    fences: Vec<Fence>,
    settlements: Vec<Settlement>,
    /// When it is settled, whatever else still runs.
    due: Option<Instant>,
}

impl Lane {
    /// Works until it is told to stop, then finishes what it holds; when it is told to cut that short, it drops what it
    /// runs and leaves the leases to the worker.
    pub(super) async fn run(self, mut stop: Stop, mut cut: Stop) {
        let (lane, nudge) = (&self, Notify::new());
        let mut events: FuturesUnordered<BoxFuture<'_, Event>> = FuturesUnordered::new();
        let mut runs = Runs::new(lane.seat);
        let mut ready = Ready::default();
        let mut seeking = Seeking::Nothing;
        let mut settling = 0_usize;
        // Nothing was handed out with the last settle, so that others are looked for while something still runs.
        let mut dry = true;
        loop {
            let now = Instant::now();
            let idle = !runs.hold_the_lane();
            if !ready.fences.is_empty() && (idle || ready.due.is_some_and(|due| due <= now)) {
                let Ready {
                    fences, settlements, ..
                } = std::mem::take(&mut ready);
                let next = if stop.is_set() { None } else { lane.want(&runs) };
                settling += 1;
                events.push(
                    lane.settler
                        .settle(fences, settlements, next)
                        .map(Event::Settled)
                        .boxed(),
                );
            }
            if stop.is_set() {
                if runs.is_empty() && ready.fences.is_empty() && settling == 0 && seeking != Seeking::Claims {
                    return;
                }
            } else if seeking == Seeking::Nothing
                && settling == 0
                && (dry || idle)
                && ready.fences.is_empty()
                && let Some(want) = lane.want(&runs)
            {
                seeking = Seeking::Claims;
                events.push(lane.claim(want, stop.clone()).map(Event::Claimed).boxed());
            }
            let timer = [ready.due, runs.next_slow(lane.effect_slow)]
                .into_iter()
                .flatten()
                .min();
            let event = tokio::select! {
                biased;
                () = cut.requested() => return,
                // A lane that only waits has to see the request; one that works goes on until that is done.
                () = stop.requested(), if !stop.is_set() => continue,
                Some(event) = events.next() => event,
                () = until(timer) => {
                    runs.detach_slow(lane.effect_slow, &lane.slow);
                    continue;
                }
            };
            let begun = match event {
                Event::Claimed(leases) if leases.is_empty() && !stop.is_set() => {
                    seeking = Seeking::Nothing;
                    if let Some(want) = lane.want(&runs) {
                        seeking = Seeking::Waits;
                        let woken = lane.wait(want, &nudge, stop.clone());
                        events.push(woken.map(|()| Event::Woken).boxed());
                    }
                    Vec::new()
                }
                Event::Claimed(leases) => {
                    (seeking, dry) = (Seeking::Nothing, false);
                    leases
                }
                Event::Woken => {
                    seeking = Seeking::Nothing;
                    Vec::new()
                }
                Event::Settled(leases) => {
                    settling -= 1;
                    dry = leases.is_empty();
                    leases
                }
                Event::Ran(id, fences, settlements) => {
                    runs.end(id);
                    ready.fences.extend(fences);
                    ready.settlements.extend(settlements);
                    ready.due.get_or_insert_with(|| Instant::now() + LINGER);
                    if seeking == Seeking::Waits {
                        // It waits for fewer routes than are free now.
                        nudge.notify_one();
                    }
                    Vec::new()
                }
            };
            for (route, leases) in lane.by_route(begun, &mut ready, &stop) {
                if let Some(metrics) = lane.ctx.metrics.get(&route) {
                    metrics.claimed(&leases, lane.ctx.ports.clock.now());
                }
                let fences = leases.iter().map(|lease| lease.fence).collect();
                let id = runs.begin(&route, &leases);
                events.push(
                    async move {
                        let handler = lane.handlers.get(&route);
                        let settlements =
                            run_route(&lane.ctx, &route, handler, leases, &lane.budget, lane.splits).await;
                        Event::Ran(id, fences, settlements)
                    }
                    .boxed(),
                );
            }
        }
    }

    /// What the lane takes beside what it runs: a route that runs already waits until that ends, so that a slow table
    /// holds up its own route alone. `None` when there is no room.
    fn want(&self, runs: &Runs) -> Option<Want> {
        match self.seat {
            Seat::OneRun if runs.hold_the_lane() => None,
            Seat::OneRun => Some(self.want.clone()),
            Seat::RunPerRoute if runs.is_empty() => Some(self.want.clone()),
            Seat::RunPerRoute => {
                let all = &self.want.capabilities;
                let routes: BTreeMap<_, _> = all
                    .routes
                    .iter()
                    .filter(|(route, _)| !runs.has(route))
                    .map(|(route, capability)| (route.clone(), *capability))
                    .collect();
                (!routes.is_empty()).then(|| Want {
                    capabilities: Arc::new(Capabilities {
                        routes,
                        format: all.format,
                    }),
                    ..self.want.clone()
                })
            }
        }
    }

    /// Claims, until there is an answer or the lane has to stop.
    async fn claim(&self, want: Want, mut stop: Stop) -> Vec<Lease> {
        let mut nonce = self.ctx.ids.nonce();
        let mut wait = FIRST_WAIT;
        while !stop.is_set() {
            match self
                .ctx
                .ports
                .queue
                .claim(nonce, self.settler.worker, &want)
                .await
            {
                Ok(leases) => {
                    self.leases.add(&leases);
                    return leases;
                }
                Err(error) => {
                    tracing::warn!(%error, ?wait, "no work could be claimed");
                    // Under the same nonce a grant whose reply was lost comes again instead of lapsing.
                    if !error.is_retryable() {
                        nonce = self.ctx.ids.nonce();
                    }
                    stop.sleep(wait).await;
                    wait = (wait * 2).min(LONGEST_WAIT);
                }
            }
        }
        Vec::new()
    }

    /// Waits until there may be something to claim, or the lane has more room than it waits with.
    async fn wait(&self, want: Want, nudge: &Notify, mut stop: Stop) {
        let woken = async {
            tokio::select! {
                biased;
                () = nudge.notified() => Ok(()),
                woken = self.ctx.ports.queue.wait(&want.capabilities, self.idle) => woken,
            }
        };
        if let Some(Err(error)) = stop.or(woken).await {
            tracing::warn!(%error, "waiting for work failed");
            stop.sleep(FIRST_WAIT).await;
        }
    }

    /// Leases by route, those of one route to be run in one go. What is not to begin is ready to be settled.
    fn by_route(&self, leases: Vec<Lease>, ready: &mut Ready, stop: &Stop) -> BTreeMap<Route, Vec<Lease>> {
        let mut by_route: BTreeMap<Route, Vec<Lease>> = BTreeMap::new();
        for mut lease in leases {
            let Some(route) = lease.jobs.first().map(|job| job.route.clone()) else {
                self.leases.remove([lease.fence]);
                continue;
            };
            let tenant = &lease.group.tenant;
            if stop.is_set() {
                ready.add(&lease, Rest::Back);
                continue;
            }
            if self.seat == Seat::OneRun && self.slow.is_at_limit(tenant) {
                self.ctx.counters.effects_deferred.add(1);
                let after = self.effect_slow;
                ready.add(&lease, Rest::Defer { after });
                continue;
            }
            // What is behind the first job of another route goes back and comes with the next lease.
            let same = lease.jobs.iter().take_while(|job| job.route == route).count();
            lease.jobs.truncate(same);
            by_route.entry(route).or_default().push(lease);
        }
        by_route
    }
}

impl Ready {
    fn add(&mut self, lease: &Lease, rest: Rest) {
        self.fences.push(lease.fence);
        self.settlements.push(settlement(lease, 0, rest));
        self.due.get_or_insert_with(Instant::now);
    }
}

async fn until(instant: Option<Instant>) {
    match instant {
        Some(instant) => tokio::time::sleep_until(instant).await,
        None => std::future::pending().await,
    }
}
