//! Spans that are wrong or extreme.
use super::{file, good, ingest, stored};
use crate::command::Traces;

#[test]
fn ids_of_a_wrong_length_cost_their_own_span_alone() {
    let traces = Traces::new();
    let id = format!("{:016x}", 2);
    let short = good(2).replace(&id, "02");
    let none = good(2).replace(&id, "");
    let zero = good(2).replace(&id, "0000000000000000");
    let lines = [good(1), short, none, zero, good(3)].join("\n");
    let said = ingest(&traces, &file(&traces, "ids", lines));
    said.refuses(&[
        "span 02: spanId must have 8 bytes, not 1",
        "spanId must have 8 bytes, not 0",
        "span 0000000000000000: spanId must not be all zero",
        "3 of 5 spans were refused, all others are stored",
    ]);
    stored(&traces, 2);
}

#[test]
fn spans_before_1970_and_in_2200_are_told_apart() {
    let traces = Traces::new();
    let at = |id, ns: &str| good(id).replace("\"1764500000000000000\"", &format!("\"{ns}\""));
    // OTLP counts from 1970 on: what is before is no number that it has.
    let lines = [
        good(1),
        at(2, "-5000000000"),
        at(3, "7258118400000000000"),
        at(4, "0"),
        good(5),
    ]
    .join("\n");
    let said = ingest(&traces, &file(&traces, "times", lines));
    said.refuses(&[
        "refused: request 1 is not a valid OTLP trace request: malformed OTLP/JSON: ",
        "span 0000000000000003: ",
        "at most 24 h are accepted",
        "1 of 5 requests and 1 of 4 spans were refused, all others are stored",
    ]);
    stored(&traces, 3);
}

#[test]
fn an_attribute_of_ten_megabytes_is_taken() {
    let traces = Traces::new();
    let attribute = format!(
        "\"attributes\":[{{\"key\":\"big\",\"value\":{{\"stringValue\":\"{}\"}}}}],\"spanId\"",
        "x".repeat(10_000_000)
    );
    let large = good(2).replacen("\"spanId\"", &attribute, 1);
    assert!(large.len() > 10_000_000);
    let said = ingest(
        &traces,
        &file(&traces, "large", [good(1), large, good(3)].join("\n")),
    );
    assert!(said.succeeded, "{}", said.complained);
    stored(&traces, 3);
}

#[test]
fn a_hundred_thousand_spans_of_one_request_are_taken() {
    let traces = Traces::new();
    let template = good(0);
    let (head, rest) = template.split_once("\"spans\"").unwrap();
    let open = rest.find('[').unwrap();
    let close = rest.rfind("}]").map(|at| at + 1).unwrap();
    let spans = &rest[open + 1..];
    let end = spans.find("}]").unwrap() + 1;
    let one = &spans[..end];
    let tail = &spans[end..];
    assert!(close > open && tail.starts_with(']'), "{template}");
    let (id, trace) = (format!("\"{:016x}\"", 0), format!("\"{:032x}\"", 1));
    let many: Vec<_> = (1..=100_000)
        .map(|n| {
            let one = one.replacen(&id, &format!("\"{n:016x}\""), 1);
            one.replacen(&trace, &format!("\"{:032x}\"", 1 + n % 5_000), 1)
        })
        .collect();
    let request = format!("{head}\"spans\"{}[{}{tail}", &rest[..open], many.join(","));
    let said = ingest(&traces, &file(&traces, "many", request));
    assert!(said.succeeded, "{}", said.complained);
    assert!(said.out.contains("100000 spans of 1 requests"), "{}", said.out);
    let totals: Vec<_> = said.out.lines().nth(1).unwrap().split_whitespace().collect();
    assert_eq!(totals, ["default", "100000", "5000", "0", "0"], "{}", said.out);
}

/// T-01
#[test]
fn a_tenant_that_is_none_is_refused_at_once() {
    let traces = Traces::new();
    let path = file(&traces, "spans", good(1));
    let said = super::run(&traces, &["ingest", path.to_str().unwrap(), "--tenant", "a/b"]);
    said.refuses(&["a/b", "--tenant"]);
    assert!(!traces.path("traces.db").exists());
}
