//! The events that follow a base, in canonical order: its own tail and what the log still has.
use super::{Kept, Panicked, Progress};
use foldwright_domain::{EventId, EventSet, Fold, Identity, OrderKind, Position, RawEvent};
use std::collections::{BTreeSet, VecDeque};

/// Puts a base in front of the pages of a log. Pure.
pub(crate) struct Weave {
    /// Events that the base holds: the log may have them still, and they are not applied again.
    held: BTreeSet<Identity>,
    /// Events that a base of another version holds: the log has to have all of them, or it cannot be rebuilt.
    owed: BTreeSet<Identity>,
    version: u32,
    tail: VecDeque<RawEvent>,
    last: Option<Position>,
}

/// Why the log and a base together give no state.
#[derive(Debug, thiserror::Error)]
pub(crate) enum WeaveError {
    #[error(
        "event {event} occurred before the horizon behind which the log was cut, and came after it: a state in the order of occurrence cannot take it in any more"
    )]
    BehindHorizon { event: EventId },
    #[error(
        "the log was cut and the state kept at its horizon is of version {version}: it cannot be folded anew by this version"
    )]
    OtherVersion { version: u32 },
}

impl Weave {
    /// Takes a base apart: the state to begin with, and the events to put in front.
    pub(crate) fn begin<F: Fold>(mut base: Kept<F::State>) -> Result<(Self, Progress<F::State>), Panicked> {
        let of_other_version = !base.is_empty() && base.state.is_none();
        let mut weave = Self {
            held: BTreeSet::new(),
            owed: BTreeSet::new(),
            version: base.version,
            tail: VecDeque::new(),
            last: None,
        };
        if of_other_version {
            weave.owed = base.holds();
            return Ok((weave, Progress::init::<F>()?));
        }
        weave.held = base.holds();
        weave.last = base.last_applied;
        weave.tail = std::mem::take(&mut base.tail).into();
        let progress = base.progress().map_or_else(Progress::init::<F>, Ok)?;
        Ok((weave, progress))
    }

    /// Of these events, how many the base's state holds.
    pub(crate) fn count(&self, of: &[Identity]) -> usize {
        let in_tail: BTreeSet<_> = self.tail.iter().map(|event| event.meta.identity).collect();
        let folded = |id: &&Identity| self.held.contains(*id) && !in_tail.contains(*id);
        of.iter().filter(folded).count()
    }

    /// A page of the log with what belongs before its events; behind the last page what is left.
    pub(crate) fn page<F: Fold>(
        &mut self,
        page: Vec<RawEvent>,
        is_last: bool,
    ) -> Result<Vec<RawEvent>, WeaveError> {
        let mut woven = Vec::with_capacity(page.len());
        for event in page {
            self.owed.remove(&event.meta.identity);
            if self.held.contains(&event.meta.identity) {
                continue;
            }
            let position = event.meta.position();
            while let Some(first) = self.tail.pop_front_if(|first| first.meta.position() < position) {
                woven.push(first);
            }
            let canonical = <F::Order as OrderKind>::CANONICAL && F::On::reads(&event.meta.event_type);
            if canonical && self.last.is_some_and(|last| position < last) {
                return Err(WeaveError::BehindHorizon { event: event.meta.id });
            }
            woven.push(event);
        }
        if is_last {
            woven.extend(self.tail.drain(..));
            if !self.owed.is_empty() {
                return Err(WeaveError::OtherVersion {
                    version: self.version,
                });
            }
        }
        Ok(woven)
    }
}
