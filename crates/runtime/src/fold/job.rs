//! What a fold gets of a job.
use bytes::Bytes;
use foldwright_domain::Recorded;

/// A job that brings an event.
pub(crate) struct Job<E> {
    /// Its place in the lease.
    pub(crate) index: usize,
    pub(crate) event: Recorded<E>,
    /// The event in its stored form, for jobs that follow.
    pub(crate) stored: Bytes,
}
