//! What a sender wants beside the command.
use super::WireError;
use bytes::Bytes;
use foldwright_ports::{Body, Context, HandedJob};
use serde::{Deserialize, Serialize};

const VERSION: u8 = 1;

/// Travels as the context of the command's job and not in its header or body, so that a build that does not know it runs
/// the command all the same; the sender then has to find the events in the log.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Wish {
    /// Whether the answer is to be kept whatever it is.
    pub(crate) answer: bool,
}

impl Wish {
    /// The stored form.
    pub(crate) fn encode(self) -> Bytes {
        super::encode(VERSION, &self).into()
    }

    /// Reads a stored wish of any version.
    pub(crate) fn decode(bytes: &[u8]) -> Result<Self, WireError> {
        super::decode("wish", VERSION, bytes)
    }

    /// What goes with a job; nothing where nothing is wanted.
    pub(crate) fn context(self) -> Option<Context> {
        (self != Self::default()).then(|| Context {
            body: Body::Inline(self.encode()),
            of: [0; 16],
        })
    }

    /// The wish of a job. One that cannot be read is none: no command fails for it.
    pub(crate) fn of(job: &HandedJob) -> Self {
        match &job.context {
            Some(Body::Inline(bytes)) => Self::decode(bytes).unwrap_or_default(),
            _ => Self::default(),
        }
    }
}
