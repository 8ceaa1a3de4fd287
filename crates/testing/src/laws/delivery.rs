//! Bringing events to a fold as the kernel does.
use super::law::Broken;
use foldwright_domain::{Fold, Identity, OrderKind, Position, Recorded};
use std::{
    collections::BTreeSet,
    panic::{AssertUnwindSafe, catch_unwind},
};

/// A stored state with what the kernel knows of it. A plain model of the exact fold: no store, no lease.
pub(super) struct Stored<'a, F: Fold> {
    /// As JSON, as it lies in a store.
    pub(super) state: Vec<u8>,
    /// Every event that it holds.
    held: Vec<&'a Recorded<F::On>>,
    identities: BTreeSet<Identity>,
    last: Option<Position>,
}

impl<'a, F: Fold> Stored<'a, F> {
    pub(super) fn new() -> Result<Self, Broken> {
        Ok(Self {
            state: encode::<F>(&F::init())?,
            held: Vec::new(),
            identities: BTreeSet::new(),
            last: None,
        })
    }

    /// The state after these batches.
    pub(super) fn after(
        batches: impl IntoIterator<Item = Vec<&'a Recorded<F::On>>>,
    ) -> Result<Vec<u8>, Broken> {
        let mut stored = Self::new()?;
        for batch in batches {
            stored.deliver(batch)?;
        }
        Ok(stored.state)
    }

    /// One batch: what the state holds is left out by identity, the rest is applied by position. Where the fold asks for
    /// canonical order and an event is late, everything is folded anew.
    fn deliver(&mut self, batch: Vec<&'a Recorded<F::On>>) -> Result<(), Broken> {
        let mut fresh: Vec<_> = batch
            .into_iter()
            .filter(|event| self.identities.insert(event.meta.identity))
            .collect();
        fresh.sort_by_key(|event| event.meta.position());
        let Some(first) = fresh.first().map(|event| event.meta.position()) else {
            return Ok(());
        };
        let late = <F::Order as OrderKind>::CANONICAL && self.last.is_some_and(|last| first < last);
        self.held.extend(&fresh);
        let state = if late {
            self.held.sort_by_key(|event| event.meta.position());
            apply_all::<F>(F::init(), &self.held)?
        } else {
            apply_all::<F>(decode::<F>(&self.state)?, &fresh)?
        };
        self.last = self.held.iter().map(|event| event.meta.position()).max();
        self.state = encode::<F>(&state)?;
        Ok(())
    }
}

/// The state after these events, in this order and without a store in between.
pub(super) fn apply_all<F: Fold>(init: F::State, events: &[&Recorded<F::On>]) -> Result<F::State, Broken> {
    events
        .iter()
        .try_fold(init, |state, event| apply::<F>(state, event))
}

pub(super) fn apply<F: Fold>(state: F::State, event: &Recorded<F::On>) -> Result<F::State, Broken> {
    catch_unwind(AssertUnwindSafe(|| F::apply(state, event))).map_err(|panic| {
        let said = panic
            .downcast_ref::<String>()
            .map(String::as_str)
            .or_else(|| panic.downcast_ref::<&str>().copied());
        Broken(format!(
            "`apply` panics at {} of {}: {}",
            event.meta.event_type,
            event.meta.version,
            said.unwrap_or("it does not say why")
        ))
    })
}

pub(super) fn encode<F: Fold>(state: &F::State) -> Result<Vec<u8>, Broken> {
    serde_json::to_vec(state).map_err(|error| Broken(format!("the state does not become JSON: {error}")))
}

pub(super) fn decode<F: Fold>(state: &[u8]) -> Result<F::State, Broken> {
    serde_json::from_slice(state)
        .map_err(|error| Broken(format!("the state does not come back from its JSON: {error}")))
}
