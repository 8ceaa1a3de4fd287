//! Laws that every fold keeps, tried on random histories.
//!
//! Each law is a function that a test calls; [`fold_laws!`](crate::fold_laws) makes one test of each.
mod cases;
mod delivery;
mod history;
mod law;
mod macros;

pub use law::{Law, broken_by, holds};
