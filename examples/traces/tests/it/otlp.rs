use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};

use flate2::read::GzDecoder;
use foldwright_traces::otlp::{OtlpError, RequestReader, RequestTenants, Span};
use serde_json::Value;

fn corpus(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../tests/data/otlp")
        .join(file)
}

fn sample(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("data").join(file)
}

fn read(path: impl AsRef<Path>) -> Vec<Vec<Span>> {
    RequestReader::open(path)
        .unwrap()
        .collect::<Result<_, _>>()
        .unwrap()
}

fn unzipped(path: impl AsRef<Path>) -> Vec<u8> {
    let mut content = Vec::new();
    GzDecoder::new(File::open(path).unwrap())
        .read_to_end(&mut content)
        .unwrap();
    content
}

/// The tenant of each request; it must be exactly as many.
fn tenants(path: impl AsRef<Path>, requests: usize) -> Vec<String> {
    let mut tenants = RequestTenants::open(path).unwrap();
    let told = (0..requests).map(|_| tenants.next_tenant().unwrap()).collect();
    tenants.finish().unwrap();
    told
}

#[test]
fn json_and_protobuf_plain_and_gzip_give_the_same_spans() {
    let dir = tempfile::tempdir().unwrap();
    let json = read(corpus("traces.otlp.jsonl.gz"));
    for file in ["traces.otlp.jsonl", "traces.otlp.pb"] {
        let zipped = corpus(&format!("{file}.gz"));
        let plain = dir.path().join(file);
        fs::write(&plain, unzipped(&zipped)).unwrap();
        for path in [zipped, plain] {
            let requests = read(&path);
            assert_eq!(requests.len(), json.len(), "{}", path.display());
            for (index, (spans, expected)) in requests.iter().zip(&json).enumerate() {
                assert_eq!(spans, expected, "request {index} of {}", path.display());
            }
        }
    }
}

#[test]
fn the_corpus_has_the_expected_totals() {
    let expected: Value = serde_json::from_slice(&fs::read(corpus("expected.json")).unwrap()).unwrap();
    let requests = read(corpus("traces.otlp.pb.gz"));
    let tenants = tenants(corpus("requests.jsonl"), requests.len());

    let lines = BufReader::new(File::open(corpus("requests.jsonl")).unwrap()).lines();
    for ((line, tenant), spans) in lines.zip(&tenants).zip(&requests) {
        let line: Value = serde_json::from_str(&line.unwrap()).unwrap();
        assert_eq!(line["tenant"], *tenant);
        assert_eq!(line["spans"], spans.len());
    }

    let mut totals: BTreeMap<&str, u64> = BTreeMap::new();
    let mut by_tenant: BTreeMap<&str, u64> = BTreeMap::new();
    let mut by_service: BTreeMap<&str, u64> = BTreeMap::new();
    let mut traces = BTreeSet::new();
    let mut failed_traces = BTreeSet::new();
    let mut rooted_traces = BTreeSet::new();
    let mut unique: BTreeMap<(&str, &str, &str), &Span> = BTreeMap::new();
    let mut before_parent = BTreeSet::new();
    totals.insert("requests", requests.len() as u64);
    for (tenant, span) in tenants
        .iter()
        .zip(&requests)
        .flat_map(|(t, spans)| spans.iter().map(move |s| (t, s)))
    {
        *totals.entry("span_arrivals").or_default() += 1;
        let key = (tenant.as_str(), span.trace_id.as_str(), span.span_id.as_str());
        if let Some(first) = unique.get(&key) {
            assert_eq!(*first, span, "a repeated span differs");
            *totals.entry("span_duplicate_arrivals").or_default() += 1;
            continue;
        }
        unique.insert(key, span);
        let trace = (key.0, key.1);
        traces.insert(trace);
        *by_tenant.entry(tenant).or_default() += 1;
        *by_service.entry(&span.service).or_default() += 1;
        if span.is_error() {
            *totals.entry("error_spans").or_default() += 1;
            failed_traces.insert(trace);
        }
        match &span.parent_span_id {
            None => _ = rooted_traces.insert(trace),
            Some(parent) if !unique.contains_key(&(key.0, key.1, parent)) => _ = before_parent.insert(key),
            Some(_) => {}
        }
        for (attribute, total) in [
            ("gen_ai.usage.input_tokens", "input_tokens"),
            ("gen_ai.usage.output_tokens", "output_tokens"),
        ] {
            let tokens = span
                .attributes
                .get(attribute)
                .and_then(Value::as_u64)
                .unwrap_or(0);
            *totals.entry(total).or_default() += tokens;
        }
        match span
            .attributes
            .get("gen_ai.operation.name")
            .and_then(Value::as_str)
        {
            Some("chat") => *totals.entry("llm_calls").or_default() += 1,
            Some("execute_tool") => *totals.entry("tool_calls").or_default() += 1,
            _ => {}
        }
    }
    let parent_never_arrives = |key: &&(&str, &str, &str)| {
        let parent = unique[*key].parent_span_id.as_deref().unwrap();
        !unique.contains_key(&(key.0, key.1, parent))
    };
    let orphans = before_parent.iter().filter(parent_never_arrives).count() as u64;
    totals.insert("spans_unique", unique.len() as u64);
    totals.insert("traces", traces.len() as u64);
    totals.insert("traces_with_error", failed_traces.len() as u64);
    totals.insert("traces_without_root", (traces.len() - rooted_traces.len()) as u64);
    totals.insert("spans_whose_parent_never_arrives", orphans);
    totals.insert(
        "spans_arriving_before_their_parent",
        before_parent.len() as u64 - orphans,
    );

    for (name, total) in totals {
        assert_eq!(expected[name], total, "{name}");
    }
    assert_eq!(
        expected["spans_by_tenant"],
        serde_json::to_value(by_tenant).unwrap()
    );
    assert_eq!(
        expected["spans_by_service"],
        serde_json::to_value(by_service).unwrap()
    );
}

