//! The whole corpus through the `traces` command, against its right answers.
use crate::command::{Traces, corpus, expected_summaries};
use std::{fs, io::Write, path::Path};

const JSON: &str = "traces.otlp.jsonl.gz";
const PROTOBUF: &str = "traces.otlp.pb.gz";

/// G1, G3, X-04, C-06: 1,452 spans of the corpus arrive more than once, 14,374 before their parent.
#[test]
fn summaries_are_exact_from_json() {
    let traces = Traces::new();
    traces.ingest(&corpus(JSON), &corpus("requests.jsonl"));
    assert_eq!(traces.show_json(), expected_summaries());
    // Once more over the same store: every span is a duplicate now.
    traces.ingest(&corpus(JSON), &corpus("requests.jsonl"));
    assert_eq!(traces.show_json(), expected_summaries());
}

/// G3: the same from the other encoding.
#[test]
fn summaries_are_exact_from_protobuf() {
    let traces = Traces::new();
    let said = traces.ingest(&corpus(PROTOBUF), &corpus("requests.jsonl"));
    assert_eq!(traces.show_json(), expected_summaries());
    let expected: serde_json::Value =
        serde_json::from_slice(&fs::read(corpus("expected.json")).unwrap()).unwrap();
    for (tenant, spans) in expected["spans_by_tenant"].as_object().unwrap() {
        let traces_of = &expected["traces_by_tenant"][tenant];
        let row = said
            .lines()
            .find(|line| line.starts_with(tenant.as_str()))
            .unwrap();
        let columns: Vec<_> = row.split_whitespace().collect();
        assert_eq!(columns[1..3], [spans.to_string(), traces_of.to_string()], "{row}");
    }
    let arrivals = expected["span_arrivals"].to_string();
    assert!(
        said.contains(&format!("{arrivals} spans of 353 requests")),
        "{said}"
    );
}

/// G3, L-16: the order of requests does not matter.
#[test]
fn summaries_are_exact_from_shuffled_requests() {
    let traces = Traces::new();
    let (requests, tenants) = (
        traces.path("shuffled.jsonl"),
        traces.path("shuffled.requests.jsonl"),
    );
    shuffle(&requests, &tenants);
    traces.ingest(&requests, &tenants);
    assert_eq!(traces.show_json(), expected_summaries());
}

/// G1, G2, G3, G4, C-02, X-03: killed in the middle, again and again, then run to its end.
#[test]
fn summaries_are_exact_after_kills() {
    let traces = Traces::new();
    for bytes in [200_000, 2_000_000, 6_000_000] {
        traces.ingest_and_kill(&corpus(JSON), &corpus("requests.jsonl"), bytes);
    }
    traces.ingest(&corpus(JSON), &corpus("requests.jsonl"));
    assert_eq!(traces.show_json(), expected_summaries());
}

/// G1, G3, G4, Q-09, L-02: two processes ingest the same corpus into one file at once, in different orders.
#[test]
fn summaries_are_exact_from_two_processes_at_once() {
    let traces = Traces::new();
    let (requests, tenants) = (
        traces.path("shuffled.jsonl"),
        traces.path("shuffled.requests.jsonl"),
    );
    shuffle(&requests, &tenants);
    std::thread::scope(|scope| {
        let shuffled = scope.spawn(|| traces.ingest(&requests, &tenants));
        traces.ingest(&corpus(JSON), &corpus("requests.jsonl"));
        shuffled.join().unwrap();
    });
    assert_eq!(traces.show_json(), expected_summaries());
}

/// Requests and their tenants in another order, the same at each run.
fn shuffle(requests: &Path, tenants: &Path) {
    let lines = crate::command::unzipped_lines(&corpus(JSON));
    let owners = fs::read_to_string(corpus("requests.jsonl")).unwrap();
    let mut pairs: Vec<_> = lines.into_iter().zip(owners.lines()).collect();
    let mut random = 1_u64;
    for at in (1..pairs.len()).rev() {
        random = random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        pairs.swap(at, (random >> 33) as usize % (at + 1));
    }
    let (mut out, mut owners) = (
        fs::File::create(requests).unwrap(),
        fs::File::create(tenants).unwrap(),
    );
    for (line, owner) in pairs {
        writeln!(out, "{line}").unwrap();
        writeln!(owners, "{owner}").unwrap();
    }
}
