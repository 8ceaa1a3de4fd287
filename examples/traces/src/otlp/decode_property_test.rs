use proptest::collection::vec;
use proptest::prelude::*;
use prost::Message as _;
use serde_json::{Value, json};

use super::decode_test::as_json;
use super::wire::{self, AnyValueKind};
use super::*;

fn any_value() -> impl Strategy<Value = wire::AnyValue> {
    let scalar = prop_oneof![
        Just(None),
        any::<String>().prop_map(|text| Some(AnyValueKind::String(text))),
        any::<bool>().prop_map(|value| Some(AnyValueKind::Bool(value))),
        any::<i64>().prop_map(|number| Some(AnyValueKind::Int(number))),
        any::<f64>().prop_map(|number| Some(AnyValueKind::Double(number))),
        Just(Some(AnyValueKind::Double(f64::NAN))),
        Just(Some(AnyValueKind::Double(f64::INFINITY))),
        Just(Some(AnyValueKind::Double(f64::NEG_INFINITY))),
        vec(any::<u8>(), 0..9).prop_map(|bytes| Some(AnyValueKind::Bytes(bytes))),
    ]
    .prop_map(|kind| wire::AnyValue { kind });
    scalar.prop_recursive(3, 12, 3, |inner| {
        let array =
            vec(inner.clone(), 0..3).prop_map(|values| AnyValueKind::Array(wire::ArrayValue { values }));
        let list = vec(key_value(inner), 0..3)
            .prop_map(|values| AnyValueKind::KeyValueList(wire::KeyValueList { values }));
        prop_oneof![array, list].prop_map(|kind| wire::AnyValue { kind: Some(kind) })
    })
}

fn key_value(value: impl Strategy<Value = wire::AnyValue>) -> impl Strategy<Value = wire::KeyValue> {
    ("[a-c.]{0,2}", proptest::option::of(value)).prop_map(|(key, value)| wire::KeyValue { key, value })
}

fn attributes() -> impl Strategy<Value = Vec<wire::KeyValue>> {
    vec(key_value(any_value()), 0..4)
}

/// Mostly a valid id, sometimes a wrong one.
fn id(bytes: usize) -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![30 => vec(any::<u8>(), bytes), 1 => vec(any::<u8>(), 0..20), 1 => Just(vec![0; bytes])]
}

fn event() -> impl Strategy<Value = wire::Event> {
    (any::<u64>(), ".{0,4}", attributes()).prop_map(|(time_unix_nano, name, attributes)| wire::Event {
        time_unix_nano,
        name,
        attributes,
    })
}

fn link() -> impl Strategy<Value = wire::Link> {
    (id(16), id(8), attributes()).prop_map(|(trace_id, span_id, attributes)| wire::Link {
        trace_id,
        span_id,
        attributes,
    })
}

fn span() -> impl Strategy<Value = wire::Span> {
    let parent = prop_oneof![Just(Vec::new()), id(8)];
    let status = proptest::option::of(
        (".{0,4}", any::<i32>()).prop_map(|(message, code)| wire::Status { message, code }),
    );
    let ids = (id(16), id(8), parent);
    let plain = (".{0,6}", -1..8, any::<u64>(), any::<u64>(), status);
    (ids, plain, attributes(), vec(event(), 0..3), vec(link(), 0..2)).prop_map(
        |((trace_id, span_id, parent_span_id), plain, attributes, events, links)| {
            let (name, kind, start_time_unix_nano, end_time_unix_nano, status) = plain;
            wire::Span {
                trace_id,
                span_id,
                parent_span_id,
                name,
                kind,
                start_time_unix_nano,
                end_time_unix_nano,
                attributes,
                events,
                links,
                status,
            }
        },
    )
}

fn request() -> impl Strategy<Value = wire::ExportTraceServiceRequest> {
    let scope = vec(span(), 0..3).prop_map(|spans| wire::ScopeSpans { spans });
    let resource = proptest::option::of(attributes().prop_map(|mut attributes| {
        let name = AnyValueKind::String("shop".to_owned());
        attributes.push(wire::KeyValue {
            key: "service.name".to_owned(),
            value: Some(wire::AnyValue { kind: Some(name) }),
        });
        wire::Resource { attributes }
    }));
    let resource_spans =
        (resource, vec(scope, 0..3)).prop_map(|(resource, scope_spans)| wire::ResourceSpans {
            resource,
            scope_spans,
        });
    vec(resource_spans, 0..3).prop_map(|resource_spans| wire::ExportTraceServiceRequest { resource_spans })
}

