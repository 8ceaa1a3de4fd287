//! One lane: claim, run, settle, and what the settle handed out next.
use super::{LiveLeases, Stop};
use crate::{
    catch::catch,
    context::Context,
    handlers::{RouteHandler, settlement},
};
use foldwright_ports::{
    Fence, Kind, Lease, Outcome, Rest, Route, Settled, Settlement, Verdict, Want, WorkerId,
};
use futures_util::future::join_all;
use std::{collections::BTreeMap, sync::Arc, time::Duration};

/// The first wait after a call that failed; doubles up to [`LONGEST_WAIT`].
const FIRST_WAIT: Duration = Duration::from_millis(100);
const LONGEST_WAIT: Duration = Duration::from_secs(5);

/// What one lane works with.
pub(crate) struct Lane {
    pub(crate) ctx: Arc<Context>,
    pub(crate) handlers: Arc<BTreeMap<Route, Arc<dyn RouteHandler>>>,
    pub(crate) leases: Arc<LiveLeases>,
    pub(crate) worker: WorkerId,
    pub(crate) want: Want,
    pub(crate) idle: Duration,
}

impl Lane {
    /// Works until it is told to stop; finishes what it holds first.
    pub(crate) async fn run(self, mut stop: Stop) {
        let mut in_hand = Vec::new();
        let mut wait = FIRST_WAIT;
        let mut nonce = self.ctx.ids.nonce();
        loop {
            if in_hand.is_empty() {
                if stop.is_set() {
                    return;
                }
                match self.ctx.ports.queue.claim(nonce, self.worker, &self.want).await {
                    Ok(leases) => {
                        in_hand = leases;
                        nonce = self.ctx.ids.nonce();
                    }
                    Err(error) => {
                        tracing::warn!(%error, ?wait, "no work could be claimed");
                        // Under the same nonce a grant whose reply was lost comes again instead of lapsing.
                        if !error.is_retryable() {
                            nonce = self.ctx.ids.nonce();
                        }
                        stop.sleep(wait).await;
                        wait = (wait * 2).min(LONGEST_WAIT);
                        continue;
                    }
                }
                self.leases.add(&in_hand);
            }
            wait = FIRST_WAIT;
            if in_hand.is_empty() {
                let woken = self.ctx.ports.queue.wait(&self.want.capabilities, self.idle);
                if let Some(Err(error)) = stop.or(woken).await {
                    tracing::warn!(%error, "waiting for work failed");
                    stop.sleep(FIRST_WAIT).await;
                }
                continue;
            }
            let fences: Vec<Fence> = in_hand.iter().map(|lease| lease.fence).collect();
            let settlements = self.process(in_hand).await;
            in_hand = self.settle(fences, settlements, &stop).await;
        }
    }

    /// Runs leases, those of one route in one go and the routes beside each other.
    async fn process(&self, leases: Vec<Lease>) -> Vec<Settlement> {
        let mut by_route: BTreeMap<Route, Vec<Lease>> = BTreeMap::new();
        for mut lease in leases {
            let Some(route) = lease.jobs.first().map(|job| job.route.clone()) else {
                continue;
            };
            // What is behind the first job of another route goes back and comes with the next lease.
            let same = lease.jobs.iter().take_while(|job| job.route == route).count();
            lease.jobs.truncate(same);
            by_route.entry(route).or_default().push(lease);
        }
        let runs = by_route.into_iter().map(|(route, leases)| async move {
            match self.handlers.get(&route) {
                Some(handler) => self.run_caught(handler, leases).await,
                None => leases.iter().map(|l| settlement(l, 0, release())).collect(),
            }
        });
        join_all(runs).await.into_iter().flatten().collect()
    }

    /// A panic that escaped a handler fails its leases like any error; the lane lives on.
    async fn run_caught(&self, handler: &Arc<dyn RouteHandler>, leases: Vec<Lease>) -> Vec<Settlement> {
        let given: Vec<_> = leases.iter().map(|l| settlement(l, 0, Rest::Back)).collect();
        catch(handler.run(leases, &self.ctx))
            .await
            .unwrap_or_else(|message| {
                let rest = Rest::Retry {
                    floor: None,
                    error: format!("a handler panicked: {message}"),
                };
                given
                    .into_iter()
                    .map(|one| Settlement {
                        outcome: Outcome::none(rest.clone()),
                        ..one
                    })
                    .collect()
            })
    }

