//! The event log.
mod append;
mod erase;
mod port;
mod read;
mod row;
mod scan;
mod streams;

use crate::store::Store;
use std::sync::Arc;

/// The log in one file.
pub(crate) struct SqliteLog {
    store: Arc<Store>,
}

impl SqliteLog {
    pub(crate) fn new(store: Arc<Store>) -> Self {
        Self { store }
    }
}
