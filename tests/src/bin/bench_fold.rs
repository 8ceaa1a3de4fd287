//! How many events a second a pure fold applies on one core: no store, no queue, no codec.
#![forbid(unsafe_code)]

use foldwright::{
    domain::{AggregateId, CommandId, EventId, Fold, Identity, Meta, Recorded, StreamKey, TenantId},
    prelude::Millis,
};
use foldwright_tests::{Report, corpus_file, median};
use foldwright_traces::{
    otlp::RequestReader,
    span_recorded::{TraceEvent, occurred_at},
    trace_summary::{Summary, TraceSummary},
};
use std::{collections::BTreeMap, error::Error, hint::black_box};
use tokio::time::Instant;

/// How often the corpus is folded; the median counts.
const ROUNDS: usize = 21;

type Failure = Box<dyn Error + Send + Sync>;

fn main() -> Result<(), Failure> {
    let traces = traces()?;
    let events: usize = traces.values().map(Vec::len).sum();
    let mut rates = Vec::with_capacity(ROUNDS);
    for _ in 0..ROUNDS {
        let started = Instant::now();
        for trace in traces.values() {
            black_box(fold(trace));
        }
        rates.push(events as f64 / started.elapsed().as_secs_f64());
    }
    Report::new("fold", "trace_summary")
        .figure("events_count", events)
        .figure("traces_count", traces.len())
        .figure("median_events_per_second", median(rates).round())
        .print();
    Ok(())
}

fn fold(trace: &[Recorded<TraceEvent>]) -> Summary {
    trace.iter().fold(TraceSummary::init(), TraceSummary::apply)
}

/// The corpus by trace, as recorded events.
fn traces() -> Result<BTreeMap<String, Vec<Recorded<TraceEvent>>>, Failure> {
    let tenant = TenantId::parse("bench")?;
    let mut traces: BTreeMap<String, Vec<Recorded<TraceEvent>>> = BTreeMap::new();
    let mut number = 0_u128;
    for request in RequestReader::open(corpus_file("traces.otlp.jsonl.gz"))? {
        for span in request? {
            number += 1 << 12;
            let id = EventId::from_u128(number);
            let meta = Meta {
                id,
                identity: Identity::of_id(id),
                stream: StreamKey {
                    tenant: tenant.clone(),
                    aggregate_type: "trace".into(),
                    id: AggregateId::parse(span.trace_id.as_str())?,
                },
                event_type: "otlp.tracing.trace.span_recorded".into(),
                version: "2025-11-30".into(),
                occurred_at: occurred_at(&span),
                accepted_at: Millis(0),
                idempotency_key: None,
                correlation_id: CommandId::from_u128(number),
                causation_id: id,
                trace_context: None,
            };
            let trace = traces.entry(span.trace_id.clone()).or_default();
            trace.push(Recorded {
                meta,
                data: TraceEvent::SpanRecorded(span),
            });
        }
    }
    Ok(traces)
}
