//! Large bodies.
mod blob_ref;
mod blob_store;

pub use blob_ref::{BlobHash, BlobRef};
pub use blob_store::{BlobEntry, BlobStore};
