//! What the whole-system tests and benches share.
#![forbid(unsafe_code)]

mod compositions;
mod corpus;
mod report;

pub use compositions::{Composition, Ignore, Opened};
pub use corpus::corpus_file;
pub use report::{Report, median};
