use prost::Message as _;
use serde_json::{Value, json};

use super::wire::{self, AnyValueKind};
use super::*;

const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";
const SPAN: &str = "b7ad6b7169203331";

/// A request with one span, `fields` on top of its two ids.
fn request(fields: Value) -> Vec<u8> {
    let mut span = json!({"traceId": TRACE, "spanId": SPAN});
    span.as_object_mut()
        .unwrap()
        .extend(fields.as_object().unwrap().clone());
    json!({"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]})
        .to_string()
        .into_bytes()
}

fn only_span(body: &[u8]) -> Span {
    let mut spans = decode_json(body).unwrap();
    assert_eq!(spans.len(), 1);
    spans.remove(0)
}

fn attribute(value: Value) -> Result<Value, DecodeError> {
    let body = request(json!({"attributes": [{"key": "a", "value": value}]}));
    Ok(decode_json(&body)?.remove(0).attributes.remove("a").unwrap())
}

fn span_error(body: &[u8]) -> SpanError {
    match decode_json(body).unwrap_err() {
        DecodeError::Span { index: 0, source } => source,
        other => panic!("unexpected error {other:?}"),
    }
}

fn is_malformed(body: &[u8]) -> bool {
    matches!(decode_json(body), Err(DecodeError::Json(_)))
}

#[test]
fn a_span_with_nothing_but_ids_has_defaults() {
    let span = only_span(&request(json!({})));
    assert_eq!(span.trace_id, TRACE);
    assert_eq!(span.span_id, SPAN);
    assert_eq!(span.service, UNKNOWN_SERVICE);
    assert_eq!(span.kind, SpanKind::Unspecified);
    assert_eq!(span.status_code, StatusCode::Unset);
    assert_eq!((span.start_ns, span.end_ns), (0, 0));
    assert!(span.is_root() && !span.is_error());
    assert!(span.attributes.is_empty() && span.events.is_empty() && span.links.is_empty());
}

#[test]
fn every_field_is_read_and_unknown_ones_are_ignored() {
    let body = json!({"resourceSpans": [{
        "resource": {"attributes": [{"key": "service.name", "value": {"stringValue": "shop"}}], "new": [1]},
        "scopeSpans": [{"scope": {"name": "x"}, "schemaUrl": "", "spans": [{
            "traceId": TRACE.to_uppercase(), "spanId": SPAN, "parentSpanId": "00000000000000ff",
            "flags": 257, "traceState": "a=b", "name": "GET /", "kind": 2,
            "startTimeUnixNano": "18446744073709551615", "endTimeUnixNano": 7,
            "attributes": [{"key": "n", "value": {"intValue": "1"}}, {"key": "n", "value": {"intValue": "2"}}],
            "events": [{"timeUnixNano": "5", "name": "e", "attributes": [{"key": "k", "value": {"boolValue": true}}]}],
            "links": [{"traceId": TRACE, "spanId": SPAN, "flags": 1}],
            "status": {"message": "no", "code": 2},
        }]}],
    }], "other": {"deep": [[[null]]]}});
    let span = only_span(body.to_string().as_bytes());
    assert_eq!(
        span,
        Span {
            trace_id: TRACE.to_owned(),
            span_id: SPAN.to_owned(),
            parent_span_id: Some("00000000000000ff".to_owned()),
            service: "shop".to_owned(),
            name: "GET /".to_owned(),
            kind: SpanKind::Server,
            start_ns: u64::MAX,
            end_ns: 7,
            status_code: StatusCode::Error,
            status_message: "no".to_owned(),
            attributes: [("n".to_owned(), json!(2))].into(),
            events: vec![SpanEvent {
                time_ns: 5,
                name: "e".to_owned(),
                attributes: [("k".to_owned(), json!(true))].into(),
            }],
            links: vec![SpanLink {
                trace_id: TRACE.to_owned(),
                span_id: SPAN.to_owned(),
                attributes: [].into(),
            }],
        }
    );
    assert!(span.is_error() && !span.is_root());
}

#[test]
fn null_means_the_default_everywhere() {
    let span = only_span(&request(json!({
        "parentSpanId": null, "name": null, "kind": null, "startTimeUnixNano": null, "endTimeUnixNano": null,
        "attributes": null, "events": null, "links": null, "status": null,
    })));
    assert_eq!(span, only_span(&request(json!({}))));
    assert!(decode_json(br#"{"resourceSpans": null}"#).unwrap().is_empty());
    assert!(
        decode_json(br#"{"resourceSpans": [{"resource": null, "scopeSpans": null}]}"#)
            .unwrap()
            .is_empty()
    );
    assert_eq!(attribute(json!(null)).unwrap(), json!(null));
    assert_eq!(
        attribute(json!({"stringValue": null, "intValue": "3"})).unwrap(),
        json!(3)
    );
}

#[test]
fn an_empty_parent_is_no_parent() {
    assert!(only_span(&request(json!({"parentSpanId": ""}))).is_root());
}

#[test]
fn enums_are_numbers_or_names() {
    let kinds = [
        (1, "SPAN_KIND_INTERNAL", SpanKind::Internal),
        (2, "SPAN_KIND_SERVER", SpanKind::Server),
        (3, "SPAN_KIND_CLIENT", SpanKind::Client),
        (4, "SPAN_KIND_PRODUCER", SpanKind::Producer),
        (5, "SPAN_KIND_CONSUMER", SpanKind::Consumer),
    ];
    for (number, name, kind) in kinds {
        assert_eq!(only_span(&request(json!({"kind": number}))).kind, kind);
        assert_eq!(only_span(&request(json!({"kind": name}))).kind, kind);
    }
    let codes = [
        (0, "STATUS_CODE_UNSET", StatusCode::Unset),
        (1, "STATUS_CODE_OK", StatusCode::Ok),
        (2, "STATUS_CODE_ERROR", StatusCode::Error),
    ];
    for (number, name, code) in codes {
        assert_eq!(
            only_span(&request(json!({"status": {"code": number}}))).status_code,
            code
        );
        assert_eq!(
            only_span(&request(json!({"status": {"code": name}}))).status_code,
            code
        );
    }
    assert_eq!(
        only_span(&request(json!({"kind": 99}))).kind,
        SpanKind::Unspecified
    );
    assert!(is_malformed(&request(json!({"kind": "SPAN_KIND_OTHER"}))));
    assert!(is_malformed(&request(json!({"kind": 5_000_000_000_u64}))));
}

#[test]
fn values_keep_their_type() {
    let same = [
        (json!({"stringValue": "a\"é"}), json!("a\"é")),
        (json!({"boolValue": false}), json!(false)),
        (json!({"intValue": "-9223372036854775808"}), json!(i64::MIN)),
        (json!({"intValue": 42}), json!(42)),
        (json!({"doubleValue": 0.1}), json!(0.1)),
        (json!({"doubleValue": 3}), json!(3.0)),
        (json!({"doubleValue": "NaN"}), json!("NaN")),
        (json!({"doubleValue": "Infinity"}), json!("Infinity")),
        (json!({"doubleValue": "-Infinity"}), json!("-Infinity")),
        (json!({"bytesValue": "AP8"}), json!("AP8=")),
        (
            json!({"arrayValue": {"values": [{"intValue": 1}, {}]}}),
            json!([1, null]),
        ),
        (json!({"arrayValue": {}}), json!([])),
        (
            json!({"kvlistValue": {"values": [{"key": "k", "value": {"intValue": 1}}]}}),
            json!({"k": 1}),
        ),
        (json!({"newValue": {"x": []}}), json!(null)),
    ];
    for (raw, read) in same {
        assert_eq!(attribute(raw).unwrap(), read);
    }
}

#[test]
fn values_of_the_wrong_type_are_refused() {
    let wrong = [
        json!({"intValue": "9223372036854775808"}),
        json!({"intValue": 1.5}),
        json!({"intValue": true}),
        json!({"intValue": []}),
        json!({"doubleValue": "much"}),
        json!({"boolValue": 1}),
        json!({"stringValue": 1}),
        json!({"bytesValue": "?"}),
        json!("bare"),
    ];
    for raw in wrong {
        assert!(attribute(raw.clone()).is_err(), "{raw}");
    }
    assert!(is_malformed(&request(json!({"startTimeUnixNano": "-1"}))));
    assert!(is_malformed(&request(json!({"startTimeUnixNano": -1}))));
}

#[test]
fn faulty_ids_name_the_span_and_the_field() {
    let length = |field, expected, found| SpanError::IdLength {
        field,
        expected,
        found,
    };
    assert_eq!(
        span_error(&request(json!({"traceId": ""}))),
        length("traceId", 16, 0)
    );
    assert_eq!(
        span_error(&request(json!({"traceId": SPAN}))),
        length("traceId", 16, 8)
    );
    assert_eq!(
        span_error(&request(json!({"spanId": TRACE}))),
        length("spanId", 8, 16)
    );
    assert_eq!(
        span_error(&request(json!({"parentSpanId": "ff"}))),
        length("parentSpanId", 8, 1)
    );
    let zero = |field| SpanError::IdZero { field };
    assert_eq!(
        span_error(&request(json!({"traceId": "0".repeat(32)}))),
        zero("traceId")
    );
    assert_eq!(
        span_error(&request(json!({"spanId": "0".repeat(16)}))),
        zero("spanId")
    );
    assert_eq!(
        span_error(&request(json!({"parentSpanId": "0".repeat(16)}))),
        zero("parentSpanId")
    );
    let link = json!({"links": [{"traceId": TRACE, "spanId": ""}]});
    assert_eq!(span_error(&request(link)), length("links.spanId", 8, 0));
    assert!(is_malformed(&request(json!({"traceId": "xyz"}))));
    assert!(is_malformed(&request(json!({"traceId": 5}))));

    let good = json!({"traceId": TRACE, "spanId": SPAN});
    let body = json!({"resourceSpans": [
        {"scopeSpans": [{"spans": [good, good]}, {"spans": [good]}]},
        {"scopeSpans": [{"spans": [good, {"traceId": TRACE}]}]},
    ]});
    let error = decode_json(body.to_string().as_bytes()).unwrap_err();
    assert!(matches!(error, DecodeError::Span { index: 4, .. }), "{error:?}");
}

#[test]
fn a_service_without_a_usable_name_is_unknown() {
    for value in [
        json!({"stringValue": ""}),
        json!({"intValue": 1}),
        json!({}),
        json!(null),
    ] {
        let body = json!({"resourceSpans": [{
            "resource": {"attributes": [{"key": "service.name", "value": value}]},
            "scopeSpans": [{"spans": [{"traceId": TRACE, "spanId": SPAN}]}],
        }]});
        assert_eq!(only_span(body.to_string().as_bytes()).service, UNKNOWN_SERVICE);
    }
}

fn nested(levels: usize) -> wire::AnyValue {
    (0..levels).fold(
        wire::AnyValue {
            kind: Some(AnyValueKind::Int(1)),
        },
        |inner, level| {
            let kind = if level % 2 == 0 {
                AnyValueKind::Array(wire::ArrayValue { values: vec![inner] })
            } else {
                let pair = wire::KeyValue {
                    key: "k".to_owned(),
                    value: Some(inner),
                };
                AnyValueKind::KeyValueList(wire::KeyValueList { values: vec![pair] })
            };
            wire::AnyValue { kind: Some(kind) }
        },
    )
}

/// The same request in both encodings, with one attribute.
fn both(value: wire::AnyValue) -> [Result<Vec<Span>, DecodeError>; 2] {
    let json = request(json!({"attributes": [{"key": "a", "value": as_json(&value)}]}));
    let span = wire::Span {
        trace_id: hex::decode(TRACE).unwrap(),
        span_id: hex::decode(SPAN).unwrap(),
        attributes: vec![wire::KeyValue {
            key: "a".to_owned(),
            value: Some(value),
        }],
        ..wire::Span::default()
    };
    let scope = wire::ScopeSpans { spans: vec![span] };
    let resource = wire::ResourceSpans {
        resource: None,
        scope_spans: vec![scope],
    };
    let protobuf = wire::ExportTraceServiceRequest {
        resource_spans: vec![resource],
    }
    .encode_to_vec();
    [decode_json(&json), decode_protobuf(&protobuf)]
}

/// OTLP/JSON of a value, written apart from the code under test.
pub(super) fn as_json(value: &wire::AnyValue) -> Value {
    let pair = |pair: &wire::KeyValue| json!({"key": pair.key, "value": pair.value.as_ref().map(as_json)});
    match &value.kind {
        None => json!({}),
        Some(AnyValueKind::String(text)) => json!({"stringValue": text}),
        Some(AnyValueKind::Bool(value)) => json!({"boolValue": value}),
        Some(AnyValueKind::Int(number)) => json!({"intValue": number.to_string()}),
        Some(AnyValueKind::Double(number)) if number.is_finite() => json!({"doubleValue": number}),
        Some(AnyValueKind::Double(number)) if number.is_nan() => json!({"doubleValue": "NaN"}),
        Some(AnyValueKind::Double(number)) => {
            json!({"doubleValue": if *number > 0.0 { "Infinity" } else { "-Infinity" }})
        }
        Some(AnyValueKind::Array(array)) => {
            json!({"arrayValue": {"values": array.values.iter().map(as_json).collect::<Vec<_>>()}})
        }
        Some(AnyValueKind::KeyValueList(list)) => {
            json!({"kvlistValue": {"values": list.values.iter().map(pair).collect::<Vec<_>>()}})
        }
        Some(AnyValueKind::Bytes(bytes)) => {
            use base64::Engine as _;
            json!({"bytesValue": base64::engine::general_purpose::STANDARD.encode(bytes)})
        }
    }
}

#[test]
fn both_encodings_accept_values_up_to_the_depth_limit() {
    let [json, protobuf] = both(nested(MAX_VALUE_DEPTH));
    assert_eq!(json.unwrap(), protobuf.unwrap());
    for decoded in both(nested(MAX_VALUE_DEPTH + 1)) {
        let Err(DecodeError::Span { index: 0, source }) = decoded else {
            panic!("{decoded:?}")
        };
        assert_eq!(
            source,
            SpanError::ValueTooDeep {
                key: "a".to_owned(),
                limit: MAX_VALUE_DEPTH
            }
        );
    }
}

#[test]
fn bottomless_nesting_is_refused_without_running_out_of_stack() {
    let open = br#"{"arrayValue":{"values":["#.repeat(200_000);
    let mut json =
        br#"{"resourceSpans":[{"scopeSpans":[{"spans":[{"attributes":[{"key":"a","value":"#.to_vec();
    json.extend(open);
    let error = decode_json(&json).unwrap_err();
    let DecodeError::Json(error) = error else {
        panic!("{error:?}")
    };
    assert!(error.to_string().contains("recursion limit"), "{error}");
    assert!(is_malformed(
        &[b"{\"unknown\":".to_vec(), b"[".repeat(200_000)].concat()
    ));

    let mut protobuf = nested(0).encode_to_vec();
    // Wraps by hand, array in value in array: building such a message as types would need the stack.
    for tag in [0x0a, 0x2a]
        .into_iter()
        .cycle()
        .take(2_000)
        .chain([0x12, 0x4a, 0x12, 0x12, 0x0a])
    {
        let mut outer = vec![tag];
        prost::encoding::encode_varint(protobuf.len() as u64, &mut outer);
        outer.extend(&protobuf);
        protobuf = outer;
    }
    assert!(matches!(
        decode_protobuf(&protobuf),
        Err(DecodeError::Protobuf(_))
    ));
}

#[test]
fn garbage_is_an_error_and_an_empty_request_is_not() {
    for body in [
        "",
        "{",
        "null",
        "1",
        "\"a\"",
        "{}{}",
        "{\"resourceSpans\":{}}",
        "\u{feff}{}",
    ] {
        assert!(is_malformed(body.as_bytes()), "{body}");
    }
    assert!(decode_json(b"{}").unwrap().is_empty());
    assert!(decode_protobuf(b"").unwrap().is_empty());
    for body in [
        b"\x0a".as_slice(),
        b"\x0a\x05\x00",
        b"{\"resourceSpans\":[]}",
        &[0xff; 32],
    ] {
        assert!(
            matches!(decode_protobuf(body), Err(DecodeError::Protobuf(_))),
            "{body:?}"
        );
    }
}

#[test]
fn a_span_survives_its_own_json() {
    let body = request(json!({
        "kind": 3, "status": {"code": 1},
        "attributes": [
            {"key": "third", "value": {"doubleValue": 1.0 / 3.0}},
            {"key": "whole", "value": {"doubleValue": 2.0}},
            {"key": "small", "value": {"doubleValue": 5e-324}},
            {"key": "int", "value": {"intValue": "9223372036854775807"}},
        ],
        "links": [{"traceId": TRACE, "spanId": SPAN}],
    }));
    let span = only_span(&body);
    let stored = serde_json::to_vec(&span).unwrap();
    let back: Span = serde_json::from_slice(&stored).unwrap();
    assert_eq!(back, span);
    assert_eq!(serde_json::to_vec(&back).unwrap(), stored);
}
