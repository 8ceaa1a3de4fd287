//! What runs the jobs of each route. Generics end here: a registration keeps its types behind [`RouteHandler`].
mod accepted;
mod command;
mod current_fold;
mod current_state;
mod decider;
mod decider_line;
mod decider_state;
mod failure;
mod fold;
mod fold_attempt;
mod fold_ledger;
mod incoming;
mod load_rows;
mod map;
mod own_events;
mod stored_events;
mod subscriber;
mod subscriber_jobs;
mod switched;

pub(crate) use accepted::fits;
pub(crate) use command::CommandHandler;
pub(crate) use current_fold::CurrentFold;
pub(crate) use current_state::CurrentState;
pub(crate) use decider::{DECIDE_PATH, DeciderHandler};
pub(crate) use failure::Failure;
pub(crate) use fold::FoldHandler;
pub(crate) use fold_ledger::{AsksLedger, FoldLedger};
pub(crate) use incoming::{Incoming, read_events};
pub(crate) use map::{CurrentRecord, MapHandler};
pub(crate) use own_events::own_events;
pub(crate) use subscriber::SubscriberHandler;
pub(crate) use subscriber_jobs::{SharedState, stage_pending, subscriber_jobs};
pub(crate) use switched::SwitchedHandler;

use crate::context::Context;
use async_trait::async_trait;
use foldwright_ports::{Error, Kind, Lease, Outcome, Rest, Settlement};

/// Runs many leases of one route at once: one load, one append or store, whatever their number.
///
/// An answer for each lease, in any order. `again` says that jobs of these leases were run before under the same tokens:
/// the call for all of them was refused, or those ahead went through. Cancellation: a dropped run settles nothing, and its
/// leases lapse.
#[async_trait]
pub(crate) trait RouteHandler: Send + Sync + 'static {
    async fn run(&self, leases: Vec<Lease>, again: bool, ctx: &Context) -> Vec<Handled>;
}

/// What became of a lease.
pub(crate) struct Handled {
    pub(crate) settlement: Settlement,
    /// Why a store refused all of it in one go, where another attempt can help: fewer jobs may go through.
    pub(crate) refused: Option<String>,
    /// Whether a write of it may have taken effect all the same. Then nothing of its lease may count as done: a lease that
    /// completed vouches for the jobs that each write under its token decided, and of this one they are not staged.
    pub(crate) unsure: bool,
}

impl Handled {
    /// It was stored, and what follows from it could not be handed on.
    pub(crate) fn stored_in_vain(lease: &Lease, failure: &Failure) -> Self {
        Self {
            settlement: settlement(lease, 0, failure.rest()),
            refused: None,
            unsure: true,
        }
    }

    /// A store refused all of it in one go.
    pub(crate) fn refused(lease: &Lease, error: Error) -> Self {
        let refused = error.is_retryable().then(|| error.to_string());
        let unsure = matches!(error.kind(), Kind::Unavailable | Kind::Timeout);
        Self {
            settlement: settlement(lease, 0, Failure::from(error).rest()),
            refused,
            unsure,
        }
    }

    /// Of a handler whose stores alone make jobs wait: where nothing is done and all of it waits, a store refused it.
    pub(crate) fn by_store(settlement: Settlement) -> Self {
        let waits = settlement.outcome.done == 0 && matches!(settlement.outcome.rest, Rest::Defer { .. });
        Self {
            settlement,
            refused: waits.then(|| "a store did not take it".to_owned()),
            unsure: false,
        }
    }
}

/// It failed at a job of it, or went through.
impl From<Settlement> for Handled {
    fn from(settlement: Settlement) -> Self {
        Self {
            settlement,
            refused: None,
            unsure: false,
        }
    }
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
