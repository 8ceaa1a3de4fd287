//! What an exporter may send to `traces serve`, and what it hears.
use crate::{
    http::{GZIP, JSON, PROTOBUF, field, get, gzip, json_request, of_tenant, post, request, span},
    server::{InProcess, until},
};
use flate2::{Compression, write::ZlibEncoder};
use foldwright::prelude::TenantId;
use foldwright_traces::serve::Settings;
use std::io::Write;

/// 2025-11-30, in ns.
const THEN: u64 = 1_764_500_000_000_000_000;

fn span_count(server: &InProcess, tenant: &str, trace: &str) -> Option<u64> {
    get(server.address, &format!("/api/tenants/{tenant}/traces/{trace}")).json()["trace"]["span_count"]
        .as_u64()
}

/// Both encodings, plain and compressed, are the same spans; the answer is in the encoding of the request.
#[test]
fn every_encoding_is_taken() {
    let server = InProcess::start(Settings::default());
    let zlib = |body: &[u8]| {
        let mut out = ZlibEncoder::new(Vec::new(), Compression::fast());
        out.write_all(body).unwrap();
        out.finish().unwrap()
    };
    let protobuf = |id: u8| request(&[span(&[7; 16], &[id; 8], THEN)]);
    let trace = u128::from_be_bytes([7; 16]);
    let charset = ("content-type", "application/json; charset=utf-8");
    let deflate = ("content-encoding", "deflate");
    for (headers, body) in [
        (vec![PROTOBUF], protobuf(1)),
        (vec![PROTOBUF, GZIP], gzip(&protobuf(2))),
        (vec![PROTOBUF, deflate], zlib(&protobuf(3))),
        (vec![JSON], json_request(trace, 4)),
        (vec![JSON, GZIP], gzip(&json_request(trace, 5))),
        (vec![charset], json_request(trace, 6)),
        // Once more: the same fact.
        (vec![PROTOBUF], protobuf(1)),
    ] {
        let headers = [headers, vec![of_tenant("acme")]].concat();
        let reply = post(server.address, &headers, &body);
        assert_eq!(reply.status, 200, "{headers:?}: {}", reply.text());
        let is_json = headers[0].1.starts_with("application/json");
        let (content_type, body) = if is_json {
            (JSON.1, &b"{}"[..])
        } else {
            (PROTOBUF.1, &b""[..])
        };
        assert_eq!(reply.header("content-type"), Some(content_type));
        assert_eq!(reply.body, body, "all were taken");
    }
    until(|| span_count(&server, "acme", &hex::encode([7; 16])) == Some(6));
    assert_eq!(server.stop(), 0);
}