fn list<T>(items: &[T], item: impl Fn(&T) -> Value) -> Value {
    Value::Array(items.iter().map(item).collect())
}

fn attributes_json(attributes: &[wire::KeyValue]) -> Value {
    list(
        attributes,
        |pair| json!({"key": pair.key, "value": pair.value.as_ref().map(as_json)}),
    )
}

fn event_json(event: &wire::Event) -> Value {
    json!({
        "timeUnixNano": event.time_unix_nano,
        "name": event.name,
        "attributes": attributes_json(&event.attributes),
    })
}

fn link_json(link: &wire::Link) -> Value {
    json!({
        "traceId": hex::encode(&link.trace_id),
        "spanId": hex::encode(&link.span_id),
        "attributes": attributes_json(&link.attributes),
    })
}

fn span_json(span: &wire::Span) -> Value {
    json!({
        "traceId": hex::encode(&span.trace_id),
        "spanId": hex::encode(&span.span_id),
        "parentSpanId": hex::encode(&span.parent_span_id),
        "name": span.name,
        "kind": span.kind,
        "startTimeUnixNano": span.start_time_unix_nano.to_string(),
        "endTimeUnixNano": span.end_time_unix_nano,
        "attributes": attributes_json(&span.attributes),
        "events": list(&span.events, event_json),
        "links": list(&span.links, link_json),
        "status": span.status.as_ref().map(|status| json!({"message": status.message, "code": status.code})),
    })
}

fn request_json(request: &wire::ExportTraceServiceRequest) -> Value {
    json!({"resourceSpans": list(&request.resource_spans, |resource_spans| json!({
        "resource": resource_spans.resource.as_ref().map(|resource| {
            json!({"attributes": attributes_json(&resource.attributes)})
        }),
        "scopeSpans": list(&resource_spans.scope_spans, |scope| json!({"spans": list(&scope.spans, span_json)})),
    }))})
}

/// Reads a whole file of these bytes: the test is that it ends, without a panic.
fn read_all(content: Vec<u8>) {
    if let Ok(reader) = RequestReader::new(std::io::Cursor::new(content)) {
        reader.for_each(drop);
    }
}

proptest! {
    #[test]
    fn both_encodings_of_a_request_give_the_same_spans_or_the_same_fault(request in request()) {
        let json = decode_json(request_json(&request).to_string().as_bytes());
        let protobuf = decode_protobuf(&request.encode_to_vec());
        match (json, protobuf) {
            (Ok(json), Ok(protobuf)) => {
                prop_assert_eq!(&json, &protobuf);
                let stored = serde_json::to_vec(&json).unwrap();
                prop_assert_eq!(serde_json::from_slice::<Vec<Span>>(&stored).unwrap(), json);
            }
            (
                Err(DecodeError::Span { index, source }),
                Err(DecodeError::Span { index: other_index, source: other_source }),
            ) => prop_assert_eq!((index, source), (other_index, other_source)),
            (json, protobuf) => prop_assert!(false, "{json:?}\n{protobuf:?}"),
        }
    }

    #[test]
    fn any_bytes_are_read_without_panic(bytes in vec(any::<u8>(), 0..300)) {
        let _ = decode_json(&bytes);
        let _ = decode_protobuf(&bytes);
        read_all(bytes);
    }

    #[test]
    fn damaged_requests_are_read_without_panic(
        request in request(),
        damage in vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
        cut in any::<prop::sample::Index>(),
    ) {
        for mut body in [request.encode_to_vec(), request_json(&request).to_string().into_bytes()] {
            for (place, byte) in &damage {
                if !body.is_empty() {
                    let place = place.index(body.len());
                    body[place] = *byte;
                }
            }
            body.truncate(cut.index(body.len() + 1));
            let _ = decode_json(&body);
            let _ = decode_protobuf(&body);
            let mut framed = u32::try_from(body.len()).unwrap().to_be_bytes().to_vec();
            framed.extend(&body);
            read_all(framed);
            read_all(body);
        }
    }
}
