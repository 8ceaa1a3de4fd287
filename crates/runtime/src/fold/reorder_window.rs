//! Folding late events without the log: the newest events beside the state before them. Pure.
use super::{Job, Panicked, Progress};
use crate::{
    catch::caught,
    encoded::{decode_json, encode_json},
    lean::seen,
    subscriber::Decisions,
    wire::decode_event,
};
use bytes::Bytes;
use foldwright_domain::{Fold, OrderKind, Position, RawEvent, Recorded};
use serde::{Deserialize, Serialize};

/// More would make every write of the row expensive.
const MOST: usize = 256;

/// The last events of a canonical fold, and what there was before them.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct ReorderWindow {
    /// The state before these events, as JSON.
    base: Bytes,
    /// The canonically last event that the base holds.
    base_last: Option<Position>,
    /// The events, in canonical order, in their stored form.
    events: Vec<Bytes>,
}

/// A window while events are applied to it.
pub(crate) struct OpenWindow<F: Fold> {
    state: F::State,
    last: Option<Position>,
    events: Vec<(Bytes, Recorded<F::On>)>,
}

/// An event on its way into the state.
struct Item<'a, E> {
    stored: &'a Bytes,
    event: &'a Recorded<E>,
    /// Its place in the lease, where it is new.
    job: Option<usize>,
}

/// A state with the window that goes with it.
pub(crate) type Windowed<S> = (Progress<S>, ReorderWindow);

/// `apply` panicked at this job of the lease.
pub(crate) struct PanickedAt {
    pub(crate) job: usize,
    pub(crate) message: String,
}

/// How many events the fold keeps.
pub(crate) const fn kept<F: Fold>() -> usize {
    if !<F::Order as OrderKind>::CANONICAL {
        0
    } else if F::REORDER_WINDOW < MOST {
        F::REORDER_WINDOW
    } else {
        MOST
    }
}

#[cfg(test)]
impl ReorderWindow {
    pub(crate) fn of(base: Bytes, base_last: Option<Position>, events: Vec<Bytes>) -> Self {
        Self {
            base,
            base_last,
            events,
        }
    }
}

impl ReorderWindow {
    /// Opens it; `None` where this build cannot read it, or an event lies before what it covers: only the log helps then.
    pub(crate) fn open<F: Fold>(&self, first: Position) -> Option<OpenWindow<F>> {
        if kept::<F>() == 0 || self.base_last.is_some_and(|last| first < last) {
            return None;
        }
        let events = self.events.iter().map(|stored| {
            let raw = decode_event(stored).ok()?;
            Some((stored.clone(), typed::<F>(&raw)?))
        });
        Some(OpenWindow {
            state: decode_json(&self.base)?,
            last: self.base_last,
            events: events.collect::<Option<_>>()?,
        })
    }
}

fn typed<F: Fold>(raw: &RawEvent) -> Option<Recorded<F::On>> {
    let data = seen::<F::On>(raw).ok()?;
    Some(Recorded {
        meta: raw.meta.clone(),
        data: data.ok()?,
    })
}

impl<F: Fold> OpenWindow<F> {
    /// A window that begins behind this state; `None` where the state cannot be copied.
    pub(crate) fn behind(progress: &Progress<F::State>) -> Option<Self> {
        Some(Self {
            state: caught(|| progress.state.clone()).ok()?,
            last: progress.last_applied,
            events: Vec::new(),
        })
    }

    /// Its stored form; `None` where the state is nothing that JSON can express.
    pub(crate) fn close(&self) -> Option<ReorderWindow> {
        Some(ReorderWindow {
            base: encode_json(&self.state).ok()?,
            base_last: self.last,
            events: self.events.iter().map(|(stored, _)| stored.clone()).collect(),
        })
    }

    /// Folds new events, canonically sorted and all behind the base, into the state that `progress` has. With `late` some
    /// of them lie before events of the window, which are then applied anew. `None` where only the log can tell.
    pub(crate) fn fold(
        self,
        mut progress: Progress<F::State>,
        fresh: &[&Job<F::On>],
        late: bool,
        decisions: &mut Decisions<'_, F::On, F::State>,
    ) -> Result<Option<Windowed<F::State>>, PanickedAt> {
        let known = self.events.iter().map(|(stored, event)| Item {
            stored,
            event,
            job: None,
        });
        let new = fresh.iter().map(|job| Item {
            stored: &job.stored,
            event: &job.event,
            job: Some(job.index),
        });
        let mut items: Vec<_> = known.chain(new).collect();
        items.sort_by_key(|item| item.event.meta.position());
        let trimmed = items.len().saturating_sub(kept::<F>());
        let (mut base, mut base_last) = (self.state, self.last);
        if late {
            let Ok(state) = caught(|| base.clone()) else {
                return Ok(None);
            };
            progress.state = state;
        }
        let mut decided = decisions.fork();
        for (at, item) in items.iter().enumerate() {
            match item.job {
                Some(job) => {
                    progress = progress
                        .step::<F>(item.event)
                        .map_err(|Panicked { message }| PanickedAt { job, message })?;
                    decided.decide(item.event, &progress.state, || item.stored.clone());
                }
                None if late => match caught(|| F::apply(progress.state, item.event)) {
                    Ok(state) => progress.state = state,
                    Err(_) => return Ok(None),
                },
                None => {}
            }
            if at < trimmed {
                let Ok(state) = caught(|| F::apply(base, item.event)) else {
                    return Ok(None);
                };
                (base, base_last) = (state, Some(item.event.meta.position()));
            }
        }
        let Ok(base) = encode_json(&base) else {
            return Ok(None);
        };
        let events = items.iter().skip(trimmed).map(|item| item.stored.clone());
        let window = ReorderWindow {
            base,
            base_last,
            events: events.collect(),
        };
        decisions.join(decided);
        Ok(Some((progress, window)))
    }
}
