//! The stored form of a fold's state at the horizon.
use super::{Applied, Progress};
use crate::{
    encoded::decode_json,
    wire::{WireError, decode_event},
};
use bytes::Bytes;
use foldwright_domain::{Fold, Identity, Position, RawEvent};
use foldwright_ports::{Error, FoldStore, Kind, Result, Revision, StateKey, StateRow};
use serde::{Deserialize, Serialize};
use std::{collections::BTreeSet, sync::Arc};

const VERSION: u8 = 1;

/// What the kernel notes beside a base's state.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub(crate) struct BaseNotes {
    /// The events in the state, in the order in which they were applied. Exact, because they decide for ever which
    /// events are in: the log no longer says.
    pub(crate) identities: Vec<Identity>,
    /// Events that are to go and lie behind one that stays, in canonical order and stored form: of a fold by occurrence
    /// they cannot be in the state yet.
    pub(crate) tail: Vec<Bytes>,
}

impl BaseNotes {
    pub(crate) fn encode(&self) -> Bytes {
        crate::wire::encode(VERSION, self).into()
    }

    pub(crate) fn decode(bytes: &[u8]) -> Result<Self, WireError> {
        crate::wire::decode("fold base", VERSION, bytes)
    }
}

/// A base as it was loaded.
pub(crate) struct Kept<S> {
    /// `None` where another version of the fold made it.
    pub(crate) state: Option<S>,
    pub(crate) version: u32,
    pub(crate) revision: Option<Revision>,
    pub(crate) last_applied: Option<Position>,
    pub(crate) identities: Vec<Identity>,
    pub(crate) tail: Vec<RawEvent>,
}

/// Where bases are kept: in the kernel's fold store, under a name that no fold can have.
pub(crate) struct Base;

impl Base {
    /// The key of the base of a fold's state.
    pub(crate) fn key(of: &StateKey) -> StateKey {
        StateKey {
            tenant: of.tenant.clone(),
            projection: Arc::from(format!("base.{}", of.projection)),
            key: of.key.clone(),
        }
    }

    /// The base of a state; an empty one where none was kept.
    pub(crate) async fn load<F: Fold>(folds: &dyn FoldStore, of: &StateKey) -> Result<Kept<F::State>> {
        let rows = folds.load(&[Self::key(of)]).await?;
        read::<F>(rows.into_iter().next().flatten())
    }

    /// The bases of many states in one call. One that cannot be read fails such a call, so they are then asked for one by
    /// one: it fails its own state alone.
    pub(crate) async fn load_all<F: Fold>(
        folds: &dyn FoldStore,
        of: &[StateKey],
    ) -> Vec<Result<Kept<F::State>>> {
        let keys: Vec<_> = of.iter().map(Self::key).collect();
        if let Ok(rows) = folds.load(&keys).await {
            return rows.into_iter().map(read::<F>).collect();
        }
        let mut bases = Vec::with_capacity(of.len());
        for key in of {
            bases.push(Self::load::<F>(folds, key).await);
        }
        bases
    }
}

fn read<F: Fold>(row: Option<StateRow>) -> Result<Kept<F::State>> {
    let Some(row) = row else {
        return Ok(Kept {
            state: None,
            version: F::VERSION,
            revision: None,
            last_applied: None,
            identities: Vec::new(),
            tail: Vec::new(),
        });
    };
    let corrupt = |source| Error::new(Kind::Corrupt, "read fold base", "").caused_by(source);
    let notes = BaseNotes::decode(&row.ledger).map_err(corrupt)?;
    let tail = notes.tail.iter().map(|stored| decode_event(stored));
    let tail = tail.collect::<Result<_, _>>().map_err(corrupt)?;
    let state = (row.fold_version == F::VERSION).then(|| decode_json(&row.state));
    Ok(Kept {
        state: state.flatten(),
        version: row.fold_version,
        revision: Some(row.revision),
        last_applied: row.last_applied,
        identities: notes.identities,
        tail,
    })
}

impl<S> Kept<S> {
    /// Whether nothing was kept.
    pub(crate) fn is_empty(&self) -> bool {
        self.revision.is_none()
    }

    /// Every event that is in, folded or not.
    pub(crate) fn holds(&self) -> BTreeSet<Identity> {
        let tail = self.tail.iter().map(|event| event.meta.identity);
        self.identities.iter().copied().chain(tail).collect()
    }

    /// The state to begin with; `None` where that is `init`.
    pub(crate) fn progress(&mut self) -> Option<Progress<S>> {
        let state = self.state.take()?;
        let mut applied = Applied::default();
        for identity in &self.identities {
            applied.insert(*identity);
        }
        Some(Progress {
            state,
            events: self.identities.len() as u64,
            last_applied: self.last_applied,
            applied,
        })
    }
}
