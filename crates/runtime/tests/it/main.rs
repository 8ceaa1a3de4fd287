//! The runtime on the memory adapter, under paused time.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test stops at what it did not expect"
)]

#[cfg(test)]
mod attached;
#[cfg(test)]
mod bisection;
#[cfg(test)]
mod bodies;
#[cfg(test)]
mod bodies_gone;
#[cfg(test)]
mod checks;
#[cfg(test)]
mod command_faults;
#[cfg(test)]
mod commands;
#[cfg(test)]
mod debounce;
#[cfg(test)]
mod decider_faults;
#[cfg(test)]
mod deciders;
#[cfg(test)]
mod describe;
#[cfg(test)]
mod doubt;
#[cfg(test)]
mod fold_faults;
#[cfg(test)]
mod fold_laws;
#[cfg(test)]
mod folds;
#[cfg(test)]
mod forged;
#[cfg(test)]
mod lean;
#[cfg(test)]
mod lifecycle;
#[cfg(test)]
mod long_history;
#[cfg(test)]
mod maps;
#[cfg(test)]
mod migrations;
#[cfg(test)]
mod newer_build;
#[cfg(test)]
mod operator;
#[cfg(test)]
mod receipt_faults;
#[cfg(test)]
mod receipts;
#[cfg(test)]
mod refolds;
#[cfg(test)]
mod reorder_window;
#[cfg(test)]
mod retention;
#[cfg(test)]
mod retries;
#[cfg(test)]
mod rolling;
#[cfg(test)]
mod shutdown;
#[cfg(test)]
mod simulation;
#[cfg(test)]
mod smoke;
#[cfg(test)]
mod subscriber_faults;
#[cfg(test)]
mod subscribers;
#[cfg(test)]
mod support;
#[cfg(test)]
mod tables;
#[cfg(test)]
mod telemetry;
mod throttle;
#[cfg(test)]
mod ui;
#[cfg(test)]
mod version_keys;
#[cfg(test)]
mod versions;
#[cfg(test)]
mod wiring;
#[cfg(test)]
mod work_limits;
