//! Naming a body by its content.
use foldwright_domain::TenantId;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::fmt;

/// SHA-256 of a body's raw bytes: before compression, so that the compressor does not matter.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct BlobHash(pub [u8; 32]);

impl BlobHash {
    /// The hash of raw bytes.
    #[must_use]
    pub fn of(raw: &[u8]) -> Self {
        Self(Sha256::digest(raw).into())
    }
}

impl fmt::Display for BlobHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for BlobHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

/// A body of one tenant. The tenant always comes from the job that is being read, never from stored bytes, so a
/// forged reference reads nothing foreign.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct BlobRef {
    /// Whose body.
    pub tenant: TenantId,
    /// Its content.
    pub hash: BlobHash,
}
