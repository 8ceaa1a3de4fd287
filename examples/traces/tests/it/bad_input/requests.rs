//! Requests that cannot be read.
use super::{file, good, ingest, stored};
use crate::{
    command::Traces,
    http::{gzip, request, span},
};

const THEN: u64 = 1_764_500_000_000_000_000;

#[test]
fn a_truncated_gzip_file_keeps_what_came_before() {
    let traces = Traces::new();
    // Noise does not shrink, so that the cut lies behind the first lines.
    let mut noise = 1_u64;
    let mut line = |id| {
        let name: String = (0..20_000)
            .map(|_| {
                noise = noise.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                char::from(b'a' + u8::try_from((noise >> 33) % 26).unwrap())
            })
            .collect();
        good(id).replace("\"spans\"", &format!("\"schemaUrl\":\"{name}\",\"spans\""))
    };
    let lines: String = (1..=6).map(|id| line(id) + "\n").collect();
    let whole = gzip(lines.as_bytes());
    let path = file(&traces, "cut.gz", &whole[..whole.len() / 2]);
    let said = ingest(&traces, &path);
    said.refuses(&[
        "cannot read request ",
        "what came before it is stored",
        "mend the file and run it again",
    ]);
    assert!(said.out.contains("spans of"), "{}", said.out);
    let shown = traces.show_json();
    let count = (1..6).find(|n| shown.contains(&format!("\"span_count\":{n},")));
    assert!(count.is_some(), "{shown}");

    let path = file(&traces, "whole.gz", whole);
    assert!(ingest(&traces, &path).succeeded);
    stored(&traces, 6);
}

#[test]
fn an_invalid_line_is_named_and_passed_over() {
    let traces = Traces::new();
    let lines = [good(1), "{\"resourceSpans\": [".into(), "[1, 2]".into(), good(2)].join("\n");
    let said = ingest(&traces, &file(&traces, "lines", lines));
    said.refuses(&[
        "refused: request 1 is not a valid OTLP trace request: malformed OTLP/JSON: EOF while parsing",
        "refused: request 2 is not a valid OTLP trace request: malformed OTLP/JSON: a request is an object",
        "2 of 4 requests were refused, all others are stored; mend them and run it again",
    ]);
    stored(&traces, 2);
}

#[test]
fn protobuf_garbage_is_named_and_passed_over() {
    let traces = Traces::new();
    let body = |id: u8| request(&[span(&[1; 16], &[id; 8], THEN)]);
    let mut content = Vec::new();
    for body in [body(1), vec![0xff; 40], body(2)] {
        content.extend(u32::try_from(body.len()).unwrap().to_be_bytes());
        content.extend(body);
    }
    let said = ingest(&traces, &file(&traces, "garbage.pb", &content));
    said.refuses(&[
        "refused: request 1 is not a valid OTLP trace request: malformed OTLP protobuf: ",
        "1 of 3 requests were refused, all others are stored",
    ]);
    stored(&traces, 2);

    content.extend([0, 0, 1, 0, 7]);
    let said = ingest(&traces, &file(&traces, "cut.pb", content));
    said.refuses(&[
        "request 3 is cut off: 1 of 256 bytes are there",
        "what came before it is stored; 1 of 3 requests were refused",
    ]);
}

#[test]
fn a_file_of_something_else_is_refused_before_a_store_is_made() {
    let traces = Traces::new();
    let said = ingest(&traces, &file(&traces, "picture", b"\x89PNG\r\n"));
    said.refuses(&["neither OTLP/JSON lines nor length-prefixed protobuf, plain or gzip"]);
    let said = ingest(&traces, &traces.path("missing"));
    said.refuses(&["cannot open", "missing"]);
    assert!(!traces.path("traces.db").exists(), "nothing was begun");
}
