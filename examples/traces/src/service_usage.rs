//! What each service did on each day.
use crate::span_recorded::{GenAi, TraceEvent};
use foldwright::prelude::*;
use serde::{Deserialize, Serialize};
use std::ops::Range;

const DAY_MS: i64 = 24 * 60 * 60 * 1_000;

/// A service on one day.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct ServiceDay {
    /// The service.
    pub service: String,
    /// Days since 1970-01-01, UTC.
    pub day: i64,
}

/// What it did.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Usage {
    /// Spans that began that day.
    pub spans: u64,
    /// Of which ended in an error.
    pub errors: u64,
    /// Tokens in and out of models.
    pub tokens: u64,
}

/// Folds the spans of all traces of a tenant by service and day.
pub enum ServiceUsage {}

impl Fold for ServiceUsage {
    type On = TraceEvent;
    type State = Usage;
    type Order = Commutative;
    const NAME: &'static str = "service_usage";
    const VERSION: u32 = 1;

    fn init() -> Usage {
        Usage::default()
    }

    fn apply(mut usage: Usage, event: &Recorded<TraceEvent>) -> Usage {
        match &event.data {
            TraceEvent::SpanRecorded(span) => {
                let ai = GenAi::of(span);
                usage.spans += 1;
                usage.errors += u64::from(span.is_error());
                let tokens = ai.input_tokens.saturating_add(ai.output_tokens);
                usage.tokens = usage.tokens.saturating_add(tokens);
                usage
            }
        }
    }
}

impl KeyedFold for ServiceUsage {
    type Key = ServiceDay;

    fn key(event: &Recorded<TraceEvent>) -> ServiceDay {
        match &event.data {
            TraceEvent::SpanRecorded(span) => ServiceDay {
                service: span.service.clone(),
                day: event.meta.occurred_at.0.div_euclid(DAY_MS),
            },
        }
    }

    fn window(key: &ServiceDay) -> Range<Millis> {
        Millis(key.day.saturating_mul(DAY_MS))..Millis(key.day.saturating_add(1).saturating_mul(DAY_MS))
    }
}