#[test]
fn the_sample_is_the_beginning_of_the_corpus() {
    let requests = read(sample("sample.otlp.jsonl.gz"));
    assert_eq!(requests.len(), 24);
    assert_eq!(requests, read(corpus("traces.otlp.jsonl.gz"))[..24]);
    let of_corpus = fs::read_to_string(corpus("requests.jsonl")).unwrap();
    let of_sample = fs::read_to_string(sample("sample.requests.jsonl")).unwrap();
    assert!(of_corpus.starts_with(&of_sample));
    assert_eq!(
        tenants(sample("sample.requests.jsonl"), 24)
            .iter()
            .collect::<BTreeSet<_>>()
            .len(),
        4
    );
}

#[test]
fn a_corpus_that_breaks_off_gives_the_whole_requests_and_then_an_error() {
    let dir = tempfile::tempdir().unwrap();
    let whole = read(corpus("traces.otlp.pb.gz"));
    for (file, keep) in [
        ("traces.otlp.jsonl.gz", 500_000),
        ("traces.otlp.pb.gz", 500_000),
        ("traces.otlp.jsonl", 5_000_000),
        ("traces.otlp.pb", 2_000_000),
    ] {
        let content = match file.strip_suffix(".gz") {
            Some(_) => fs::read(corpus(file)).unwrap(),
            None => unzipped(corpus(&format!("{file}.gz"))),
        };
        let path = dir.path().join(file);
        fs::write(&path, &content[..keep]).unwrap();

        let mut items: Vec<_> = RequestReader::open(&path).unwrap().collect();
        let error = items.pop().unwrap().unwrap_err();
        let read: Vec<_> = items.into_iter().map(Result::unwrap).collect();
        assert!(!read.is_empty() && read.len() < whole.len());
        assert_eq!(read, whole[..read.len()], "{file}");
        let at = match error {
            OtlpError::Read { index, .. }
            | OtlpError::Truncated { index, .. }
            | OtlpError::Decode { index, .. } => index,
            other => panic!("{file}: unexpected {other:?}"),
        };
        assert_eq!(at, read.len(), "{file}");
    }
}
