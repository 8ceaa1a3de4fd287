use std::collections::BTreeMap;

use base64::Engine as _;
use prost::Message as _;
use serde::de::Error as _;
use serde_json::{Map, Number, Value};

use super::error::{DecodeError, SpanError};
use super::json::BASE64;
use super::span::{Span, SpanEvent, SpanKind, SpanLink, StatusCode, UNKNOWN_SERVICE};
use super::wire::{self, AnyValueKind};

/// How deep arrays and key-value lists may nest in an attribute: a scalar is 0 deep, an array of
/// scalars 1. It is well below where the JSON and the protobuf reader stop by themselves, so that
/// both encodings accept the same values.
pub const MAX_VALUE_DEPTH: usize = 16;

const TRACE_ID_BYTES: usize = 16;
const SPAN_ID_BYTES: usize = 8;

/// Reads one request in OTLP/JSON. Unknown fields are ignored.
///
/// The spans come in the order of the request. Memory is bounded by the input, but a hostile
/// one (millions of empty spans) takes a few hundred bytes per byte: a server should limit bodies to a
/// few megabytes, which is far more than exporters send.
///
/// # Errors
///
/// One faulty span fails the request, as nothing else would tell its sender.
/// [`Encoding::decode`](super::Encoding::decode) sets it apart instead.
pub fn decode_json(body: &[u8]) -> Result<Vec<Span>, DecodeError> {
    decode_json_request(body)?.all()
}

pub(super) fn decode_json_request(body: &[u8]) -> Result<Decoded, DecodeError> {
    // A list would pass for a message whose first fields are left out.
    if body.trim_ascii_start().first() == Some(&b'[') {
        return Err(serde_json::Error::custom("a request is an object, not a list").into());
    }
    Ok(decode(serde_json::from_slice(body)?))
}

/// Reads one request in OTLP's protobuf encoding. Otherwise like [`decode_json`].
///
/// # Errors
///
/// As for [`decode_json`].
pub fn decode_protobuf(body: &[u8]) -> Result<Vec<Span>, DecodeError> {
    decode_protobuf_request(body)?.all()
}

pub(super) fn decode_protobuf_request(body: &[u8]) -> Result<Decoded, DecodeError> {
    Ok(decode(wire::ExportTraceServiceRequest::decode(body)?))
}

/// The same request in the other encoding.
#[cfg(test)]
pub(crate) fn to_protobuf(json: &[u8]) -> Vec<u8> {
    serde_json::from_slice::<wire::ExportTraceServiceRequest>(json)
        .unwrap()
        .encode_to_vec()
}

/// One request: its good spans and its faulty ones.
#[derive(Debug, Default, Clone, PartialEq)]
pub struct Decoded {
    /// The good ones, in the order of the request.
    pub spans: Vec<Span>,
    /// The faulty ones.
    pub faulty: Vec<FaultySpan>,
}

/// A span that breaks a rule of OTLP.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FaultySpan {
    /// Which span of the request, counted from 0.
    pub index: usize,
    /// Its trace id as it came, in hex.
    pub trace_id: String,
    /// Its span id as it came, in hex.
    pub span_id: String,
    /// The rule.
    pub error: SpanError,
}

impl Decoded {
    /// All spans, or the first fault.
    pub(super) fn all(self) -> Result<Vec<Span>, DecodeError> {
        match self.faulty.into_iter().next() {
            None => Ok(self.spans),
            Some(FaultySpan { index, error, .. }) => Err(DecodeError::Span { index, source: error }),
        }
    }
}

fn decode(request: wire::ExportTraceServiceRequest) -> Decoded {
    let mut decoded = Decoded::default();
    for resource_spans in request.resource_spans {
        let service = service_name(resource_spans.resource);
        for raw in resource_spans
            .scope_spans
            .into_iter()
            .flat_map(|scope| scope.spans)
        {
            let index = decoded.spans.len() + decoded.faulty.len();
            let ids = [&raw.trace_id, &raw.span_id].map(|id| id_as_it_came(id));
            match span(raw, &service) {
                Ok(span) => decoded.spans.push(span),
                Err(error) => {
                    let [trace_id, span_id] = ids;
                    decoded.faulty.push(FaultySpan {
                        index,
                        trace_id,
                        span_id,
                        error,
                    });
                }
            }
        }
    }
    decoded
}

/// At most a few bytes more than an id has: a faulty one may be any length.
fn id_as_it_came(id: &[u8]) -> String {
    hex::encode(id.get(..=TRACE_ID_BYTES).unwrap_or(id))
}

fn service_name(resource: Option<wire::Resource>) -> String {
    resource
        .into_iter()
        .flat_map(|resource| resource.attributes)
        .find(|attribute| attribute.key == "service.name")
        .and_then(|attribute| match attribute.value?.kind? {
            AnyValueKind::String(name) if !name.is_empty() => Some(name),
            _ => None,
        })
        .unwrap_or_else(|| UNKNOWN_SERVICE.to_owned())
}

