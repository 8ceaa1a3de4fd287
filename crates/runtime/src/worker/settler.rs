//! Settling leases, and taking the next work with the same call.
use super::{LiveLeases, leases::LiveLease};
use crate::context::Context;
use foldwright_ports::{Fence, Kind, Lease, Outcome, Rest, Settled, Settlement, Verdict, Want, WorkerId};
use std::{collections::BTreeMap, sync::Arc, time::Duration};

/// The first wait after a call that failed; doubles up to [`LONGEST_WAIT`].
pub(super) const FIRST_WAIT: Duration = Duration::from_millis(100);
pub(super) const LONGEST_WAIT: Duration = Duration::from_secs(5);

/// Settles what one lane has run.
pub(super) struct Settler {
    pub(super) ctx: Arc<Context>,
    pub(super) leases: Arc<LiveLeases>,
    pub(super) worker: WorkerId,
    pub(super) lease: Duration,
}

impl Settler {
    /// Settles, and takes the next work with the same call. Repeats a call whose outcome is unknown under its nonce,
    /// for as long as the leases can live; after that they lapse and the work is done again. So do leases that no
    /// settlement names, because an adapter answered for fewer than it was asked.
    pub(super) async fn settle(
        &self,
        in_hand: Vec<Fence>,
        settlements: Vec<Settlement>,
        next: Option<Want>,
    ) -> Vec<Lease> {
        let nonce = self.ctx.ids.nonce();
        let started = self.ctx.ports.clock.now();
        let mut wait = FIRST_WAIT;
        let settled = loop {
            match self
                .ctx
                .ports
                .queue
                .settle(nonce, self.worker, settlements.clone(), next.as_ref())
                .await
            {
                Ok(settled) => break Some(settled),
                Err(error) => {
                    tracing::warn!(%error, "outcomes could not be settled");
                    let held = self.ctx.ports.clock.now().since(started);
                    let hopeless = matches!(error.kind(), Kind::Closed) || held >= self.lease;
                    if hopeless || !error.is_retryable() {
                        break None;
                    }
                    tokio::time::sleep(wait).await;
                    wait = (wait * 2).min(LONGEST_WAIT);
                }
            }
        };
        let held = self.leases.remove(in_hand);
        let Some(Settled {
            verdicts,
            squashed,
            next,
        }) = settled
        else {
            return Vec::new();
        };
        self.leases.add(&next);
        self.ctx.counters.squashed.add(squashed as u64);
        let refused = self.count(&settlements, verdicts, &held);
        if !refused.is_empty() {
            self.give_back(refused).await;
        }
        next
    }

    /// Counts outcomes; answers those that the store refused.
    fn count(
        &self,
        settlements: &[Settlement],
        verdicts: Vec<Verdict>,
        held: &BTreeMap<Fence, LiveLease>,
    ) -> Vec<Settlement> {
        let mut refused = Vec::new();
        for (settlement, verdict) in settlements.iter().zip(verdicts) {
            self.measure(settlement, &verdict, held.get(&settlement.lease.fence));
            match verdict {
                Verdict::Already => self.ctx.counters.late_acks.add(1),
                Verdict::Applied => {
                    self.ctx
                        .counters
                        .jobs_completed
                        .add(settlement.outcome.done as u64);
                    log(settlement, held.get(&settlement.lease.fence));
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

    fn measure(&self, settlement: &Settlement, verdict: &Verdict, lease: Option<&LiveLease>) {
        let Some(lease) = lease else { return };
        let metrics = lease.route.as_ref().and_then(|route| self.ctx.metrics.get(route));
        if let Some(metrics) = metrics {
            let Outcome { done, rest } = &settlement.outcome;
            metrics.settled(lease.jobs.len(), *done, rest, verdict);
        }
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

/// One line for each failed attempt and one when a job that had failed is done; never the body.
fn log(settlement: &Settlement, lease: Option<&LiveLease>) {
    let Outcome { done, rest } = &settlement.outcome;
    let group = &settlement.lease.group;
    let route = lease
        .and_then(|lease| lease.route.as_ref())
        .map(tracing::field::display);
    let id = |at: usize| {
        lease
            .and_then(|lease| lease.jobs.get(at))
            .map(tracing::field::display)
    };
    // Attempts are counted at the first job.
    let attempts = lease.map_or(1, |lease| lease.attempt);
    if *done > 0 && attempts > 1 {
        tracing::info!(route, job = id(0), attempt = attempts, %group, "a job that had failed is done");
    }
    let attempt = if *done == 0 { attempts } else { 1 };
    let job = id(*done);
    match rest {
        Rest::Retry { error, .. } => {
            tracing::warn!(route, job, attempt, error_type = "retryable", %group, error, "an attempt failed");
        }
        Rest::Quarantine { error } => {
            tracing::error!(route, job, attempt, error_type = "fatal", %group, error, "an attempt failed, the group is quarantined");
        }
        Rest::DeadLetter { error } => {
            tracing::error!(route, job, attempt, error_type = "dead", %group, error, "an attempt failed, the job was given up");
        }
        Rest::Back | Rest::Defer { .. } | Rest::Release { .. } => {}
    }
}
