//! Handing spans to the kernel, for files and for HTTP alike.
use crate::{
    otlp::{FaultySpan, Span},
    span_recorded::{RecordSpan, occurred_at},
};
use foldwright::{Kernel, MAX_FUTURE, SendError, SendRefused, prelude::*};

/// A span on its way to the kernel.
pub type SpanIntent = Intent<Declared<RecordSpan>>;

/// How many spans one call to the kernel sends.
pub const SPANS_PER_SEND: usize = 1_000;

/// A span that the kernel will never take, so that sending it again is of no use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefusedSpan {
    /// Its trace.
    pub trace_id: String,
    /// Its id.
    pub span_id: String,
    /// Why.
    pub reason: String,
}

impl From<FaultySpan> for RefusedSpan {
    fn from(faulty: FaultySpan) -> Self {
        Self {
            trace_id: faulty.trace_id,
            span_id: faulty.span_id,
            reason: faulty.error.to_string(),
        }
    }
}

impl RefusedSpan {
    fn new(intent: &SpanIntent, reason: String) -> Self {
        Self {
            trace_id: intent.payload.0.trace_id.clone(),
            span_id: intent.payload.0.span_id.clone(),
            reason,
        }
    }
}

/// What a span is to the kernel.
#[must_use]
pub fn intent(tenant: &TenantId, span: Span) -> SpanIntent {
    Intent::new(tenant.clone(), occurred_at(&span), Declared(span))
}

/// Makes spans durable in the queue, and sets those apart that are refused for what they are.
///
/// Idempotency: a span that is sent again is the same fact. Cancellation: some of the spans may have been accepted;
/// send them all again.
///
/// # Errors
/// What concerns all of them, such as a store that is away or full. Some may have been accepted; send them all again.
pub async fn offer(
    kernel: &Kernel,
    now: Millis,
    intents: Vec<SpanIntent>,
) -> Result<Vec<RefusedSpan>, SendRefused> {
    let mut refused = Vec::new();
    // One span from the far future would fail its whole call, so it is not even tried.
    let latest = now.plus(MAX_FUTURE);
    let (mut good, far): (Vec<_>, Vec<_>) = intents
        .into_iter()
        .partition(|intent| intent.occurred_at <= latest);
    refused.extend(far.iter().map(|intent| {
        let ahead_ms = intent.occurred_at.0.saturating_sub(now.0);
        RefusedSpan::new(intent, SendRefused::FarFuture { ahead_ms }.to_string())
    }));
    let mut left = Vec::new();
    while good.len() > SPANS_PER_SEND {
        left.push(good.split_off(good.len() - SPANS_PER_SEND));
    }
    left.push(good);
    // What else is wrong with a span is known only by trying: halves find it.
    while let Some(part) = left.pop() {
        let Err(SendError {
            mut intents,
            refused: reason,
        }) = kernel.send_all(part).await
        else {
            continue;
        };
        if !is_of_one_span(&reason) {
            return Err(reason);
        }
        let second = intents.split_off(intents.len() / 2);
        if intents.is_empty() {
            refused.extend(second.iter().map(|one| RefusedSpan::new(one, reason.to_string())));
        } else {
            left.extend([second, intents]);
        }
    }
    Ok(refused)
}

fn is_of_one_span(reason: &SendRefused) -> bool {
    matches!(
        reason,
        SendRefused::FarFuture { .. }
            | SendRefused::AggregateId(_)
            | SendRefused::GroupKey { .. }
            | SendRefused::Encode(_)
            | SendRefused::TooLarge(_)
    )
}
