//! The event log.
mod append;
mod erase;
#[cfg(any(test, feature = "fuzzing"))]
mod fuzzing;
mod port;
mod read;
mod row;
mod scan;
mod streams;

#[cfg(any(test, feature = "fuzzing"))]
pub(crate) use fuzzing::event as fuzzing;

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
