//! States of folds.
use crate::{
    codec,
    error::{Fault, Outcome},
    page::Filling,
    reader::Read,
    store::Store,
    writer::Write,
};
use async_trait::async_trait;
use bytes::Bytes;
use foldwright_domain::{EventId, Millis, Position, TenantId};
use foldwright_ports::{
    Cursor, Error, Fence, FoldStore, Kind, Limits, Page, Result, Revision, StateKey, StateRow, Stored,
};
use rusqlite::{OptionalExtension, Row, params};
use std::sync::Arc;

/// The fold store in one file.
pub(crate) struct SqliteFolds {
    store: Arc<Store>,
}

impl SqliteFolds {
    pub(crate) fn new(store: Arc<Store>) -> Self {
        Self { store }
    }
}

macro_rules! select_folds {
    ($rest:literal) => {
        concat!(
            "SELECT owner, key, fold_version, fence, write, events, last_at, last_id, created_at, updated_at, state,
             ledger FROM fw_folds ",
            $rest
        )
    };
}

#[async_trait]
impl FoldStore for SqliteFolds {
    async fn load(&self, keys: &[StateKey]) -> Result<Vec<Option<StateRow>>> {
        let keys = keys.to_vec();
        self.store
            .readers
            .run("load", move |read| {
                keys.iter().map(|key| load(read, key)).collect()
            })
            .await
    }

    async fn store(&self, rows: Vec<StateRow>) -> Vec<Result<Stored>> {
        let calls = rows.len();
        if calls == 0 {
            return Vec::new();
        }
        let bytes = rows.iter().map(|row| row.state.len() + row.ledger.len()).sum();
        let stored = self
            .store
            .writer
            .run("store", bytes, move |write| {
                rows.iter().map(|row| each(store(write, row))).collect()
            })
            .await;
        spread(stored, calls, "store")
    }

    async fn list(
        &self,
        tenant: &TenantId,
        projection: &str,
        from: Option<Cursor>,
        limits: Limits,
    ) -> Result<Page<StateRow>> {
        let (tenant, projection) = (tenant.clone(), Arc::from(projection));
        self.store
            .readers
            .run("list", move |read| {
                list(read, &tenant, &projection, from.as_ref(), limits)
            })
            .await
    }
}

/// Keeps what is wrong with one row apart from what is wrong with the store.
pub(crate) fn each<T>(outcome: Outcome<T>) -> Outcome<Outcome<T>> {
    match outcome {
        Err(fault) if fault.kind() == Kind::Invalid => Ok(Err(fault)),
        Err(fault) => Err(fault),
        Ok(value) => Ok(Ok(value)),
    }
}

/// One answer per row, whether each has its own or the call failed as a whole.
pub(crate) fn spread<T>(
    outcome: Result<Vec<Outcome<T>>>,
    rows: usize,
    operation: &'static str,
) -> Vec<Result<T>> {
    match outcome {
        Ok(answers) => answers
            .into_iter()
            .map(|answer| answer.map_err(|fault| fault.at(operation)))
            .collect(),
        Err(error) => (0..rows)
            .map(|_| Err(Error::new(error.kind(), operation, error.to_string())))
            .collect(),
    }
}

fn load(read: &mut Read<'_>, key: &StateKey) -> Outcome<Option<StateRow>> {
    let db = read.db;
    let (Some(tenant), Some(projection)) = (
        read.names.find(db, key.tenant.as_str())?,
        read.names.find(db, &key.projection)?,
    ) else {
        return Ok(None);
    };
    let mut select = db.prepare_cached(select_folds!(
        "WHERE tenant = ?1 AND projection = ?2 AND key = ?3"
    ))?;
    let mut rows = select.query(params![tenant, projection, key.key.as_ref()])?;
    match rows.next()? {
        Some(row) => state(row, tenant, key.clone()).map(Some),
        None => Ok(None),
    }
}

