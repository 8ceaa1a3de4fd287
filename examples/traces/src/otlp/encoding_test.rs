use super::wire::{
    AnyValue, AnyValueKind, ExportTraceServiceRequest, KeyValue, Resource, ResourceSpans, ScopeSpans, Span,
};
use super::{Encoding, MAX_SERVICE_BYTES, SpanError};
use prost::Message as _;

fn request(spans: Vec<Span>) -> Vec<u8> {
    ExportTraceServiceRequest {
        resource_spans: vec![ResourceSpans {
            resource: None,
            scope_spans: vec![ScopeSpans { spans }],
        }],
    }
    .encode_to_vec()
}

fn good(id: u8) -> Span {
    Span {
        trace_id: vec![id; 16],
        span_id: vec![id; 8],
        ..Span::default()
    }
}

#[test]
fn the_content_type_tells_the_encoding() {
    for (value, encoding) in [
        ("application/json", Some(Encoding::Json)),
        ("Application/JSON; charset=utf-8", Some(Encoding::Json)),
        ("application/x-protobuf", Some(Encoding::Protobuf)),
        ("application/protobuf", None),
        ("text/plain", None),
        ("", None),
    ] {
        assert_eq!(Encoding::of_content_type(value), encoding, "{value}");
    }
}

#[test]
fn a_faulty_span_is_set_apart_and_named() {
    let mut faulty = good(2);
    faulty.span_id = vec![7; 3];
    let decoded = Encoding::Protobuf
        .decode(&request(vec![good(1), faulty, good(3)]))
        .unwrap();
    assert_eq!(decoded.spans.len(), 2);
    let [faulty] = &decoded.faulty[..] else {
        panic!("{:?}", decoded.faulty);
    };
    assert_eq!((faulty.index, faulty.span_id.as_str()), (1, "070707"));
    let expected = SpanError::IdLength {
        field: "spanId",
        expected: 8,
        found: 3,
    };
    assert_eq!(faulty.error, expected);
}

#[test]
fn an_empty_body_is_an_empty_request() {
    for encoding in [Encoding::Json, Encoding::Protobuf] {
        assert_eq!(encoding.decode(b"").unwrap(), super::Decoded::default());
    }
}

/// Two bytes are a span in protobuf, three in JSON: what they become is known before they are decoded.
#[test]
fn many_empty_spans_weigh_what_they_take() {
    const SPANS: usize = 10_000;
    let protobuf = request(vec![Span::default(); SPANS]);
    let json = format!(
        r#"{{"resourceSpans":[{{"scopeSpans":[{{"spans":[{}{{}}]}}]}}]}}"#,
        "{},".repeat(SPANS - 1)
    );
    let least = SPANS * size_of::<Span>();
    for (encoding, body) in [
        (Encoding::Protobuf, protobuf.as_slice()),
        (Encoding::Json, json.as_bytes()),
    ] {
        assert_eq!(encoding.decode(body).unwrap().faulty.len(), SPANS);
        assert!(encoding.weigh(body) > least, "{encoding:?}");
    }
}

#[test]
fn any_bytes_have_a_weight() {
    for body in [
        &[0xff; 40][..],
        &[0x0a, 0xff, 0xff],
        &[0x0a; 300],
        b"{",
        &[0x0b, 0x0c, 0x08],
    ] {
        for encoding in [Encoding::Json, Encoding::Protobuf] {
            assert!(encoding.weigh(body) >= body.len());
        }
    }
}

/// Each span keeps the name of its service, which came once.
#[test]
fn the_longest_service_on_every_span_is_paid_for() {
    const SPANS: usize = 1_000;
    let request = |bytes: usize| {
        let name = AnyValue {
            kind: Some(AnyValueKind::String("s".repeat(bytes))),
        };
        let attribute = KeyValue {
            key: "service.name".to_owned(),
            value: Some(name),
        };
        ExportTraceServiceRequest {
            resource_spans: vec![ResourceSpans {
                resource: Some(Resource {
                    attributes: vec![attribute],
                }),
                scope_spans: vec![ScopeSpans {
                    spans: vec![good(1); SPANS],
                }],
            }],
        }
        .encode_to_vec()
    };
    let body = request(MAX_SERVICE_BYTES);
    let decoded = Encoding::Protobuf.decode(&body).unwrap();
    let held = |span: &super::Span| size_of::<super::Span>() + span.service.len() + 32 + 16;
    let held: usize = decoded.spans.iter().map(held).sum();
    assert_eq!(decoded.spans.len(), SPANS);
    assert!(held <= Encoding::Protobuf.weigh(&body), "{held}");
    let longer = Encoding::Protobuf
        .decode(&request(MAX_SERVICE_BYTES + 1))
        .unwrap();
    assert!(
        longer
            .faulty
            .iter()
            .all(|span| matches!(span.error, SpanError::ServiceTooLong { .. }))
    );
    assert_eq!(longer.faulty.len(), SPANS);
}
