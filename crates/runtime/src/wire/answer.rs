//! What a command's sender can read back.
use super::WireError;
use bytes::Bytes;
use serde::{Deserialize, Serialize};

const VERSION: u8 = 1;

/// The answer of a command that led to no event.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) enum CommandAnswer {
    /// Its handler refused it.
    Rejected { code: String, message: String },
}

impl CommandAnswer {
    /// The stored form.
    pub(crate) fn encode(&self) -> Bytes {
        super::encode(VERSION, self).into()
    }

    /// Reads a stored answer of any version.
    pub(crate) fn decode(bytes: &[u8]) -> Result<Self, WireError> {
        super::decode("answer", VERSION, bytes)
    }
}
