//! What holds of every decoder whatever bytes it is given: each function panics where it does not. The fuzz targets call
//! them with bytes that nobody thought of, the plain tests with the corpus. No part of the API.
#[cfg(test)]
mod corpus_test;
mod names;
mod telemetry;
mod upcast;
mod wire;

pub use names::names;
pub use telemetry::{receipt_key, trace_parent};
pub use upcast::upcast;
pub use wire::{answer, base, body, command, event, header, ledger, wish};
