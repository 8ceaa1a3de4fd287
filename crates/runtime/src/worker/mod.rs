//! Taking work from the queue: lanes claim, run and settle; a keeper holds their leases, a janitor cleans up.
mod janitor;
mod keeper;
mod lane;
mod leases;
mod settings;
mod stop;
mod worker;

pub(crate) use leases::LiveLeases;
pub use settings::WorkerSettings;
pub(crate) use stop::Stop;
pub(crate) use worker::Worker;
