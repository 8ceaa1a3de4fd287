//! `traces serve`: spans over OTLP/HTTP in, projections as JSON out.
//!
//! ```text
//!  accept ─► connection ─► routes ─┬─► receive ─► body ─► decode ─► intake ─► kernel
//!     │          │                 ├─► read ────────────────────────────────► reader
//!     │ bounded  │ timeouts        └─► probes: health, readiness, metrics
//! ```
//!
//! An answer of 200 comes after every accepted span is durable in the queue. Nothing waits in a line of its own: what
//! finds no room is told to come back.
mod answer;
mod body;
mod budget;
mod connection;
mod cursor;
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) mod fuzzing;
mod probes;
mod read;
mod receive;
mod refusal;
mod routes;
mod server;
mod settings;
mod state;
pub mod telemetry;
mod write_timeout;

pub use server::{Server, Stopped};
pub use settings::Settings;
