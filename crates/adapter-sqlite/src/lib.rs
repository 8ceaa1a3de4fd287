//! Every port of Foldwright in one SQLite file: the embedded default.
//!
//! ```no_run
//! # async fn run() -> Result<(), foldwright_ports::Error> {
//! use foldwright_adapter_sqlite::{Sqlite, SqliteSettings};
//!
//! let sqlite = Sqlite::open("service.db", SqliteSettings::default())?;
//! let ports = sqlite.ports();
//! // … hand the ports to the kernel …
//! sqlite.close().await
//! # }
//! ```
#![forbid(unsafe_code)]

mod blobs;
mod codec;
mod connection;
#[cfg(test)]
mod effort_test;
mod error;
mod folds;
#[cfg(any(test, feature = "fuzzing"))]
#[doc(hidden)]
pub mod fuzzing;
mod log;
mod migrations;
mod names;
mod page;
mod queue;
mod reader;
mod records;
mod settings;
mod sqlite;
mod store;
mod writer;

pub use error::of_sqlite;
pub use rusqlite;
pub use settings::{SqliteSettings, Synchronous};
pub use sqlite::Sqlite;
