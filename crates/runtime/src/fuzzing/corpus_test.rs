//! The corpus, with the plain compiler.
use super::*;
use std::{fs, path::Path};

#[path = "../../../../fuzz/replay.rs"]
mod replay;

type Property = fn(&[u8]);

const PROPERTIES: [(&str, Property); 12] = [
    ("answer", answer),
    ("base", base),
    ("body", body),
    ("command", command),
    ("event", event),
    ("header", header),
    ("ledger", ledger),
    ("names", names),
    ("receipt_key", receipt_key),
    ("trace_parent", trace_parent),
    ("upcast", upcast),
    ("wish", wish),
];

/// Every golden file is a sample of its format.
fn golden_samples() {
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    for format in fs::read_dir(golden).unwrap() {
        let format = format.unwrap();
        for file in fs::read_dir(format.path()).unwrap() {
            let file = file.unwrap().path();
            if file.extension().is_some_and(|extension| extension == "hex") {
                let bytes = crate::wire::from_hex(&fs::read_to_string(&file).unwrap());
                let name = file.file_stem().unwrap().to_string_lossy();
                replay::sample(&format.file_name().to_string_lossy(), &name, &bytes);
            }
        }
    }
}

fn other_samples() {
    for (name, text) in [
        ("tenant", "acme-1._X"),
        ("route", "traces/fold/summary/subscriber/settled"),
        ("event_type", "otlp.tracing.trace.span_recorded"),
        ("date", "2024-02-29"),
        ("aggregate_id", "5b8e/ü"),
        ("id", "\u{1}\u{2}\u{3}\u{4}\u{5}\u{6}\u{7}p\u{8}\u{9}abcdef"),
    ] {
        replay::sample("names", name, text.as_bytes());
    }
    for (name, text) in [
        ("v00", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"),
        (
            "later",
            "cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more",
        ),
    ] {
        replay::sample("trace_parent", name, text.as_bytes());
    }
    let key = r#"{"tenant":"acme","command":"record_span","aggregate":"t-1","id":"019ad4653b887f008123456789abc000","asked":true}"#;
    replay::sample("receipt_key", "json", key.as_bytes());
    replay::sample(
        "receipt_key",
        "binary",
        b"\x04acme\x0brecord_span\x03t-1\x20019ad4653b887f008123456789abc000\x01",
    );
    for (number, data) in [
        (
            0_u8,
            r#"{"suite":"release","cases":["login","größe"],"priority":-3}"#,
        ),
        (1, r#"{"suite":"nightly","cases":"a,b"}"#),
        (2, r#"{"name":"smoke"}"#),
        (3, r#"{"passed":false}"#),
        (5, r#"{"suite":"release","cases":[]}"#),
    ] {
        replay::sample(
            "upcast",
            &format!("v{number}"),
            &[&[number], data.as_bytes()].concat(),
        );
    }
}

/// B-20, B-23
#[test]
fn the_corpus_whole_cut_and_spoilt_breaks_no_decoder() {
    golden_samples();
    other_samples();
    for (target, property) in PROPERTIES {
        replay::corpus(target, property);
    }
}
