//! What holds of whatever bytes a client or a file hands in: each function panics where it does not. Used by the fuzz
//! targets and by a plain test. No part of the API.
use crate::{
    otlp::{Decoded, Encoding, FaultySpan, OtlpError, RequestReader, RequestTenants, RequestsError, Span},
    serve,
    span_recorded::TraceEvent,
};
use flate2::{Compression, write::GzEncoder};
use foldwright::domain::{Event as _, EventSet as _};
use serde_json::Value;
use std::{collections::BTreeMap, io::Cursor, io::Write as _};

/// A request in OTLP/JSON.
pub fn otlp_json(bytes: &[u8]) {
    request(Encoding::Json, bytes);
}

/// A request in protobuf.
pub fn otlp_protobuf(bytes: &[u8]) {
    request(Encoding::Protobuf, bytes);
}

/// The spans follow the rules, come back from the form in which they are stored, and take no more memory than the body
/// was weighed at.
fn request(encoding: Encoding, bytes: &[u8]) {
    let weight = encoding.weigh(bytes);
    let Ok(decoded) = encoding.decode(bytes) else {
        return;
    };
    let held = held(&decoded);
    assert!(held <= weight, "{held} bytes are held, {weight} were asked for");
    for span in decoded.spans {
        let digits = |id: &str, count| id.len() == count && id.bytes().all(|b| b.is_ascii_hexdigit());
        assert!(digits(&span.trace_id, 32) && digits(&span.span_id, 16));
        stored(&TraceEvent::SpanRecorded(span));
    }
}

/// An event comes back from its data.
fn stored(event: &TraceEvent) {
    let version = event.descriptor();
    let TraceEvent::SpanRecorded(span) = event;
    let read = event
        .encode()
        .map(|data| TraceEvent::decode(version.event_type, version.version, &data));
    match read {
        Ok(Ok(TraceEvent::SpanRecorded(again))) => assert_eq!(again, *span),
        Ok(Err(error)) => panic!("{error}"),
        Err(error) => panic!("{error}"),
    }
}

/// Memory of what was decoded, without what an allocator adds.
fn held(decoded: &Decoded) -> usize {
    let spans: usize = decoded.spans.iter().map(span_held).sum();
    let faulty = decoded
        .faulty
        .iter()
        .map(|span| size_of::<FaultySpan>() + span.trace_id.len() + span.span_id.len());
    spans + faulty.sum::<usize>()
}

fn span_held(span: &Span) -> usize {
    let texts = [
        &span.trace_id,
        &span.span_id,
        &span.service,
        &span.name,
        &span.status_message,
    ];
    let texts: usize = texts.iter().map(|text| text.len()).sum();
    let events = span.events.iter();
    let events: usize = events
        .map(|e| size_of_val(e) + e.name.len() + attributes_held(&e.attributes))
        .sum();
    let links = span.links.iter();
    let links: usize = links
        .map(|l| size_of_val(l) + l.trace_id.len() + l.span_id.len() + attributes_held(&l.attributes))
        .sum();
    size_of::<Span>() + texts + events + links + attributes_held(&span.attributes)
}

fn attributes_held(attributes: &BTreeMap<String, Value>) -> usize {
    let pairs = attributes.iter();
    pairs
        .map(|(key, value)| size_of_val(key) + key.len() + size_of_val(value) + value_held(value))
        .sum()
}

fn value_held(value: &Value) -> usize {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
        Value::String(text) => text.len(),
        Value::Array(values) => values
            .iter()
            .map(|value| size_of_val(value) + value_held(value))
            .sum(),
        Value::Object(pairs) => {
            let pairs = pairs.iter();
            pairs
                .map(|(key, value)| size_of_val(key) + key.len() + size_of_val(value) + value_held(value))
                .sum()
        }
    }
}

/// The data of a stored span.
pub fn stored_span(bytes: &[u8]) {
    for version in TraceEvent::CATALOG.iter().copied().flatten() {
        if let Ok(event) = TraceEvent::decode(version.event_type, version.version, bytes) {
            stored(&event);
        }
    }
    assert!(TraceEvent::decode("otlp.tracing.trace.span_recorded", "2999-01-01", bytes).is_err());
}

/// A file of requests, and the same file compressed: the same requests, faults and end.
pub fn otlp_file(bytes: &[u8]) {
    let requests = requests_of(bytes.to_vec());
    if bytes.starts_with(&[0x1f, 0x8b]) || bytes.is_empty() {
        return;
    }
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    if let Ok(packed) = packed.write_all(bytes).and_then(|()| packed.finish()) {
        assert_eq!(requests_of(packed), requests, "compressed it is another file");
    }
}

/// What each request is: the number of its spans, or its fault.
fn requests_of(content: Vec<u8>) -> Result<Vec<Result<usize, String>>, String> {
    let open = || RequestReader::new(Cursor::new(content.clone())).map_err(|error| error.to_string());
    let mut requests = Vec::new();
    let mut whole = true;
    for request in open()? {
        assert!(whole, "a request behind a fault that ends the file");
        whole = matches!(
            request,
            Ok(_) | Err(OtlpError::Decode { .. } | OtlpError::NotTraces { .. })
        );
        requests.push(
            request
                .map(|spans| spans.len())
                .map_err(|error| error.to_string()),
        );
    }
    let count = open()?.count_requests();
    assert_eq!(
        count.ok(),
        whole.then_some(requests.len()),
        "counted otherwise than read"
    );
    Ok(requests)
}

/// A file that names the tenant of each request.
pub fn otlp_tenants(bytes: &[u8]) {
    let open = || match RequestTenants::new(Cursor::new(bytes.to_vec())) {
        Ok(tenants) => tenants,
        Err(error) => panic!("memory does not fail: {error}"),
    };
    let mut tenants = open();
    let mut told = 0;
    let end = loop {
        match tenants.next_tenant() {
            Ok(_) => told += 1,
            Err(error) => break error,
        }
    };
    match open().count_requests(|_, _| Ok::<_, RequestsError>(())) {
        Ok(count) => {
            assert!(count == told && matches!(end, RequestsError::TooFewLines { lines } if lines == told));
        }
        Err(error) => assert_eq!(error.to_string(), end.to_string()),
    }
}

/// The body of a request that says it is compressed, and a cursor out of an address.
pub fn http(bytes: &[u8]) {
    serve::fuzzing::compressed(bytes);
    if let Ok(text) = std::str::from_utf8(bytes) {
        serve::fuzzing::cursor(text);
    }
}

#[cfg(test)]
mod corpus_test;
