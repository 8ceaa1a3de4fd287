//! What the whole-system tests and benches share.
#![forbid(unsafe_code)]

mod compositions;
mod corpus;
pub mod ledger;
mod memory_use;
mod percentiles;
pub mod poison;
mod queue_load;
mod report;

pub use compositions::{Composition, Ignore, Opened};
pub use corpus::corpus_file;
pub use memory_use::resident_mib;
pub use percentiles::Times;
pub use queue_load::{Nonces, bench_route, complete, small_job, want};
pub use report::{Report, median};
