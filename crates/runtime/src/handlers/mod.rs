//! What runs the jobs of each route. Generics end here: a registration keeps its types behind [`RouteHandler`].
mod accepted;
mod command;
mod current_fold;
mod decider;
mod decider_line;
mod decider_state;
mod failure;
mod fold;
mod fold_attempt;
mod fold_ledger;
mod incoming;
mod map;
mod own_events;
mod stored_events;
mod subscriber;
mod subscriber_jobs;
mod switched;

pub(crate) use accepted::fits;
pub(crate) use command::CommandHandler;
pub(crate) use current_fold::CurrentFold;
pub(crate) use decider::{DECIDE_PATH, DeciderHandler};
pub(crate) use failure::Failure;
pub(crate) use fold::FoldHandler;
pub(crate) use fold_ledger::{AsksLedger, FoldLedger};
pub(crate) use incoming::{Incoming, Job, read_events};
pub(crate) use map::{CurrentRecord, MapHandler};
pub(crate) use own_events::own_events;
pub(crate) use subscriber::SubscriberHandler;
pub(crate) use subscriber_jobs::{SharedState, stage_pending, subscriber_jobs};
pub(crate) use switched::SwitchedHandler;

use crate::context::Context;
use async_trait::async_trait;
use foldwright_ports::{Lease, Outcome, Rest, Settlement};

/// Runs many leases of one route at once: one load, one append or store, whatever their number.
///
/// A settlement for each lease, in any order. Cancellation: a dropped run settles nothing, and its leases lapse.
#[async_trait]
pub(crate) trait RouteHandler: Send + Sync + 'static {
    async fn run(&self, leases: Vec<Lease>, ctx: &Context) -> Vec<Settlement>;
}

/// A settlement from which nothing follows.
pub(crate) fn settlement(lease: &Lease, done: usize, rest: Rest) -> Settlement {
    Settlement {
        lease: lease.reference(),
        outcome: Outcome { done, rest },
        answers: Vec::new(),
        then: Vec::new(),
    }
}
