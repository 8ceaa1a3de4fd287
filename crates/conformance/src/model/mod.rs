//! A plain model of the group queue: everything in ordered maps, nothing fast, no adapter's code.
//!
//! Where the contract leaves a choice (which groups a claim takes, how far a wait is spread, what becomes of a lease
//! that has lapsed and is not reaped), the model checks that the adapter's choice is a legal one and adopts it. All
//! other answers must be its own.
mod admin;
mod bodies;
mod claim;
mod compare;
mod holds;
mod pauses;
mod run;
mod settle;
mod stage;
mod state;
mod steps;
mod tenants;
mod throttle;
mod trace;
mod views;

pub(crate) use run::SideBySide;
pub(crate) use state::{Ensure, Model, Recall, ensure};
pub(crate) use steps::{BODIES, Step, groups, limits, scopes};
