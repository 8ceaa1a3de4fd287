use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The service of a span whose resource names none.
pub const UNKNOWN_SERVICE: &str = "unknown_service";

/// One finished operation of a trace, as its service reported it.
///
/// Resource attributes other than `service.name`, the instrumentation scope, `traceState`, flags
/// and dropped counts are not kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Span {
    /// 32 lower-case hex digits, not all zero.
    pub trace_id: String,
    /// 16 lower-case hex digits, not all zero.
    pub span_id: String,
    /// 16 lower-case hex digits; `None` for the root of a trace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_span_id: Option<String>,
    /// The resource's `service.name`, or [`UNKNOWN_SERVICE`].
    pub service: String,
    /// What the operation is called.
    pub name: String,
    /// Which side of a call the operation is.
    pub kind: SpanKind,
    /// Start, in nanoseconds since the Unix epoch.
    pub start_ns: u64,
    /// End, in nanoseconds since the Unix epoch. Nothing makes a sender put it after the start.
    pub end_ns: u64,
    /// How the operation ended.
    pub status_code: StatusCode,
    /// What the sender says about the status, often empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub status_message: String,
    /// What describes the operation. Where a key is repeated, the last value counts.
    ///
    /// Integers and doubles stay apart. JSON has no word for doubles that are not finite (here
    /// the strings `"NaN"`, `"Infinity"`, `"-Infinity"`) nor for bytes (here base64 text).
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub attributes: BTreeMap<String, Value>,
    /// What happened while it ran, in the order the sender gave.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub events: Vec<SpanEvent>,
    /// Spans it belongs to besides its parent.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub links: Vec<SpanLink>,
}

impl Span {
    /// Whether the operation failed.
    pub fn is_error(&self) -> bool {
        self.status_code == StatusCode::Error
    }

    /// Whether the span is the root of its trace.
    pub fn is_root(&self) -> bool {
        self.parent_span_id.is_none()
    }
}

/// A moment within a span, such as an exception.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SpanEvent {
    /// Nanoseconds since the Unix epoch.
    pub time_ns: u64,
    /// What happened.
    pub name: String,
    /// What describes it; values as in [`Span::attributes`].
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub attributes: BTreeMap<String, Value>,
}

/// Another span that a span belongs to, in the same trace or in another one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SpanLink {
    /// 32 lower-case hex digits, not all zero.
    pub trace_id: String,
    /// 16 lower-case hex digits, not all zero.
    pub span_id: String,
    /// What describes the link; values as in [`Span::attributes`].
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub attributes: BTreeMap<String, Value>,
}

/// Which side of a call an operation is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SpanKind {
    /// The sender did not say, or used a number this version does not know.
    Unspecified,
    /// Work inside a service.
    Internal,
    /// Answers a call.
    Server,
    /// Makes a call.
    Client,
    /// Hands a message over for later.
    Producer,
    /// Takes up such a message.
    Consumer,
}

/// How an operation ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StatusCode {
    /// The sender did not say, or used a number this version does not know.
    Unset,
    /// Marked as good on purpose; most good operations stay unset.
    Ok,
    /// Failed.
    Error,
}
