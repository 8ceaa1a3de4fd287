//! Makes the base of a fold's state.
use super::WhyNoBase;
use crate::{
    context::Context,
    encoded::encode_json,
    fold::{Base, BaseNotes, Kept, KeyRule, Ledger, Membership, Panicked, Progress, Weave, WeaveError},
    lean::seen,
    wire::encode_event,
};
use async_trait::async_trait;
use foldwright_domain::{EventId, EventSet, Fold, Identity, OrderKind, RawEvent, Recorded};
use foldwright_ports::{Error, Fence, Kind, Retention, Revision, StateKey, StateRow, StateTable, Stored};
use std::{collections::BTreeSet, sync::Arc};

/// The most events that a base may name: 16 bytes each, so 16 MiB.
pub(super) const MOST_NAMED: usize = 1 << 20;
/// The most events that wait in a base's tail.
pub(super) const LONGEST_TAIL: usize = 10_000;

/// A fold, as retention sees it.
#[async_trait]
pub(crate) trait KeepsBase: Send + Sync + 'static {
    fn fold(&self) -> &'static str;
    fn reads(&self, event_type: &str) -> bool;
    /// The state that an event belongs to.
    fn key(&self, event: &RawEvent) -> Result<StateKey, WhyNoBase>;
    /// Keeps the state of `key` at the horizon, unless what is kept holds all of `events` already.
    async fn keep(
        &self,
        key: &StateKey,
        events: &BTreeSet<Identity>,
        retention: &Retention,
        ctx: &Context,
    ) -> Result<Keeping, Error>;
}

/// What became of one state.
pub(crate) enum Keeping {
    Kept,
    Stood,
    Not(WhyNoBase),
}

/// One fold with its table and its key rule.
pub(crate) struct BaseKeeper<F: Fold> {
    pub(crate) table: Arc<dyn StateTable<F::State>>,
    pub(crate) rule: Arc<dyn KeyRule<F>>,
}

/// Why there is no base: a store that failed, or the state itself.
enum Halt {
    Store(Error),
    Not(WhyNoBase),
}

impl From<Error> for Halt {
    fn from(error: Error) -> Self {
        Self::Store(error)
    }
}

impl From<WhyNoBase> for Halt {
    fn from(why: WhyNoBase) -> Self {
        Self::Not(why)
    }
}

impl From<Panicked> for Halt {
    fn from(Panicked { message }: Panicked) -> Self {
        Self::Not(WhyNoBase::Unreadable(format!(
            "`init` or `apply` panicked: {message}"
        )))
    }
}

impl From<WeaveError> for Halt {
    fn from(error: WeaveError) -> Self {
        Self::Not(match error {
            WeaveError::BehindHorizon { event } => WhyNoBase::BehindHorizon { event },
            WeaveError::OtherVersion { version } => WhyNoBase::OtherVersion { version },
        })
    }
}

/// Whether retention removes an event.
pub(super) fn goes(event: &RawEvent, retention: &Retention) -> bool {
    let types = &retention.aggregate_types;
    event.meta.accepted_at < retention.accepted_before
        && (types.is_empty() || types.contains(&event.meta.stream.aggregate_type))
}

/// The state at the horizon while it is made.
struct Making<S> {
    progress: Progress<S>,
    identities: Vec<Identity>,
    tail: Vec<RawEvent>,
    /// The events that come in with this base.
    new: Vec<(EventId, Identity)>,
}

#[async_trait]
impl<F: Fold> KeepsBase for BaseKeeper<F> {
    fn fold(&self) -> &'static str {
        F::NAME
    }

    fn reads(&self, event_type: &str) -> bool {
        F::On::reads(event_type)
    }

    fn key(&self, event: &RawEvent) -> Result<StateKey, WhyNoBase> {
        let group = self.rule.group_key(event);
        let group = group.map_err(|error| WhyNoBase::Unreadable(error.to_string()))?;
        Ok(StateKey {
            tenant: event.meta.stream.tenant.clone(),
            projection: F::NAME.into(),
            key: self.rule.state_key(&group).into(),
        })
    }

    async fn keep(
        &self,
        key: &StateKey,
        events: &BTreeSet<Identity>,
        retention: &Retention,
        ctx: &Context,
    ) -> Result<Keeping, Error> {
        let before = Base::load::<F>(&*ctx.ports.folds, key).await?;
        if before.state.is_some() && events.is_subset(&before.holds()) {
            return Ok(Keeping::Stood);
        }
        match self.make(key, before, retention, ctx).await {
            Ok(()) => Ok(Keeping::Kept),
            Err(Halt::Not(why)) => Ok(Keeping::Not(why)),
            Err(Halt::Store(error)) => Err(error),
        }
    }
}

