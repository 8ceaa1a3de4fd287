//! The corpus, with the plain compiler.
use super::*;
use std::io::Read as _;

#[path = "../../../../fuzz/replay.rs"]
mod replay;

type Property = fn(&[u8]);

fn packed(bytes: &[u8]) -> Vec<u8> {
    let mut packed = GzEncoder::new(Vec::new(), Compression::best());
    packed.write_all(bytes).unwrap();
    packed.finish().unwrap()
}

/// A small request with one of each thing, in both encodings.
const JSON: &str = r#"{"resourceSpans":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"shop"}}]},"scopeSpans":[{"spans":[{"traceId":"5b8efff798038103d269b633813fc60c","spanId":"eee19b7ec3c1b174","parentSpanId":"eee19b7ec3c1b173","name":"pay","kind":"SPAN_KIND_SERVER","startTimeUnixNano":"1764500000000000000","endTimeUnixNano":1764500000250000000,"status":{"code":2,"message":"no"},"attributes":[{"key":"n","value":{"intValue":"-7"}},{"key":"d","value":{"doubleValue":"NaN"}},{"key":"b","value":{"bytesValue":"aGk="}},{"key":"a","value":{"arrayValue":{"values":[{"boolValue":true},{"kvlistValue":{"values":[{"key":"k","value":{"doubleValue":0.1}}]}}]}}}],"events":[{"timeUnixNano":"1","name":"e","attributes":[]}],"links":[{"traceId":"5b8efff798038103d269b633813fc60d","spanId":"eee19b7ec3c1b175"}]}]}]}]}"#;

fn samples() {
    let recorded = include_bytes!("../../data/sample.otlp.jsonl.gz");
    let mut text = String::new();
    flate2::read::GzDecoder::new(recorded.as_slice())
        .read_to_string(&mut text)
        .unwrap();
    let shortest = text.lines().min_by_key(|line| line.len()).unwrap();
    replay::sample("otlp_json", "all_kinds", JSON.as_bytes());
    replay::sample("otlp_json", "recorded", shortest.as_bytes());
    replay::sample("otlp_json", "long_service", long_service().as_bytes());
    let protobuf = crate::otlp::to_protobuf(JSON.as_bytes());
    replay::sample("otlp_protobuf", "all_kinds", &protobuf);
    replay::sample(
        "otlp_protobuf",
        "recorded",
        &crate::otlp::to_protobuf(shortest.as_bytes()),
    );
    replay::sample(
        "otlp_protobuf",
        "long_service",
        &crate::otlp::to_protobuf(long_service().as_bytes()),
    );
    let prefixed = [
        &u32::try_from(protobuf.len()).unwrap().to_be_bytes()[..],
        &protobuf,
    ]
    .concat()
    .repeat(2);
    let lines = format!("{JSON}\n\n{{}}\n{{\"other\":1}}\n{{\"resourceSpans\":7}}\n{JSON}");
    replay::sample("otlp_file", "lines", lines.as_bytes());
    replay::sample("otlp_file", "prefixed", &prefixed);
    replay::sample("otlp_file", "lines.gz", &packed(lines.as_bytes()));
    let tenants = "{\"tenant\":\"acme\"}\n\n{\"tenant\":\"a/b\",\"more\":1}\n{}\n";
    replay::sample("otlp_tenants", "lines", tenants.as_bytes());
    replay::sample("otlp_tenants", "lines.gz", &packed(tenants.as_bytes()));
    let span = Encoding::Json.decode(JSON.as_bytes()).unwrap().spans.remove(0);
    replay::sample(
        "stored_span",
        "all_kinds",
        &TraceEvent::SpanRecorded(span).encode().unwrap(),
    );
    replay::sample("http", "gzip", &packed(JSON.as_bytes()));
    replay::sample("http", "bomb", &packed(&vec![0; 256 << 10]));
    replay::sample("http", "cursor", b"0107afAF");
}

/// The longest name of a service on spans that hold nothing else: each of them keeps it.
fn long_service() -> String {
    let span = r#"{"traceId":"5b8efff798038103d269b633813fc60c","spanId":"eee19b7ec3c1b174"}"#;
    let service = "s".repeat(crate::otlp::MAX_SERVICE_BYTES);
    format!(
        r#"{{"resourceSpans":[{{"resource":{{"attributes":[{{"key":"service.name","value":{{"stringValue":"{service}"}}}}]}},"scopeSpans":[{{"spans":[{}]}}]}}]}}"#,
        [span; 40].join(",")
    )
}

/// B-23
#[test]
fn the_corpus_whole_cut_and_spoilt_breaks_no_decoder() {
    samples();
    let properties: [(&str, Property); 6] = [
        ("http", http),
        ("otlp_file", otlp_file),
        ("otlp_json", otlp_json),
        ("otlp_protobuf", otlp_protobuf),
        ("otlp_tenants", otlp_tenants),
        ("stored_span", stored_span),
    ];
    for (target, property) in properties {
        replay::corpus(target, property);
    }
}
