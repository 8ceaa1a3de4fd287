//! Folding an aggregate or key anew from the log: the truth, and expensive.
use super::{
    Applied, Base, Membership, Weave, WeaveError,
    progress::{Panicked, Progress},
    source::KeyRule,
};
use crate::{
    lean::{carried, seen},
    subscriber::Decisions,
};
use foldwright_domain::{DecodeError, EventSet, Fold, Identity, RawEvent, Recorded};
use foldwright_ports::{Error, Ports, StateKey};
use std::collections::BTreeSet;

/// What a refold replaces.
pub(crate) struct Replaced<'a> {
    /// Which events the replaced row holds; `None` where its notes cannot be read.
    pub(crate) applied: Option<&'a Applied>,
    /// How many it holds; 0 where that cannot be read.
    pub(crate) events: u64,
    /// Whether another version of the fold made it, which may have read other events.
    pub(crate) other_version: bool,
    /// The batch that led here, without the events that are surely in.
    pub(crate) batch: &'a BTreeSet<Identity>,
}

impl Replaced<'_> {
    /// What the batch says where the notes are lost: its own events are new, all others were there.
    fn guess(&self, identity: &Identity) -> Membership {
        if self.batch.contains(identity) {
            Membership::No
        } else {
            Membership::Unsure
        }
    }
}

/// Why a refold gave no state.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RefoldError {
    #[error(transparent)]
    Log(#[from] Error),
    #[error(transparent)]
    Decode(#[from] DecodeError),
    #[error("reading or `apply` panicked at event {event}: {message}")]
    Panicked {
        event: foldwright_domain::EventId,
        message: String,
    },
    #[error("`init` panicked: {message}")]
    Init { message: String },
    #[error(
        "the log holds {found} events of this state, which has {applied} applied: restore the log or erase the state, a refold would forget"
    )]
    Forgets { found: u64, applied: u64 },
    #[error(
        "{events} events of this batch are neither in the log nor in what was kept where it was cut: a refold would drop them"
    )]
    Gone { events: usize },
    #[error(transparent)]
    Horizon(#[from] WeaveError),
}

impl From<Panicked> for RefoldError {
    fn from(Panicked { message }: Panicked) -> Self {
        Self::Init { message }
    }
}

/// Reads all distinct events of `key` and folds them from `init`; where the log was cut, from the base that was kept at
/// its horizon.
///
/// `read` counts the events that were read, also of a refold that failed.
///
/// Decides the subscribers of exactly those events that the replaced row does not hold. Whether it holds an event
/// that its filter is unsure of follows from the counts: the log has every event, the row says how many it has.
pub(crate) async fn refold<F: Fold>(
    rule: &dyn KeyRule<F>,
    ports: &Ports,
    key: &StateKey,
    replaced: &Replaced<'_>,
    decisions: &mut Decisions<'_, F::On, F::State>,
    read: &mut u64,
) -> Result<Progress<F::State>, RefoldError> {
    let known = replaced.applied.map(Applied::index);
    let base = Base::load::<F>(&*ports.folds, key).await?;
    let mut missing: BTreeSet<Identity> = replaced.batch.difference(&base.holds()).copied().collect();
    let (mut weave, mut progress) = Weave::begin::<F>(base)?;
    let in_base = replaced.applied.map_or(0, |applied| weave.count(applied.exact()));
    let (mut kept, mut new, mut dropped) = (in_base, 0_u64, 0_u64);
    let mut uncertain = decisions.fork();
    let mut cursor = None;
    loop {
        let page = rule.page(&*ports.log, key, cursor).await?;
        *read = read.saturating_add(page.items.len() as u64);
        for raw in &page.items {
            missing.remove(&raw.meta.identity);
        }
        for raw in weave.page::<F>(page.items, page.next.is_none())? {
            let Some(event) = decode::<F>(&raw)?.filter(|event| rule.holds(key, event)) else {
                // Not forgotten: the version that made the row read it, this one does not.
                match known
                    .as_ref()
                    .map_or(Membership::No, |known| known.contains(&raw.meta.identity))
                {
                    Membership::Yes => (kept, dropped) = (kept + 1, dropped + 1),
                    Membership::Unsure => dropped += 1,
                    Membership::No => {}
                }
                continue;
            };
            let id = event.meta.id;
            progress = progress
                .step::<F>(&event)
                .map_err(|Panicked { message }| RefoldError::Panicked { event: id, message })?;
            let identity = &event.meta.identity;
            let membership = known
                .as_ref()
                .map_or_else(|| replaced.guess(identity), |known| known.contains(identity));
            match membership {
                Membership::Yes => kept += 1,
                Membership::No => {
                    new += 1;
                    decisions.decide(&event, &progress.state, || carried::<F::On>(&raw));
                }
                Membership::Unsure if replaced.batch.contains(identity) => {
                    uncertain.decide(&event, &progress.state, || carried::<F::On>(&raw));
                }
                Membership::Unsure => {}
            }
        }
        match page.next {
            Some(next) => cursor = Some(next),
            None => break,
        }
    }
    if !missing.is_empty() {
        return Err(RefoldError::Gone {
            events: missing.len(),
        });
    }
    let exact = replaced.applied.map_or(0, |applied| applied.exact().len());
    let found = progress.events + dropped;
    let all_are_read = !replaced.other_version || rule.pages_hold_other_versions();
    if all_are_read && (kept < exact || found < replaced.events) {
        return Err(RefoldError::Forgets {
            found,
            applied: replaced.events,
        });
    }
    if replaced.applied.is_some() && found.saturating_sub(replaced.events) > new {
        decisions.join(uncertain);
    }
    Ok(progress)
}

/// The event, if the fold reads its type.
fn decode<F: Fold>(raw: &RawEvent) -> Result<Option<Recorded<F::On>>, RefoldError> {
    if !F::On::reads(&raw.meta.event_type) {
        return Ok(None);
    }
    let data = seen::<F::On>(raw).map_err(|message| RefoldError::Panicked {
        event: raw.meta.id,
        message,
    })??;
    Ok(Some(Recorded {
        meta: raw.meta.clone(),
        data,
    }))
}
