//! Taking work from the queue: lanes claim, run and settle; keepers hold their leases and say that the worker lives; a
//! janitor cleans up.
mod bisection;
mod body_budget;
mod checker;
mod janitor;
mod keeper;
mod lane;
mod lane_runs;
mod lease_parts;
mod leases;
mod liveness;
mod route_run;
mod settings;
mod settler;
mod slow_runs;
mod split_run;
mod stop;
mod worker;

pub(crate) use leases::LiveLeases;
pub use settings::WorkerSettings;
pub(crate) use stop::Stop;
pub(crate) use worker::Worker;
