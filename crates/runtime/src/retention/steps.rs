//! Letting old events go, a bounded step at a time.
use super::{
    NoBase,
    keeper::{Keeping, KeepsBase, goes},
};
use crate::context::Context;
use foldwright_domain::Identity;
use foldwright_ports::{Cursor, Error, Limits, Retention, Selection, StateKey};
use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    sync::Arc,
};

/// What happens where the state of a fold cannot be kept.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WithoutBase {
    /// The log is not cut.
    Stop,
    /// The log is cut all the same: the state stays as it is, and where it would have to be folded anew, that is refused
    /// with an error for good.
    Cut,
}

/// Where the next step goes on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RetainCursor(Phase);

#[derive(Clone, PartialEq, Eq, Debug)]
enum Phase {
    Keep(Cursor),
    Cut,
}

/// What one step did.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Retained {
    /// Events that were looked at.
    pub read: u64,
    /// States that were kept.
    pub kept: u64,
    /// States that had been kept before.
    pub stood: u64,
    /// States that could not be kept, under [`WithoutBase::Cut`].
    pub without: Vec<NoBase>,
    /// Events that were removed from the log.
    pub removed: u64,
    /// Where to go on; `None` is the end.
    pub next: Option<RetainCursor>,
}

/// Why a step stopped.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RetainError {
    /// States cannot be kept, and nothing was removed. States that were kept stay kept.
    #[error("{} state(s) cannot be kept, the log is not cut: {}", .0.len(), First(.0))]
    NoBase(Vec<NoBase>),
    /// A store failed; the same step may be asked for again.
    #[error(transparent)]
    Store(#[from] Error),
}

struct First<'a>(&'a [NoBase]);

impl fmt::Display for First<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            [] => Ok(()),
            [only] => write!(f, "{only}"),
            [first, ..] => write!(f, "{first}, and others"),
        }
    }
}

/// One step: first every state is kept, then the log is cut.
pub(crate) async fn step(
    folds: &[Arc<dyn KeepsBase>],
    retention: &Retention,
    without: WithoutBase,
    from: Option<RetainCursor>,
    events: usize,
    ctx: &Context,
) -> Result<Retained, RetainError> {
    match from {
        None => keep(folds, retention, without, None, events, ctx).await,
        Some(RetainCursor(Phase::Keep(cursor))) => {
            keep(folds, retention, without, Some(cursor), events, ctx).await
        }
        Some(RetainCursor(Phase::Cut)) => {
            let removed = ctx.ports.log.retain(retention, events).await?;
            Ok(Retained {
                removed: removed as u64,
                next: (removed >= events).then_some(RetainCursor(Phase::Cut)),
                ..Retained::default()
            })
        }
    }
}

async fn keep(
    folds: &[Arc<dyn KeepsBase>],
    retention: &Retention,
    without: WithoutBase,
    from: Option<Cursor>,
    events: usize,
    ctx: &Context,
) -> Result<Retained, RetainError> {
    let selection = Selection {
        aggregate_types: retention.aggregate_types.clone(),
        ..Selection::all(retention.tenant.clone())
    };
    let page = ctx
        .ports
        .log
        .scan(&selection, from, Limits::items(events))
        .await?;
    let mut done = Retained {
        read: page.items.len() as u64,
        next: Some(RetainCursor(page.next.map_or(Phase::Cut, Phase::Keep))),
        ..Retained::default()
    };
    let mut refused = Vec::new();
    for fold in folds {
        let mut states: BTreeMap<StateKey, BTreeSet<Identity>> = BTreeMap::new();
        let going = page.items.iter().filter(|event| goes(event, retention));
        for event in going.filter(|event| fold.reads(&event.meta.event_type)) {
            match fold.key(event) {
                Ok(key) => {
                    states.entry(key).or_default().insert(event.meta.identity);
                }
                Err(why) => refused.push(NoBase {
                    tenant: retention.tenant.clone(),
                    fold: fold.fold(),
                    key: "".into(),
                    why,
                }),
            }
        }
        for (key, identities) in states {
            match fold.keep(&key, &identities, retention, ctx).await? {
                Keeping::Kept => done.kept += 1,
                Keeping::Stood => done.stood += 1,
                Keeping::Not(why) => refused.push(NoBase {
                    tenant: key.tenant,
                    fold: fold.fold(),
                    key: key.key,
                    why,
                }),
            }
        }
    }
    if !refused.is_empty() && without == WithoutBase::Stop {
        return Err(RetainError::NoBase(refused));
    }
    done.without = refused;
    Ok(done)
}
