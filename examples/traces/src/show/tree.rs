//! One trace as a tree with times.
use super::{
    SummaryLine,
    table::{plain, time},
};
use crate::spans::SpanRow;
use std::{
    collections::{BTreeMap, BTreeSet},
    io,
    io::Write,
};

/// Spans below their parents, brothers by start. A span whose parent has not arrived stands at the top, marked.
pub(super) fn write(out: &mut impl Write, line: &SummaryLine, spans: &[SpanRow]) -> io::Result<()> {
    writeln!(
        out,
        "{} {}: {} spans, {} errors, {} in {}",
        line.tenant,
        line.trace_id,
        line.span_count,
        line.error_count,
        time(line.end_ns.saturating_sub(line.start_ns)),
        line.services
            .iter()
            .map(|service| plain(service))
            .collect::<Vec<_>>()
            .join(", "),
    )?;
    let known: BTreeSet<&str> = spans.iter().map(|span| span.span_id.as_str()).collect();
    let mut children: BTreeMap<Option<&str>, Vec<&SpanRow>> = BTreeMap::new();
    for span in spans {
        let parent = span
            .parent_span_id
            .as_deref()
            .filter(|parent| known.contains(parent) && *parent != span.span_id);
        children.entry(parent).or_default().push(span);
    }
    for brothers in children.values_mut() {
        brothers.sort_by_key(|span| (std::cmp::Reverse(span.start_ns), std::cmp::Reverse(&span.span_id)));
    }
    // Deep traces are common, so the tree is walked with a stack of its own.
    let tops = children.remove(&None).unwrap_or_default();
    let mut stack: Vec<(usize, &SpanRow)> = tops.into_iter().map(|span| (0, span)).collect();
    while let Some((depth, span)) = stack.pop() {
        let mark = if depth == 0 && span.parent_span_id.is_some() {
            "  (parent not arrived)"
        } else {
            ""
        };
        row(out, line.start_ns, depth, span, mark)?;
        let below = children.remove(&Some(span.span_id.as_str())).unwrap_or_default();
        stack.extend(below.into_iter().map(|child| (depth + 1, child)));
    }
    // What is left hangs below no top: its parents form a circle.
    for span in children.into_values().flatten() {
        row(out, line.start_ns, 0, span, "  (its parents form a circle)")?;
    }
    Ok(())
}

fn row(
    out: &mut impl Write,
    trace_start_ns: u64,
    depth: usize,
    span: &SpanRow,
    mark: &str,
) -> io::Result<()> {
    let error = if span.error { "  ERROR" } else { "" };
    writeln!(
        out,
        "{:>10} {:>10}  {:indent$}{} · {}{error}{mark}",
        format!("+{}", time(span.start_ns.saturating_sub(trace_start_ns))),
        time(span.end_ns.saturating_sub(span.start_ns)),
        "",
        plain(&span.service),
        plain(&span.name),
        indent = depth * 2,
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{otlp::SpanKind, trace_summary::TraceSummary};
    use foldwright::prelude::*;

    fn span(id: &str, parent: Option<&str>, start_ns: u64) -> SpanRow {
        SpanRow {
            span_id: id.into(),
            parent_span_id: parent.map(Into::into),
            service: "s".into(),
            name: format!("name {id}"),
            kind: SpanKind::Internal,
            start_ns,
            end_ns: start_ns + 1,
            error: false,
        }
    }

    /// M-01: every span is drawn once, whatever its parent says.
    #[test]
    fn every_span_is_drawn() {
        let spans = [
            span("a", None, 0),
            span("b", Some("a"), 1),
            span("c", Some("gone"), 2),
            span("d", Some("e"), 3),
            span("e", Some("d"), 4),
            span("f", Some("f"), 5),
        ];
        let tenant = TenantId::parse("t").unwrap();
        let mut out = Vec::new();
        write(
            &mut out,
            &SummaryLine::new(&tenant, "trace", TraceSummary::init()),
            &spans,
        )
        .unwrap();
        let text = String::from_utf8(out).unwrap();
        for id in ["a", "b", "c", "d", "e", "f"] {
            assert_eq!(text.matches(&format!("name {id}")).count(), 1, "{text}");
        }
        assert_eq!(text.matches("parents form a circle").count(), 2, "{text}");
    }
}
