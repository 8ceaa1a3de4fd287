//! A job to stage.
use crate::{BlobHash, GroupId, JobId, Route};
use bytes::Bytes;
use foldwright_domain::Position;
use std::time::Duration;

/// A job as its maker hands it over.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NewJob {
    /// Its identity.
    pub id: JobId,
    /// Who handles it.
    pub route: Route,
    /// What it is ordered with. A job with a dedup key has that key as its group's key.
    pub group: GroupId,
    /// Its canonical place. `occurred_at` becomes the score (clamped to the window of
    /// [`QueueSettings`](crate::QueueSettings)); the whole position decides which of two bodies is the later one.
    /// `None`: the score is the time of staging, and every body is later than the ones before.
    pub position: Option<Position>,
    /// How long after staging it may run at the earliest, by the store's clock. Moves when it may run, never its
    /// place in line.
    pub delay: Duration,
    /// When the same id is already waiting: whether a canonically later body replaces the one there.
    pub replace: bool,
    /// Merges this job into a waiting one of the same group.
    pub dedup: Option<Dedup>,
    /// The version of the envelope format that `header` and the bodies are written in. Workers that read only older
    /// ones do not get the job.
    pub format: u8,
    /// Readable without the body, at most [`MAX_HEADER_BYTES`](Self::MAX_HEADER_BYTES). Opaque to the store.
    pub header: Bytes,
    /// What the job is about: the command or the event.
    pub body: Body,
    /// What goes with it: the state that a subscriber was decided on, or what a command's sender wants beside it.
    pub context: Option<Context>,
}

/// What goes with a job.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Context {
    /// The state.
    pub body: Body,
    /// Names what it is the state of. Of two contexts with the same name, the one that was staged later is the newer,
    /// whatever the order of the events that the jobs are about.
    pub of: [u8; 16],
}

/// Merging of jobs. The key is the key of the job's group; jobs of two routes are never merged, even in one group.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Dedup {
    /// How long the window is.
    pub ttl: Duration,
    /// How it moves.
    pub window: MergeWindow,
    /// Whether a merged job gives what it carries. One that is canonically later gives its position, format, header,
    /// body and context; one that is not gives its context alone, and only where both contexts are of the same thing.
    pub replace: bool,
}

/// How a window of merging moves.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MergeWindow {
    /// From staging on, as long as the job waits; what is merged moves nothing.
    Fixed,
    /// What is merged starts the window and the delay anew.
    Sliding,
    /// At most one run per window. The first job runs after its own delay and opens a window of `ttl` from its staging.
    /// What comes within an open window is merged into the window's own job while that waits; where it does not, it is
    /// staged to run when the window ends or its own delay is over, whichever is later, and the window then ends one `ttl`
    /// later. The window is remembered by the group
    /// as long as it is open, also when no job waits.
    Throttled,
}

/// The bytes a job carries, or where they lie.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Body {
    /// Carried by the job.
    Inline(Bytes),
    /// In a blob store, under the tenant of the job's group. The job holds it until it is gone.
    Blob {
        /// Its name.
        hash: BlobHash,
        /// Its stored size, which counts against [`Want::max_bytes`](crate::Want::max_bytes).
        bytes: u64,
    },
}

impl Body {
    /// Its stored size.
    #[must_use]
    pub fn stored_bytes(&self) -> u64 {
        match self {
            Self::Inline(bytes) => bytes.len() as u64,
            Self::Blob { bytes, .. } => *bytes,
        }
    }

    /// The blob it lies in, if it does.
    #[must_use]
    pub fn blob(&self) -> Option<BlobHash> {
        match self {
            Self::Inline(_) => None,
            Self::Blob { hash, .. } => Some(*hash),
        }
    }
}

impl NewJob {
    /// The longest header in bytes: scripts and lists read headers whole.
    pub const MAX_HEADER_BYTES: usize = 4_096;

    /// The stored size of all it carries.
    #[must_use]
    pub fn stored_bytes(&self) -> u64 {
        self.header.len() as u64
            + self.body.stored_bytes()
            + self
                .context
                .as_ref()
                .map_or(0, |context| context.body.stored_bytes())
    }
}