impl<F: Fold> BaseKeeper<F> {
    async fn make(
        &self,
        key: &StateKey,
        before: Kept<F::State>,
        retention: &Retention,
        ctx: &Context,
    ) -> Result<(), Halt> {
        let revision = Revision {
            fence: Fence(
                before
                    .revision
                    .map_or(1, |revision| revision.fence.0.saturating_add(1)),
            ),
            write: 1,
        };
        let made = self.read(key, before, retention, ctx).await?;
        self.is_applied(key, &made.new).await?;
        let now = ctx.ports.clock.now();
        let tail = made.tail.iter().map(encode_event).collect();
        let notes = BaseNotes {
            identities: made.identities,
            tail,
        };
        let row = StateRow {
            key: Base::key(key),
            state: encode_json(&made.progress.state)?,
            fold_version: F::VERSION,
            revision,
            events: made.progress.events,
            last_applied: made.progress.last_applied,
            created_at: now,
            updated_at: now,
            ledger: notes.encode(),
        };
        match ctx.ports.folds.store(vec![row]).await.into_iter().next() {
            Some(Ok(Stored::Yes)) => Ok(()),
            Some(Ok(Stored::Superseded { .. })) => {
                let advice = "another retention keeps this state at the same time: ask again";
                Err(Error::new(Kind::Unavailable, "keep fold base", advice).into())
            }
            Some(Err(error)) => Err(error.into()),
            None => Err(Error::new(Kind::Unavailable, "keep fold base", "the store gave no answer").into()),
        }
    }

    /// Folds what is to go; of a fold by occurrence only up to the first event that stays.
    async fn read(
        &self,
        key: &StateKey,
        before: Kept<F::State>,
        retention: &Retention,
        ctx: &Context,
    ) -> Result<Making<F::State>, Halt> {
        let identities = if before.state.is_some() {
            before.identities.clone()
        } else {
            Vec::new()
        };
        let gone: BTreeSet<Identity> = before.tail.iter().map(|event| event.meta.identity).collect();
        let (mut weave, progress) = Weave::begin::<F>(before)?;
        let mut making = Making {
            progress,
            identities,
            tail: Vec::new(),
            new: Vec::new(),
        };
        let (mut cursor, mut stays) = (None, false);
        loop {
            let page = self.rule.page(&*ctx.ports.log, key, cursor).await?;
            for raw in weave.page::<F>(page.items, page.next.is_none())? {
                let Some(event) = self.decode(key, &raw)? else {
                    continue;
                };
                let was_gone = gone.contains(&raw.meta.identity);
                if !was_gone && !goes(&raw, retention) {
                    stays = true;
                    continue;
                }
                if !was_gone {
                    making.new.push((raw.meta.id, raw.meta.identity));
                }
                if stays && <F::Order as OrderKind>::CANONICAL {
                    making.tail.push(raw);
                } else {
                    making.progress = making.progress.step::<F>(&event)?;
                    making.identities.push(raw.meta.identity);
                }
                for (named, limit) in [
                    (making.identities.len(), MOST_NAMED),
                    (making.tail.len(), LONGEST_TAIL),
                ] {
                    if named > limit {
                        return Err(WhyNoBase::TooMany { limit }.into());
                    }
                }
            }
            match page.next {
                Some(next) => cursor = Some(next),
                None => return Ok(making),
            }
        }
    }

    /// The event, if it is one of this state.
    fn decode(&self, key: &StateKey, raw: &RawEvent) -> Result<Option<Recorded<F::On>>, WhyNoBase> {
        if !F::On::reads(&raw.meta.event_type) {
            return Ok(None);
        }
        let unreadable = |error: String| WhyNoBase::Unreadable(format!("event {}: {error}", raw.meta.id));
        let data = seen::<F::On>(raw)
            .map_err(unreadable)?
            .map_err(|error| unreadable(error.to_string()))?;
        let event = Recorded {
            meta: raw.meta.clone(),
            data,
        };
        Ok(Some(event).filter(|event| self.rule.holds(key, event)))
    }

    /// What the log loses must be in the fold's own state: an event whose job is still to come would be lost with a
    /// body that is gone, or counted twice by a refold.
    async fn is_applied(&self, key: &StateKey, new: &[(EventId, Identity)]) -> Result<(), Halt> {
        let rows = self.table.load(std::slice::from_ref(key)).await?;
        let row = rows.into_iter().next().flatten();
        if let Some(row) = &row
            && row.fold_version > F::VERSION
        {
            return Err(WhyNoBase::NewerState {
                version: row.fold_version,
            }
            .into());
        }
        let ledger = row.map(|row| Ledger::decode(&row.ledger)).transpose();
        let ledger = ledger.map_err(|error| WhyNoBase::Unreadable(error.to_string()))?;
        let ledger = ledger.unwrap_or_default();
        let applied = ledger.applied.index();
        match new
            .iter()
            .find(|(_, identity)| applied.contains(identity) == Membership::No)
        {
            Some((event, _)) => Err(WhyNoBase::NotApplied { event: *event }.into()),
            None => Ok(()),
        }
    }
}
