//! What the derives write, used as a service would.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "tests may stop at the first surprise"
)]

// A stand-in for the facade, so that the default path of generated code is tested as well.
extern crate self as foldwright;
mod domain {
    pub(crate) use foldwright_domain::*;
}

mod event;
mod golden;
mod lean;
mod run;
mod subset;
mod ui;
mod union;
mod upcast;
mod wide;
