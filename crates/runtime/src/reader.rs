//! Reading what projections made.
use crate::{
    encoded::{decode_json, with_state},
    fold::key_text,
};
use foldwright_domain::{Aggregate, EventsOf, Fold, Key, KeyedFold, Map, TenantId};
use foldwright_ports::{
    Cursor, Error, FoldRow, Kind, Limits, Page, Ports, Record, Result, Selection, StateKey, StateRow,
};
use std::{collections::BTreeSet, sync::Arc};

/// Typed reads of the kernel's own stores. Needs no kernel: a process that only shows things needs no worker.
#[derive(Clone, Debug)]
pub struct Reader {
    ports: Ports,
    /// Projections that are kept in a table of the user's own, by kind and name.
    elsewhere: Arc<BTreeSet<(&'static str, &'static str)>>,
}

/// A state that is there and that this build cannot read: another version of the fold made it, and it is rebuilt with the
/// next event of its aggregate or key.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("the state of `{}` under `{}` was made by version {version} and is not readable by this build", key.projection, key.key)]
pub struct Unreadable {
    /// Which state.
    pub key: StateKey,
    /// The version of the fold that made it.
    pub version: u32,
}

/// For those to whom one such row is an error of the whole.
impl From<Unreadable> for Error {
    fn from(row: Unreadable) -> Self {
        other_version(&row.key.projection, row.version)
    }
}

impl Reader {
    /// Reads from these ports.
    #[must_use]
    pub fn new(ports: Ports) -> Self {
        Self {
            ports,
            elsewhere: Arc::default(),
        }
    }

    pub(crate) fn without(ports: Ports, elsewhere: Arc<BTreeSet<(&'static str, &'static str)>>) -> Self {
        Self { ports, elsewhere }
    }

    /// A projection with a table of its own is read there, and never taken for empty here.
    fn check(&self, kind: &'static str, name: &'static str) -> Result<()> {
        if self.elsewhere.contains(&(kind, name)) {
            let advice = format!("{kind} `{name}` is kept in a table of its own: read it there");
            return Err(Error::new(Kind::Unsupported, "read projection", advice));
        }
        Ok(())
    }

    /// The state of a fold for one aggregate; `None` when nothing was folded yet.
    ///
    /// # Errors
    /// The store's; [`Kind::Corrupt`] when the row was made by another version of the fold and is not rebuilt yet, which
    /// happens with the next event of its aggregate; [`Kind::Unsupported`] when the fold has a table of its own.
    pub async fn state<F, A>(&self, key: &Key<A>) -> Result<Option<FoldRow<F::State>>>
    where
        F: Fold<On: EventsOf<A>>,
        A: Aggregate,
    {
        self.load::<F>(key.tenant(), key.id().as_str()).await
    }

    /// The state of a keyed fold for one key; `None` when nothing was folded yet.
    ///
    /// # Errors
    /// As [`state`](Self::state), or [`Kind::Invalid`] for a key that is none.
    pub async fn keyed_state<F: KeyedFold>(
        &self,
        tenant: &TenantId,
        key: &F::Key,
    ) -> Result<Option<FoldRow<F::State>>> {
        let key = key_text(key).map_err(|source| {
            Error::new(Kind::Invalid, "read state", "the key does not encode").caused_by(source)
        })?;
        self.load::<F>(tenant, &key).await
    }

    async fn load<F: Fold>(&self, tenant: &TenantId, key: &str) -> Result<Option<FoldRow<F::State>>> {
        self.check("fold", F::NAME)?;
        let key = StateKey {
            tenant: tenant.clone(),
            projection: F::NAME.into(),
            key: key.into(),
        };
        let rows = self.ports.folds.load(&[key]).await?;
        let row = rows.into_iter().next().flatten().map(typed::<F>).transpose();
        row.map_err(Error::from)
    }

    /// All states of a fold and tenant, ordered by key. One that this build cannot read takes its place in the page as
    /// [`Unreadable`], beside the others.
    ///
    /// # Errors
    /// The store's; [`Kind::Unsupported`] when the fold has a table of its own.
    pub async fn states<F: Fold>(
        &self,
        tenant: &TenantId,
        from: Option<Cursor>,
        limits: Limits,
    ) -> Result<Page<Result<FoldRow<F::State>, Unreadable>>> {
        self.check("fold", F::NAME)?;
        let page = self.ports.folds.list(tenant, F::NAME, from, limits).await?;
        Ok(Page {
            items: page.items.into_iter().map(typed::<F>).collect(),
            next: page.next,
        })
    }

    /// Records of a map and tenant, in canonical order; of one aggregate when its id is given.
    ///
    /// # Errors
    /// The store's, or [`Kind::Corrupt`] when a record was made by another version of the map.
    pub async fn records<M: Map>(
        &self,
        tenant: &TenantId,
        aggregate_id: Option<&str>,
        from: Option<Cursor>,
        limits: Limits,
    ) -> Result<Page<Record<M::Record>>> {
        self.check("map", M::NAME)?;
        let page = self
            .ports
            .records
            .list(tenant, M::NAME, aggregate_id, from, limits)
            .await?;
        let items = page.items.into_iter().map(record::<M>).collect::<Result<_>>()?;
        Ok(Page {
            items,
            next: page.next,
        })
    }

    /// Whether a tenant has events.
    ///
    /// # Errors
    /// The log's.
    pub async fn knows(&self, tenant: &TenantId) -> Result<bool> {
        let all = Selection::all(tenant.clone());
        let page = self.ports.log.scan(&all, None, Limits::items(1)).await?;
        Ok(!page.items.is_empty())
    }

    /// The tenants that have events, in order of their names.
    ///
    /// # Errors
    /// The log's.
    pub async fn tenants(&self) -> Result<Vec<TenantId>> {
        let (mut tenants, mut from) = (Vec::new(), None);
        loop {
            let page = self.ports.log.tenants(from, Limits::items(1_000)).await?;
            tenants.extend(page.items);
            match page.next {
                Some(next) => from = Some(next),
                None => return Ok(tenants),
            }
        }
    }
}

fn typed<F: Fold>(row: StateRow) -> Result<FoldRow<F::State>, Unreadable> {
    let state = (row.fold_version == F::VERSION)
        .then(|| decode_json(&row.state))
        .flatten();
    match state {
        Some(state) => Ok(with_state(row, |_| state)),
        None => Err(Unreadable {
            version: row.fold_version,
            key: row.key,
        }),
    }
}

fn record<M: Map>(row: Record) -> Result<Record<M::Record>> {
    let record = decode_json::<M::Record>(&row.record).ok_or_else(|| other_version(M::NAME, row.version))?;
    Ok(Record {
        stream: row.stream,
        projection: row.projection,
        version: row.version,
        identity: row.identity,
        position: row.position,
        record,
    })
}

fn other_version(projection: &str, version: u32) -> Error {
    Error::new(
        Kind::Corrupt,
        "read projection",
        format!("a row of `{projection}` was made by version {version} and is not readable by this build"),
    )
}
