//! One trace as a tree with times.
use super::{SummaryLine, table::time};
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
            .map(String::as_str)
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
    let mut stack: Vec<(usize, &SpanRow)> = children
        .get(&None)
        .into_iter()
        .flatten()
        .map(|span| (0, *span))
        .collect();
    while let Some((depth, span)) = stack.pop() {
        row(out, line.start_ns, depth, span)?;
        let below = children.remove(&Some(span.span_id.as_str())).unwrap_or_default();
        stack.extend(below.into_iter().map(|child| (depth + 1, child)));
    }
    Ok(())
}

fn row(out: &mut impl Write, trace_start_ns: u64, depth: usize, span: &SpanRow) -> io::Result<()> {
    let lost = if depth == 0 && span.parent_span_id.is_some() {
        "  (parent not arrived)"
    } else {
        ""
    };
    let error = if span.error { "  ERROR" } else { "" };
    writeln!(
        out,
        "{:>10} {:>10}  {:indent$}{} · {}{error}{lost}",
        format!("+{}", time(span.start_ns.saturating_sub(trace_start_ns))),
        time(span.end_ns.saturating_sub(span.start_ns)),
        "",
        span.service,
        span.name,
        indent = depth * 2,
    )
}