/// The longest name of a service in bytes: each span keeps it, so a long one would be paid for many times over.
///
/// The weight of a body allows for this much with every span: a longer one needs a heavier span there.
pub(crate) const MAX_SERVICE_BYTES: usize = 256;

fn span(raw: wire::Span, service: &str) -> Result<Span, SpanError> {
    if service.len() > MAX_SERVICE_BYTES {
        return Err(SpanError::ServiceTooLong {
            bytes: service.len(),
            limit: MAX_SERVICE_BYTES,
        });
    }
    let parent_span_id = match raw.parent_span_id.as_slice() {
        [] => None,
        id => Some(hex_id(id, SPAN_ID_BYTES, "parentSpanId")?),
    };
    let status = raw.status.unwrap_or_default();
    Ok(Span {
        trace_id: hex_id(&raw.trace_id, TRACE_ID_BYTES, "traceId")?,
        span_id: hex_id(&raw.span_id, SPAN_ID_BYTES, "spanId")?,
        parent_span_id,
        service: service.to_owned(),
        name: raw.name,
        kind: span_kind(raw.kind),
        start_ns: raw.start_time_unix_nano,
        end_ns: raw.end_time_unix_nano,
        status_code: status_code(status.code),
        status_message: status.message,
        attributes: attributes(raw.attributes)?,
        events: raw.events.into_iter().map(event).collect::<Result<_, _>>()?,
        links: raw.links.into_iter().map(link).collect::<Result<_, _>>()?,
    })
}

fn event(raw: wire::Event) -> Result<SpanEvent, SpanError> {
    Ok(SpanEvent {
        time_ns: raw.time_unix_nano,
        name: raw.name,
        attributes: attributes(raw.attributes)?,
    })
}

fn link(raw: wire::Link) -> Result<SpanLink, SpanError> {
    Ok(SpanLink {
        trace_id: hex_id(&raw.trace_id, TRACE_ID_BYTES, "links.traceId")?,
        span_id: hex_id(&raw.span_id, SPAN_ID_BYTES, "links.spanId")?,
        attributes: attributes(raw.attributes)?,
    })
}

fn hex_id(id: &[u8], expected: usize, field: &'static str) -> Result<String, SpanError> {
    if id.len() != expected {
        return Err(SpanError::IdLength {
            field,
            expected,
            found: id.len(),
        });
    }
    if id.iter().all(|byte| *byte == 0) {
        return Err(SpanError::IdZero { field });
    }
    Ok(hex::encode(id))
}

fn span_kind(number: i32) -> SpanKind {
    match number {
        1 => SpanKind::Internal,
        2 => SpanKind::Server,
        3 => SpanKind::Client,
        4 => SpanKind::Producer,
        5 => SpanKind::Consumer,
        _ => SpanKind::Unspecified,
    }
}

fn status_code(number: i32) -> StatusCode {
    match number {
        1 => StatusCode::Ok,
        2 => StatusCode::Error,
        _ => StatusCode::Unset,
    }
}

fn attributes(raw: Vec<wire::KeyValue>) -> Result<BTreeMap<String, Value>, SpanError> {
    let mut attributes = BTreeMap::new();
    for wire::KeyValue { key, value: raw } in raw {
        let Some(value) = value(raw, MAX_VALUE_DEPTH) else {
            return Err(SpanError::ValueTooDeep {
                key,
                limit: MAX_VALUE_DEPTH,
            });
        };
        attributes.insert(key, value);
    }
    Ok(attributes)
}

/// The value as JSON, or `None` where it nests more than `depth` deep.
fn value(raw: Option<wire::AnyValue>, depth: usize) -> Option<Value> {
    let Some(kind) = raw.and_then(|value| value.kind) else {
        return Some(Value::Null);
    };
    Some(match kind {
        AnyValueKind::String(text) => Value::String(text),
        AnyValueKind::Bool(value) => Value::Bool(value),
        AnyValueKind::Int(number) => Value::from(number),
        AnyValueKind::Double(number) => double(number),
        AnyValueKind::Bytes(bytes) => Value::String(BASE64.encode(bytes)),
        AnyValueKind::Array(array) => {
            let inner = depth.checked_sub(1)?;
            let values = array.values.into_iter().map(|raw| value(Some(raw), inner));
            Value::Array(values.collect::<Option<_>>()?)
        }
        AnyValueKind::KeyValueList(list) => {
            let inner = depth.checked_sub(1)?;
            let pairs = list
                .values
                .into_iter()
                .map(|pair| Some((pair.key, value(pair.value, inner)?)));
            Value::Object(pairs.collect::<Option<Map<_, _>>>()?)
        }
    })
}

fn double(number: f64) -> Value {
    match Number::from_f64(number) {
        Some(number) => Value::Number(number),
        None if number.is_nan() => Value::from("NaN"),
        None if number > 0.0 => Value::from("Infinity"),
        None => Value::from("-Infinity"),
    }
}
