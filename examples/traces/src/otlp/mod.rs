//! The input of the trace service: spans out of OpenTelemetry's `ExportTraceServiceRequest`.
//!
//! [`RequestReader`] reads a file of requests, [`decode_json`] and [`decode_protobuf`] read one
//! request's bytes, and [`RequestTenants`] says which tenant sent each request of a file. Both
//! encodings of one request give equal [`Span`]s.

mod decode;
mod encoding;
mod error;
mod export_answer;
mod json;
mod reader;
mod requests;
mod source;
mod span;
mod weight;
mod wire;

pub use decode::{Decoded, FaultySpan, MAX_VALUE_DEPTH, decode_json, decode_protobuf};
#[cfg(test)]
pub(crate) use decode::{MAX_SERVICE_BYTES, to_protobuf};
pub use encoding::Encoding;
pub use error::{DecodeError, OtlpError, SpanError};
pub use export_answer::{PartialSuccess, encode_failure, encode_success};
pub use reader::{MAX_REQUEST_BYTES, RequestReader};
pub use requests::{MAX_LINE_BYTES, RequestTenants, RequestsError};
pub use span::{Span, SpanEvent, SpanKind, SpanLink, StatusCode, UNKNOWN_SERVICE};

#[cfg(test)]
mod decode_property_test;
#[cfg(test)]
mod decode_test;
#[cfg(test)]
mod encoding_test;
#[cfg(test)]
mod reader_test;
#[cfg(test)]
mod requests_test;