fn state(row: &Row<'_>, tenant: i64, key: StateKey) -> Outcome<StateRow> {
    if row.get::<_, i64>(0)? != tenant {
        return Err(Fault::Foreign("stored state"));
    }
    let last_applied = match row.get::<_, Option<i64>>(6)? {
        None => None,
        Some(at) => Some(Position {
            occurred_at: Millis(at),
            id: EventId::from_u128(u128::from_be_bytes(row.get(7)?)),
        }),
    };
    Ok(StateRow {
        key,
        state: Bytes::from(row.get::<_, Vec<u8>>(10)?),
        fold_version: row.get(2)?,
        revision: revision(row.get(3)?, row.get(4)?),
        events: row.get::<_, i64>(5)?.cast_unsigned(),
        last_applied,
        created_at: Millis(row.get(8)?),
        updated_at: Millis(row.get(9)?),
        ledger: Bytes::from(row.get::<_, Vec<u8>>(11)?),
    })
}

/// SQLite's numbers have a sign; with this bit turned over they order all tokens as they are.
const SIGN: u64 = 1 << 63;

fn fence_column(fence: Fence) -> i64 {
    (fence.0 ^ SIGN).cast_signed()
}

fn revision(fence: i64, write: u32) -> Revision {
    Revision {
        fence: Fence(fence.cast_unsigned() ^ SIGN),
        write,
    }
}

fn store(write: &mut Write<'_>, row: &StateRow) -> Outcome<Stored> {
    let db = write.db;
    let fence = fence_column(row.revision.fence);
    let tenant = write.names.number(db, row.key.tenant.as_str())?;
    let projection = write.names.number(db, &row.key.projection)?;
    let last = row.last_applied;
    let written = db
        .prepare_cached(
            "INSERT INTO fw_folds (tenant, projection, key, owner, fold_version, fence, write, events, last_at,
             last_id, created_at, updated_at, state, ledger)
             VALUES (?1, ?2, ?3, ?1, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)
             ON CONFLICT (tenant, projection, key) DO UPDATE SET fold_version = ?4, fence = ?5, write = ?6,
             events = ?7, last_at = ?8, last_id = ?9, created_at = ?10, updated_at = ?11, state = ?12, ledger = ?13
             WHERE (?5, ?6) > (fence, write)",
        )?
        .execute(params![
            tenant,
            projection,
            row.key.key.as_ref(),
            row.fold_version,
            fence,
            row.revision.write,
            row.events.cast_signed(),
            last.map(|p| p.occurred_at.0),
            last.map(|p| p.id.as_u128().to_be_bytes()),
            row.created_at.0,
            row.updated_at.0,
            row.state.as_ref(),
            row.ledger.as_ref()
        ])?;
    if written == 1 {
        return Ok(Stored::Yes);
    }
    let by = db
        .prepare_cached(
            "SELECT fence, write FROM fw_folds WHERE tenant = ?1 AND projection = ?2 AND key = ?3",
        )?
        .query_row(params![tenant, projection, row.key.key.as_ref()], |row| {
            Ok(revision(row.get(0)?, row.get(1)?))
        })
        .optional()?
        .ok_or_else(|| Fault::corrupt("a state is gone"))?;
    Ok(Stored::Superseded { by })
}

fn list(
    read: &mut Read<'_>,
    tenant: &TenantId,
    projection: &Arc<str>,
    from: Option<&Cursor>,
    limits: Limits,
) -> Outcome<Page<StateRow>> {
    let db = read.db;
    let after: Option<String> = from.map(codec::cursor).transpose()?;
    let (Some(owner), Some(number)) = (
        read.names.find(db, tenant.as_str())?,
        read.names.find(db, projection)?,
    ) else {
        return Ok(Page::last(Vec::new()));
    };
    let mut select = db.prepare_cached(select_folds!(
        "WHERE tenant = ?1 AND projection = ?2 AND (?3 IS NULL OR key > ?3) ORDER BY key"
    ))?;
    let mut rows = select.query(params![owner, number, after])?;
    let mut page = Filling::new(limits);
    while let Some(row) = rows.next()? {
        let key: String = row.get(1)?;
        let state = state(
            row,
            owner,
            StateKey {
                tenant: tenant.clone(),
                projection: projection.clone(),
                key: key.as_str().into(),
            },
        )?;
        let bytes = state.state.len() + state.ledger.len();
        if !page.offer(state, bytes, key) {
            break;
        }
    }
    page.finish()
}
