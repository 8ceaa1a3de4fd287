//! A state while events are applied to it. Pure.
use super::Applied;
use crate::catch::caught;
use foldwright_domain::{Fold, Position, Recorded};

/// A state with what the kernel knows of it.
#[derive(Clone, Debug)]
pub(crate) struct Progress<S> {
    pub(crate) state: S,
    /// How many distinct events it holds.
    pub(crate) events: u64,
    /// The canonically last of them.
    pub(crate) last_applied: Option<Position>,
    pub(crate) applied: Applied,
}

/// `apply` panicked; the state is lost.
#[derive(Debug)]
pub(crate) struct Panicked {
    pub(crate) message: String,
}

impl<S> Progress<S> {
    /// The state before the first event.
    pub(crate) fn init<F: Fold<State = S>>() -> Result<Self, Panicked> {
        let state = caught(F::init).map_err(|message| Panicked { message })?;
        Ok(Self {
            state,
            events: 0,
            last_applied: None,
            applied: Applied::default(),
        })
    }

    /// The state after one more event, which must not be in yet.
    pub(crate) fn step<F: Fold<State = S>>(mut self, event: &Recorded<F::On>) -> Result<Self, Panicked> {
        let state = self.state;
        self.state = caught(|| F::apply(state, event)).map_err(|message| Panicked { message })?;
        self.events += 1;
        self.last_applied = self.last_applied.max(Some(event.meta.position()));
        self.applied.insert(event.meta.identity);
        Ok(self)
    }
}
