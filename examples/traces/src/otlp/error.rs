use std::io;
use std::path::PathBuf;

/// Why a file of requests could not be read. Print the sources too: they hold the cause.
///
/// `index` counts the requests of the file from 0.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OtlpError {
    /// The file is missing or unreadable.
    #[error("cannot open {}", path.display())]
    Open {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// The content begins like neither of the two encodings.
    #[error(
        "neither OTLP/JSON lines nor length-prefixed protobuf, plain or gzip: \
         the content begins with byte {first:#04x}"
    )]
    UnknownFormat {
        /// The first byte, after decompression.
        first: u8,
    },
    /// Reading failed. A broken or truncated gzip stream ends up here as well.
    #[error("cannot read request {index}")]
    Read {
        /// The request that was being read.
        index: usize,
        /// The cause.
        source: io::Error,
    },
    /// The file ends within a length prefix or a body.
    #[error("request {index} is cut off: {found} of {expected} bytes are there")]
    Truncated {
        /// The request that was being read.
        index: usize,
        /// How long the prefix or the body should be, in bytes.
        expected: usize,
        /// How much of it the file holds, in bytes.
        found: usize,
    },
    /// The request is over [`MAX_REQUEST_BYTES`](super::MAX_REQUEST_BYTES).
    #[error("request {index} takes {bytes} bytes or more, the limit is {limit}")]
    TooLarge {
        /// The request that was being read.
        index: usize,
        /// What its prefix claims, or how much of its line was read, in bytes.
        bytes: usize,
        /// The limit in bytes.
        limit: usize,
    },
    /// A line of JSON that says nothing of traces, so that a wrong file is not taken for an empty one.
    #[error(
        "line {line} is JSON, but no OTLP trace request: it has no \"resourceSpans\"; \
         give a file that an OTLP/JSON exporter wrote"
    )]
    NotTraces {
        /// The request.
        index: usize,
        /// Its line, counted from 1.
        line: usize,
    },
    /// The request's bytes are not a valid request.
    #[error("request {index} is not a valid OTLP trace request")]
    Decode {
        /// The request.
        index: usize,
        /// The cause.
        source: DecodeError,
    },
}

/// Why the bytes of one request give no spans. Sending the same bytes again fails again.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DecodeError {
    /// Not JSON, or not in the form of OTLP/JSON.
    #[error("malformed OTLP/JSON")]
    Json(#[from] serde_json::Error),
    /// Not protobuf, or not this message.
    #[error("malformed OTLP protobuf")]
    Protobuf(#[from] prost::DecodeError),
    /// A span breaks a rule of OTLP.
    #[error("span {index} is invalid")]
    Span {
        /// Which span of the request, counted from 0.
        index: usize,
        /// The rule.
        source: SpanError,
    },
}

/// The rule of OTLP that a span breaks.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SpanError {
    /// An id is missing, too short or too long.
    #[error("{field} must have {expected} bytes, not {found}")]
    IdLength {
        /// The field as OTLP/JSON names it.
        field: &'static str,
        /// Bytes asked for.
        expected: usize,
        /// Bytes found.
        found: usize,
    },
    /// An id is all zero, which OTLP keeps for "no id".
    #[error("{field} must not be all zero")]
    IdZero {
        /// The field as OTLP/JSON names it.
        field: &'static str,
    },
    /// The name of its service is too long.
    #[error("service.name has {bytes} bytes, at most {limit} are taken")]
    ServiceTooLong {
        /// Its length.
        bytes: usize,
        /// The longest.
        limit: usize,
    },
    /// An attribute nests arrays and lists deeper than
    /// [`MAX_VALUE_DEPTH`](super::MAX_VALUE_DEPTH).
    #[error("attribute {key:?} is nested more than {limit} deep")]
    ValueTooDeep {
        /// The attribute.
        key: String,
        /// The limit.
        limit: usize,
    },
}
