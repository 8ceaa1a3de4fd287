//! What is known of each trace.
use crate::span_recorded::{GenAi, TraceEvent};
use foldwright::prelude::*;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// The summary of one trace so far.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Summary {
    /// The ids of its spans.
    pub span_ids: BTreeSet<String>,
    /// Spans that ended in an error.
    pub errors: u64,
    /// The services that took part.
    pub services: BTreeSet<String>,
    /// The span without a parent, once it has arrived.
    pub root: Option<Root>,
    /// Its earliest start, in ns since 1970.
    pub start_ns: u64,
    /// Its latest end, in ns since 1970.
    pub end_ns: u64,
    /// Tokens that went into models.
    pub input_tokens: u64,
    /// Tokens that came out of models.
    pub output_tokens: u64,
    /// Spans of the operation `chat`.
    pub llm_calls: u64,
    /// Spans of the operation `execute_tool`.
    pub tool_calls: u64,
}

/// The span without a parent. Of two, the one with the smaller id counts, so that their order does not matter.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct Root {
    /// Its id.
    pub span_id: String,
    /// Its name.
    pub name: String,
}

/// Folds the spans of a trace into its summary.
pub enum TraceSummary {}

impl Fold for TraceSummary {
    type On = TraceEvent;
    type State = Summary;
    type Order = Commutative;
    const NAME: &'static str = "trace_summary";
    const VERSION: u32 = 1;

    fn init() -> Summary {
        Summary {
            span_ids: BTreeSet::new(),
            errors: 0,
            services: BTreeSet::new(),
            root: None,
            start_ns: u64::MAX,
            end_ns: 0,
            input_tokens: 0,
            output_tokens: 0,
            llm_calls: 0,
            tool_calls: 0,
        }
    }

    fn apply(mut summary: Summary, event: &Recorded<TraceEvent>) -> Summary {
        match &event.data {
            TraceEvent::SpanRecorded(span) => {
                let ai = GenAi::of(span);
                summary.span_ids.insert(span.span_id.clone());
                summary.errors += u64::from(span.is_error());
                summary.services.insert(span.service.clone());
                if span.is_root() {
                    let root = Root {
                        span_id: span.span_id.clone(),
                        name: span.name.clone(),
                    };
                    summary.root = Some(summary.root.map_or(root.clone(), |known| known.min(root)));
                }
                summary.start_ns = summary.start_ns.min(span.start_ns);
                summary.end_ns = summary.end_ns.max(span.end_ns);
                summary.input_tokens = summary.input_tokens.saturating_add(ai.input_tokens);
                summary.output_tokens = summary.output_tokens.saturating_add(ai.output_tokens);
                summary.llm_calls += u64::from(ai.operation == Some("chat"));
                summary.tool_calls += u64::from(ai.operation == Some("execute_tool"));
                summary
            }
        }
    }
}
