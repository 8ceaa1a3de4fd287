//! One run of a route: its leases in one call, in smaller ones where that call is refused as a whole.
use super::{lease_parts::LeaseParts, lease_parts::Next};
use crate::{
    catch::catch,
    context::Context,
    handlers::{Handled, RouteHandler, settlement},
};
use foldwright_ports::{Fence, Lease, Rest, Settlement};
use std::{
    collections::BTreeMap,
    sync::{Arc, atomic::Ordering},
};

/// After so many single jobs were refused, and nothing ever went through, it is the store that refuses.
const PROBES: usize = 3;

/// A run that is under way.
pub(super) struct SplitRun<'a> {
    ctx: &'a Context,
    handler: &'a Arc<dyn RouteHandler>,
    /// How often a call for several leases may still be halved.
    splits_left: u32,
    /// Calls that are still to be made, the next one last.
    calls: Vec<Vec<LeaseParts>>,
    /// Single jobs that were refused by themselves: whose fault it is shows in the end.
    refused: Vec<(LeaseParts, Rest, String)>,
    settled: Vec<Settlement>,
    anything_passed: bool,
}

/// What a call for several leases came to.
enum Answered {
    Ran(Vec<Handled>),
    Panicked(String),
}

impl<'a> SplitRun<'a> {
    /// Runs leases of one route. Answers a settlement for each, unless the handler has left one out.
    pub(super) async fn run(
        ctx: &'a Context,
        handler: &'a Arc<dyn RouteHandler>,
        leases: Vec<Lease>,
        splits: u32,
    ) -> Vec<Settlement> {
        let parts = leases
            .into_iter()
            .map(|lease| LeaseParts::new(lease, splits))
            .collect();
        let mut run = Self {
            ctx,
            handler,
            splits_left: splits,
            calls: vec![parts],
            refused: Vec::new(),
            settled: Vec::new(),
            anything_passed: false,
        };
        run.go().await;
        run.settle_refused();
        run.settled
    }

    async fn go(&mut self) {
        let mut again = false;
        while let Some(parts) = self.calls.pop() {
            // What has not begun when the worker stops is another's.
            let stops = again && self.ctx.stopping.load(Ordering::Relaxed);
            let is_away = !self.anything_passed && self.refused.len() >= PROBES;
            if stops || is_away {
                let rest = match self.refused.last() {
                    Some((_, rest, _)) if !stops => rest.clone(),
                    _ => Rest::Back,
                };
                self.settled
                    .extend(parts.into_iter().map(|one| one.end(0, rest.clone())));
                continue;
            }
            match self.call(&parts, again).await {
                Answered::Ran(ran) => self.sort(parts, ran),
                Answered::Panicked(message) => self.panicked(parts, message),
            }
            again = true;
        }
    }

    async fn call(&self, parts: &[LeaseParts], again: bool) -> Answered {
        let leases = parts.iter().map(LeaseParts::lease).collect();
        match catch(self.handler.run(leases, again, self.ctx)).await {
            Ok(ran) => Answered::Ran(ran),
            Err(message) => Answered::Panicked(format!("a handler panicked: {message}")),
        }
    }

    /// A panic that escaped a handler fails all that was in the call, so each lease is then run by itself.
    fn panicked(&mut self, parts: Vec<LeaseParts>, message: String) {
        if parts.len() > 1 {
            let mut parts = parts;
            parts.iter_mut().for_each(LeaseParts::doubt);
            self.calls.extend(parts.into_iter().rev().map(|one| vec![one]));
            return;
        }
        let failed = |one: &LeaseParts| {
            let rest = Rest::Retry {
                floor: None,
                error: message.clone(),
            };
            Handled {
                settlement: settlement(&one.lease(), 0, rest),
                refused: Some(message.clone()),
                unsure: true,
            }
        };
        let ran = parts.iter().map(failed).collect();
        self.sort(parts, ran);
    }

    fn sort(&mut self, parts: Vec<LeaseParts>, ran: Vec<Handled>) {
        let mut answers: BTreeMap<Fence, Handled> = ran
            .into_iter()
            .map(|ran| (ran.settlement.lease.fence, ran))
            .collect();
        let is_refused = |one: &LeaseParts| {
            answers
                .get(&one.fence())
                .is_some_and(|ran| ran.refused.is_some() && ran.settlement.outcome.done == 0)
        };
        if parts.len() > 1 && self.splits_left > 0 && parts.iter().all(is_refused) {
            self.splits_left -= 1;
            let mut first = parts;
            for one in &mut first {
                if answers.get(&one.fence()).is_some_and(|ran| ran.unsure) {
                    one.doubt();
                }
            }
            let second = first.split_off(first.len() / 2);
            self.calls.push(second);
            self.calls.push(first);
            return;
        }
        let mut going_on = Vec::new();
        for one in parts {
            // A lease that no settlement names is let go: it lapses.
            let Some(ran) = answers.remove(&one.fence()) else {
                continue;
            };
            self.anything_passed |= ran.settlement.outcome.done > 0;
            match one.answered(ran) {
                Next::Part(one) => going_on.push(*one),
                Next::Refused { parts, rest, error } => self.refused.push((*parts, rest, error)),
                Next::Done(settlement) => self.settled.push(settlement),
            }
        }
        if !going_on.is_empty() {
            self.calls.push(going_on);
        }
    }

    /// A store that took others is there, so that what it refuses by itself is that job's fault: it spends an attempt and
    /// names the job. Where nothing went through, nobody is to blame.
    fn settle_refused(&mut self) {
        for (one, rest, error) in std::mem::take(&mut self.refused) {
            let job = one.first_job();
            let rest = match rest {
                Rest::Defer { after } if self.anything_passed && one.was_split() => Rest::Retry {
                    floor: Some(after),
                    error: format!(
                        "job {job} is refused by itself, others went through: mend what it carries or what takes it, or dead-letter it: {error}"
                    ),
                },
                rest => {
                    tracing::warn!(%job, error, "a job is refused");
                    rest
                }
            };
            self.settled.push(one.end(0, rest));
        }
    }
}
