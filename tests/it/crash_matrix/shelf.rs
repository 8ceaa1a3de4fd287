//! A fold's states in a table of the user's own, in the kernel's file.
use super::{service::Total, world::World};
use async_trait::async_trait;
use foldwright::{
    domain::{Millis, Position},
    ports::{FoldRow, Result, Revision, StateKey, StateTable, Stored},
    sqlite::rusqlite::{OptionalExtension, Transaction},
};
use serde::{Deserialize, Serialize};

pub(super) struct ShelfTable(pub(super) World);

/// What a row has beside its state and its notes.
#[derive(Serialize, Deserialize)]
struct Meta {
    fold_version: u32,
    revision: Revision,
    events: u64,
    last_applied: Option<Position>,
    created_at: Millis,
    updated_at: Millis,
}

const LOAD: &str = "SELECT state, meta, ledger FROM shelf WHERE tenant = ?1 AND key = ?2";
const STORE: &str =
    "INSERT OR REPLACE INTO shelf (tenant, key, state, meta, ledger) VALUES (?1, ?2, ?3, ?4, ?5)";

fn store(tx: &Transaction<'_>, row: &FoldRow<Total>) -> foldwright::sqlite::rusqlite::Result<Stored> {
    let (tenant, key) = (row.key.tenant.as_str(), &*row.key.key);
    let there: Option<String> = tx
        .query_row(LOAD, (tenant, key), |row| row.get("meta"))
        .optional()?;
    let there = there.map(|meta| serde_json::from_str::<Meta>(&meta).unwrap().revision);
    if let Some(by) = there.filter(|there| *there >= row.revision) {
        return Ok(Stored::Superseded { by });
    }
    let meta = Meta {
        fold_version: row.fold_version,
        revision: row.revision,
        events: row.events,
        last_applied: row.last_applied,
        created_at: row.created_at,
        updated_at: row.updated_at,
    };
    let state = serde_json::to_string(&row.state).unwrap();
    let meta = serde_json::to_string(&meta).unwrap();
    tx.execute(STORE, (tenant, key, state, meta, &row.ledger[..]))?;
    Ok(Stored::Yes)
}

#[async_trait]
impl StateTable<Total> for ShelfTable {
    async fn load(&self, keys: &[StateKey]) -> Result<Vec<Option<FoldRow<Option<Total>>>>> {
        let keys = keys.to_vec();
        let read = self.0.sqlite.read(move |db| {
            let mut rows = Vec::with_capacity(keys.len());
            for key in keys {
                let row = db.query_row(LOAD, (key.tenant.as_str(), &*key.key), |row| {
                    let (state, meta): (String, String) = (row.get("state")?, row.get("meta")?);
                    let ledger: Vec<u8> = row.get("ledger")?;
                    let meta: Meta = serde_json::from_str(&meta).unwrap();
                    Ok(FoldRow {
                        key: key.clone(),
                        state: serde_json::from_str(&state).ok(),
                        fold_version: meta.fold_version,
                        revision: meta.revision,
                        events: meta.events,
                        last_applied: meta.last_applied,
                        created_at: meta.created_at,
                        updated_at: meta.updated_at,
                        ledger: ledger.into(),
                    })
                });
                rows.push(row.optional()?);
            }
            Ok(rows)
        });
        self.0.points.quiet(read).await
    }

    async fn store(&self, rows: Vec<FoldRow<Total>>) -> Vec<Result<Stored>> {
        let count = rows.len();
        let write = self.0.sqlite.write(move |tx| {
            let stored: foldwright::sqlite::rusqlite::Result<Vec<Stored>> =
                rows.iter().map(|row| store(tx, row)).collect();
            stored
        });
        match self.0.points.effect("table(shelf)".into(), write).await {
            Ok(stored) => stored.into_iter().map(Ok).collect(),
            Err(error) => {
                let again =
                    || foldwright::ports::Error::new(error.kind(), error.operation(), error.message());
                (0..count).map(|_| Err(again())).collect()
            }
        }
    }
}
