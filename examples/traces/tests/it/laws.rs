//! What the projections of spans keep, whatever arrives in whatever order.
use foldwright::{
    prelude::Millis,
    testing::{Seeded, fold, fold_laws, map},
};
use foldwright_traces::{
    otlp::{Span, SpanKind, StatusCode},
    service_usage::{ServiceUsage, Usage},
    span_recorded::{TraceEvent, occurred_at},
    spans::{SpanRow, Spans},
    trace_summary::{Root, TraceSummary},
};
use std::collections::BTreeSet;

fold_laws!(trace_summary: TraceSummary, any_span);
fold_laws!(service_usage: ServiceUsage, any_span);

fn span(id: &str, parent: Option<&str>) -> Span {
    Span {
        trace_id: "4bf92f3577b34da6a3ce929d0e0e4736".into(),
        span_id: id.into(),
        parent_span_id: parent.map(Into::into),
        service: "web".into(),
        name: format!("GET /{id}"),
        kind: SpanKind::Server,
        start_ns: 1_000_000,
        end_ns: 3_000_000,
        status_code: StatusCode::Unset,
        status_message: String::new(),
        attributes: std::collections::BTreeMap::new(),
        events: Vec::new(),
        links: Vec::new(),
    }
}

/// Few ids, so that one span is told in two ways, and two claim to be the root.
fn any_span(seeded: &mut Seeded) -> TraceEvent {
    let ids = ["00f067aa0ba902b7", "b9c7c989f97918e1", "d1e2f3a4b5c6d7e8"];
    let parent = seeded.one_in(2).then(|| seeded.pick(&ids));
    let mut span = span(seeded.pick(&ids), parent);
    span.service = seeded.pick(&["web", "shop", "model"]).into();
    span.start_ns = seeded.below(10) * 1_000_000;
    span.end_ns = seeded.below(10) * 1_000_000;
    span.status_code = seeded.pick(&[StatusCode::Unset, StatusCode::Ok, StatusCode::Error]);
    if seeded.one_in(2) {
        let operation = seeded.pick(&["chat", "execute_tool"]);
        span.attributes
            .insert("gen_ai.operation.name".into(), operation.into());
        span.attributes
            .insert("gen_ai.usage.input_tokens".into(), seeded.below(1_000).into());
    }
    span.into()
}

#[test]
fn the_root_is_the_smallest_of_those_that_claim_it() {
    let spans = ["d1e2f3a4b5c6d7e8", "00f067aa0ba902b7"].map(|id| TraceEvent::from(span(id, None)));
    let summary = fold::<TraceSummary>().given(spans).state();
    let root = Root {
        span_id: "00f067aa0ba902b7".into(),
        name: "GET /00f067aa0ba902b7".into(),
    };
    assert_eq!(summary.root, Some(root));
    assert_eq!(summary.services, BTreeSet::from(["web".to_owned()]));
}

#[test]
fn a_failed_span_counts_for_its_service_and_shows_in_its_row() {
    let mut failed = span("00f067aa0ba902b7", None);
    failed.status_code = StatusCode::Error;
    assert_eq!(occurred_at(&failed), Millis(1));
    fold::<ServiceUsage>()
        .given([TraceEvent::from(failed.clone())])
        .then_state(Usage {
            spans: 1,
            errors: 1,
            tokens: 0,
        });
    let row = SpanRow {
        span_id: failed.span_id.clone(),
        parent_span_id: None,
        service: "web".into(),
        name: failed.name.clone(),
        kind: SpanKind::Server,
        start_ns: 1_000_000,
        end_ns: 3_000_000,
        error: true,
    };
    map::<Spans>()
        .given([TraceEvent::from(failed)])
        .then_records([Some(row)]);
}
