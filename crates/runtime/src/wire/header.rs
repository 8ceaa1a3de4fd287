//! The part of a job that can be read without its body.
use super::WireError;
use foldwright_domain::{AggregateId, EventId, StreamKey, TenantId};
use foldwright_ports::{BlobHash, HandedJob, Route};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// The newest envelope format that this build reads, and can write.
pub(crate) const FORMAT: u8 = 1;

/// The newest format that the release before this one reads: what is written unless the composition root says that the
/// whole fleet reads a newer one.
pub(crate) const RELEASED: u8 = 1;

/// The oldest format that is still written on request. Read are all that ever were.
pub(crate) const OLDEST: u8 = 1;

const MAGIC: [u8; 2] = *b"FW";

/// Small, never compressed. Pause, accounting and dead-letter lists need nothing else.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct Header {
    /// Who handles the job.
    pub(crate) route: Arc<str>,
    /// Whose job it is.
    pub(crate) tenant: TenantId,
    /// What the body is.
    pub(crate) content: Content,
    /// What the job is about, so that a body that is gone can be rebuilt from the log.
    pub(crate) subject: Subject,
    /// W3C `traceparent` of what led here.
    pub(crate) trace_context: Option<Arc<str>>,
    /// What the body is, for people: readers go by the job itself.
    pub(crate) body: BodyInfo,
}

/// What a body is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) enum Content {
    /// A command.
    Command,
    /// An event.
    Event,
    /// An event for a subscriber; the context is the state it was decided on.
    Effect,
}

/// The aggregate, and the command's or event's id.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct Subject {
    pub(crate) aggregate_type: Arc<str>,
    pub(crate) aggregate_id: AggregateId,
    pub(crate) id: EventId,
}

/// What can be said of a body without it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct BodyInfo {
    pub(crate) raw_bytes: u64,
    /// The blob's name, where the body is a blob.
    pub(crate) blob: Option<BlobHash>,
}

impl Header {
    /// The stored form, in a format between [`OLDEST`] and [`FORMAT`]. All of them say the same of a header so far.
    pub(crate) fn encode(&self, format: u8) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        bytes.extend(super::encode(format, self));
        bytes
    }

    /// Reads a stored header of any version.
    pub(crate) fn decode(bytes: &[u8]) -> Result<Self, WireError> {
        let what = "header";
        match bytes {
            [] => Err(WireError::Missing { what }),
            [a, b, rest @ ..] if [*a, *b] == MAGIC => super::decode(what, FORMAT, rest),
            _ => Err(WireError::Foreign { what }),
        }
    }

    /// Reads the header of a job and checks that it is that job's: the tenant and route that the store keys it by
    /// are the truth, and a header that says otherwise is forged or misplaced.
    pub(crate) fn of(job: &HandedJob, tenant: &TenantId) -> Result<Self, HeaderError> {
        let header = Self::decode(&job.header)?;
        if header.tenant != *tenant {
            return Err(foldwright_domain::SecurityError::ForeignTenant { what: "job header" }.into());
        }
        if *header.route != *job.route.as_str() {
            return Err(HeaderError::OtherRoute {
                header: header.route,
                job: job.route.clone(),
            });
        }
        Ok(header)
    }

    /// The stream that the job is about.
    pub(crate) fn stream(&self) -> StreamKey {
        StreamKey {
            tenant: self.tenant.clone(),
            aggregate_type: self.subject.aggregate_type.clone(),
            id: self.subject.aggregate_id.clone(),
        }
    }
}

/// Why a job's header cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum HeaderError {
    #[error(transparent)]
    Wire(#[from] WireError),
    #[error(transparent)]
    Security(#[from] foldwright_domain::SecurityError),
    #[error("the header is of route {header}, the job of {job}: one of them is misplaced")]
    OtherRoute { header: Arc<str>, job: Route },
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// B-20
    #[test]
    fn missing_malformed_foreign_and_newer_headers_are_told_apart() {
        assert!(matches!(Header::decode(&[]), Err(WireError::Missing { .. })));
        assert!(matches!(Header::decode(b"FW"), Err(WireError::Missing { .. })));
        assert!(matches!(Header::decode(b"GQ1"), Err(WireError::Foreign { .. })));
        assert!(matches!(
            Header::decode(b"FW\x09rest"),
            Err(WireError::Newer { version: 9, .. })
        ));
        assert!(matches!(
            Header::decode(b"FW\x01\xff\xff"),
            Err(WireError::Malformed { .. })
        ));
    }

    proptest! {
        /// B-23
        #[test]
        fn any_bytes_are_an_error_and_no_panic(bytes in prop::collection::vec(any::<u8>(), 0..256)) {
            let _ = Header::decode(&bytes);
            let _ = Header::decode(&[b"FW\x01".as_slice(), &bytes].concat());
        }
    }
}