    /// Settles, and takes the next work with the same call. Repeats a call whose outcome is unknown under its nonce,
    /// for as long as the leases can live; after that they lapse and the work is done again. So do leases that no
    /// settlement names, because an adapter answered for fewer than it was asked.
    async fn settle(&self, in_hand: Vec<Fence>, settlements: Vec<Settlement>, stop: &Stop) -> Vec<Lease> {
        let nonce = self.ctx.ids.nonce();
        let next = (!stop.is_set()).then_some(&self.want);
        let started = self.ctx.ports.clock.now();
        let mut wait = FIRST_WAIT;
        let settled = loop {
            match self
                .ctx
                .ports
                .queue
                .settle(nonce, self.worker, settlements.clone(), next)
                .await
            {
                Ok(settled) => break Some(settled),
                Err(error) => {
                    tracing::warn!(%error, "outcomes could not be settled");
                    let held = self.ctx.ports.clock.now().since(started);
                    let hopeless = matches!(error.kind(), Kind::Closed) || held >= self.want.lease;
                    if hopeless || !error.is_retryable() {
                        break None;
                    }
                    tokio::time::sleep(wait).await;
                    wait = (wait * 2).min(LONGEST_WAIT);
                }
            }
        };
        self.leases.remove(in_hand);
        let Some(Settled { verdicts, next }) = settled else {
            return Vec::new();
        };
        self.leases.add(&next);
        let refused = self.count(&settlements, verdicts);
        if !refused.is_empty() {
            self.give_back(refused).await;
        }
        next
    }

    /// Counts outcomes; answers those that the store refused.
    fn count(&self, settlements: &[Settlement], verdicts: Vec<Verdict>) -> Vec<Settlement> {
        let mut refused = Vec::new();
        for (settlement, verdict) in settlements.iter().zip(verdicts) {
            match verdict {
                Verdict::Applied | Verdict::Already => {
                    self.ctx
                        .counters
                        .jobs_completed
                        .add(settlement.outcome.done as u64);
                    log_failure(settlement);
                }
                Verdict::Lost => {
                    self.ctx.counters.leases_lost.add(1);
                    tracing::warn!(group = %settlement.lease.group, "the lease was lost, its work is done again");
                }
                Verdict::Refused(error) => refused.push(Settlement {
                    lease: settlement.lease.clone(),
                    outcome: Outcome::none(Rest::Retry {
                        floor: error.wait(),
                        error: error.to_string(),
                    }),
                    answers: Vec::new(),
                    then: Vec::new(),
                }),
            }
        }
        refused
    }

    /// An outcome that the store refuses is a failed attempt, so that it ends up in front of a person.
    async fn give_back(&self, refused: Vec<Settlement>) {
        if let Err(error) = self
            .ctx
            .ports
            .queue
            .settle(self.ctx.ids.nonce(), self.worker, refused, None)
            .await
        {
            tracing::warn!(%error, "refused outcomes could not be given back, their leases lapse");
        }
    }
}

/// A worker gets only routes that it declared; one that it has no handler for is left to others.
fn release() -> Rest {
    Rest::Release {
        floor: None,
        need: None,
    }
}

/// One line for each failed attempt, never the body.
fn log_failure(settlement: &Settlement) {
    let group = &settlement.lease.group;
    match &settlement.outcome.rest {
        Rest::Retry { error, .. } => tracing::warn!(%group, %error, "an attempt failed"),
        Rest::Quarantine { error } => tracing::error!(%group, %error, "the group is quarantined"),
        Rest::DeadLetter { error } => tracing::error!(%group, %error, "a job was given up"),
        Rest::Back | Rest::Defer { .. } | Rest::Release { .. } => {}
    }
}
