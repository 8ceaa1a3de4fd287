//! A small domain and a bench to run it on.
mod bench;
mod runs;

pub(crate) use bench::{Bench, at, finish, key, keyed_note, note, tenant};
pub(crate) use runs::*;
