//! Names that are stored once.
use crate::error::{Fault, Outcome};
use foldwright_domain::TenantId;
use foldwright_ports::Route;
use rusqlite::{Connection, OptionalExtension};
use std::{collections::HashMap, sync::Arc};

/// More names than this are not kept in memory at once; the table holds any number.
const KEPT: usize = 65_536;

/// The numbers of names, as far as this connection has met them. The table only grows, so what was found stays right
/// whatever other processes do; what was not found is asked for again.
#[derive(Default)]
pub(crate) struct Names {
    numbers: HashMap<Arc<str>, i64>,
    texts: HashMap<i64, Arc<str>>,
    routes: HashMap<i64, Route>,
}

impl Names {
    /// The number of a name, which is added where it is missing.
    pub(crate) fn number(&mut self, db: &Connection, text: &str) -> Outcome<i64> {
        if let Some(number) = self.find(db, text)? {
            return Ok(number);
        }
        db.prepare_cached("INSERT INTO fw_names (text) VALUES (?1)")?
            .execute([text])?;
        let number = db.last_insert_rowid();
        self.keep(number, text.into());
        Ok(number)
    }

    /// The number of a name, if it has one.
    pub(crate) fn find(&mut self, db: &Connection, text: &str) -> Outcome<Option<i64>> {
        if let Some(number) = self.numbers.get(text) {
            return Ok(Some(*number));
        }
        let found = db
            .prepare_cached("SELECT id FROM fw_names WHERE text = ?1")?
            .query_row([text], |row| row.get(0))
            .optional()?;
        if let Some(number) = found {
            self.keep(number, text.into());
        }
        Ok(found)
    }

    /// The name behind a number.
    pub(crate) fn text(&mut self, db: &Connection, number: i64) -> Outcome<Arc<str>> {
        if let Some(text) = self.texts.get(&number) {
            return Ok(text.clone());
        }
        let text: Arc<str> = db
            .prepare_cached("SELECT text FROM fw_names WHERE id = ?1")?
            .query_row([number], |row| row.get(0))
            .optional()?
            .ok_or_else(|| Fault::corrupt(format!("name {number} is missing")))?;
        self.keep(number, text.clone());
        Ok(text)
    }

    pub(crate) fn tenant(&mut self, db: &Connection, number: i64) -> Outcome<TenantId> {
        let text = self.text(db, number)?;
        TenantId::parse(text).map_err(|error| Fault::corrupt(error.to_string()))
    }

    pub(crate) fn route(&mut self, db: &Connection, number: i64) -> Outcome<Route> {
        if let Some(route) = self.routes.get(&number) {
            return Ok(route.clone());
        }
        let text = self.text(db, number)?;
        let route = Route::parse(text).map_err(|error| Fault::corrupt(error.to_string()))?;
        self.routes.insert(number, route.clone());
        Ok(route)
    }

    /// Forgets all, because a rollback may have taken back a name that was added.
    pub(crate) fn forget(&mut self) {
        *self = Self::default();
    }

    fn keep(&mut self, number: i64, text: Arc<str>) {
        if self.texts.len() >= KEPT {
            self.forget();
        }
        self.texts.insert(number, text.clone());
        self.numbers.insert(text, number);
    }
}
