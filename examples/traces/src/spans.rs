//! A row of each span.
use crate::{otlp::SpanKind, span_recorded::TraceEvent};
use foldwright::prelude::*;
use serde::{Deserialize, Serialize};

/// What a list or a tree of spans shows.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct SpanRow {
    /// Its id.
    pub span_id: String,
    /// The span that led to it.
    pub parent_span_id: Option<String>,
    /// Who did it.
    pub service: String,
    /// What was done.
    pub name: String,
    /// On which side of a call.
    pub kind: SpanKind,
    /// In ns since 1970.
    pub start_ns: u64,
    /// In ns since 1970.
    pub end_ns: u64,
    /// Whether it ended in an error.
    pub error: bool,
}

/// Maps each span to its row.
pub enum Spans {}

impl Map for Spans {
    type On = TraceEvent;
    type Record = SpanRow;
    const NAME: &'static str = "spans";
    const VERSION: u32 = 1;

    fn map(event: &Recorded<TraceEvent>) -> Option<SpanRow> {
        match &event.data {
            TraceEvent::SpanRecorded(span) => Some(SpanRow {
                span_id: span.span_id.clone(),
                parent_span_id: span.parent_span_id.clone(),
                service: span.service.clone(),
                name: span.name.clone(),
                kind: span.kind,
                start_ns: span.start_ns,
                end_ns: span.end_ns,
                error: span.is_error(),
            }),
        }
    }
}