/// An empty request is a success, in both encodings.
#[test]
fn nothing_is_taken_as_nothing() {
    let server = InProcess::start(Settings::default());
    for (content_type, body) in [
        (PROTOBUF, &b""[..]),
        (JSON, b""),
        (JSON, b"{}"),
        (JSON, br#"{"resourceSpans":[]}"#),
        (JSON, br#"{"someday":1}"#),
    ] {
        let reply = post(server.address, &[content_type, of_tenant("acme")], body);
        assert_eq!(reply.status, 200, "{}", reply.text());
    }
    assert_eq!(server.stop(), 0);
}

/// A span that is wrong by itself is refused and named; those beside it are stored.
#[test]
fn wrong_spans_are_named_and_the_others_stored() {
    let server = InProcess::start(Settings::default());
    let far = 4_000_000_000_000_000_000;
    let body = request(&[
        span(&[1; 16], &[1; 8], THEN),
        span(&[1; 16], &[2; 7], THEN),
        span(&[1; 16], &[3; 8], far),
        span(&[0; 16], &[4; 8], THEN),
        span(&[1; 16], &[5; 8], THEN),
    ]);
    let reply = post(server.address, &[PROTOBUF, of_tenant("acme")], &body);
    assert_eq!(reply.status, 200);
    assert_eq!(reply.header("content-type"), Some(PROTOBUF.1));
    let text = reply.text();
    let message = text.find("3 of 5 spans are refused").expect(&text);
    let partial = [&[1 << 3, 3][..], &field(2, &text.as_bytes()[message..])].concat();
    assert_eq!(reply.body, field(1, &partial), "rejected_spans and error_message");
    for named in [
        "span 1 (trace id \"01010101010101010101010101010101\", span id \"02020202020202\"): spanId must have 8 bytes",
        "span 3 (",
        "traceId must not be all zero",
        "span 0303030303030303: the command occurred",
        "at most 24 h are accepted",
    ] {
        assert!(text.contains(named), "{named}: {text}");
    }
    until(|| span_count(&server, "acme", &hex::encode([1; 16])) == Some(2));

    let json = String::from_utf8(json_request(9, 9)).unwrap();
    let json = json.replace("1764500000000000000", "4000000000000000000");
    let reply = post(server.address, &[JSON, of_tenant("acme")], json.as_bytes());
    assert_eq!(reply.status, 200);
    let partial = &reply.json()["partialSuccess"];
    assert_eq!(partial["rejectedSpans"], "1", "64-bit integers are text");
    assert!(partial["errorMessage"].as_str().unwrap().contains("1 of 1 spans"));
    assert_eq!(server.stop(), 0);
}

/// Many wrong spans are counted, the first are named, and the answer stays small.
#[test]
fn an_answer_names_the_first_few() {
    let server = InProcess::start(Settings::default());
    let body = request(&vec![span(&[1; 16], &[], THEN); 5_000]);
    let reply = post(server.address, &[PROTOBUF, of_tenant("acme")], &body);
    assert!(reply.text().contains("5000 of 5000 spans are refused"));
    assert!(reply.text().contains("and 4990 more"));
    assert!(reply.body.len() < 8 << 10);
    assert_eq!(server.stop(), 0);
}

/// T-01: what is no request is refused with a `Status` in the encoding of the request.
#[test]
fn what_is_no_request_is_refused() {
    let server = InProcess::start(Settings::default());
    let acme = of_tenant("acme");
    let good = request(&[span(&[1; 16], &[1; 8], THEN)]);
    for (headers, body, status, says) in [
        (vec![PROTOBUF], good.clone(), 400, "x-tenant-id is missing"),
        (
            vec![PROTOBUF, of_tenant("a/b")],
            good.clone(),
            400,
            "names no tenant",
        ),
        (
            vec![PROTOBUF, of_tenant("")],
            good.clone(),
            400,
            "names no tenant",
        ),
        (
            vec![PROTOBUF, acme, of_tenant("b")],
            good.clone(),
            400,
            "one value",
        ),
        (
            vec![PROTOBUF, acme],
            b"\x0a\xff".to_vec(),
            400,
            "malformed OTLP protobuf",
        ),
        (vec![JSON, acme], b"{".to_vec(), 400, "malformed OTLP/JSON"),
        (vec![JSON, acme], b"[]".to_vec(), 400, "malformed OTLP/JSON"),
        (
            vec![PROTOBUF, acme, GZIP],
            good.clone(),
            400,
            "does not decompress",
        ),
        (vec![acme], good.clone(), 415, "Content-Type"),
        (
            vec![("content-type", "text/plain"), acme],
            good.clone(),
            415,
            "Content-Type",
        ),
        (
            vec![PROTOBUF, acme, ("content-encoding", "br")],
            good.clone(),
            415,
            "Content-Encoding",
        ),
        (
            vec![PROTOBUF, acme, ("content-encoding", "gzip, gzip")],
            good.clone(),
            415,
            "Content-Encoding",
        ),
    ] {
        let reply = post(server.address, &headers, &body);
        assert_eq!(reply.status, status, "{headers:?}: {}", reply.text());
        assert!(reply.text().contains(says), "{headers:?}: {}", reply.text());
        assert_eq!(
            reply.header("retry-after"),
            None,
            "it is of no use to send it again"
        );
        if headers.contains(&PROTOBUF) {
            assert_eq!(reply.header("content-type"), Some(PROTOBUF.1));
            let message = field(2, &reply.body[4..]);
            assert_eq!(
                reply.body,
                [&[1 << 3, 3][..], &message].concat(),
                "code and message"
            );
        } else {
            assert_eq!(reply.header("content-type"), Some(JSON.1));
            assert_eq!(reply.json()["code"], 3);
        }
    }
    assert_eq!(
        get(server.address, "/api/tenants").json()["tenants"]
            .as_array()
            .unwrap()
            .len(),
        0
    );
    assert_eq!(server.stop(), 0);
}

/// An exporter that cannot set headers sends for the tenant that the server was told; a header still wins.
#[test]
fn a_default_tenant_takes_what_names_none() {
    let server = InProcess::start(Settings {
        default_tenant: Some(TenantId::parse("house").unwrap()),
        ..Settings::default()
    });
    assert_eq!(post(server.address, &[JSON], &json_request(1, 1)).status, 200);
    let named = [JSON, of_tenant("acme")];
    assert_eq!(post(server.address, &named, &json_request(1, 2)).status, 200);
    assert_eq!(
        post(server.address, &[JSON, of_tenant("a b")], &json_request(1, 3)).status,
        400
    );
    let trace = format!("{:032x}", 1);
    until(|| {
        span_count(&server, "house", &trace) == Some(1) && span_count(&server, "acme", &trace) == Some(1)
    });
    assert_eq!(server.stop(), 0);
}
