//! Accepting commands.
use super::{Desk, Receipt};
use crate::{
    catch::caught,
    context::Context,
    handlers::fits,
    pipeline::Registered,
    telemetry::{TraceParent, send_span},
    wire::{BodyError, CommandBody, Content, Header, Subject, TooLarge, Wish},
};
use foldwright_domain::{Aggregate, Command, EventId, Intent, InvalidId, Millis, Position, StreamKey};
use foldwright_ports::{Error, GroupId, JobId, Kind, NewJob, QueueSettings};
use std::{fmt, sync::Arc, time::Duration};
use tracing::Span;

/// How far after its acceptance a command's business time may lie: 24 h. One event from further ahead would make
/// every later one of its aggregate late.
pub const MAX_FUTURE: Duration = Duration::from_secs(24 * 60 * 60);

/// The longest trace context that is passed on. A W3C `traceparent` has 55 bytes; the headers of all jobs that follow
/// must have room for it.
const MAX_TRACE_CONTEXT: usize = 256;

/// Commands that were not accepted; the intents come back. Nothing of the call was staged, unless
/// [`SendRefused::outcome_is_unknown`].
pub struct SendError<C> {
    /// As they were handed over.
    pub intents: Vec<Intent<C>>,
    /// Why.
    pub refused: SendRefused,
}

/// Never shows the payloads: they are customers' data, and errors end up in logs.
impl<C> fmt::Debug for SendError<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SendError")
            .field("intents", &self.intents.len())
            .field("refused", &self.refused)
            .finish()
    }
}

impl<C> fmt::Display for SendError<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.refused)
    }
}

impl<C> std::error::Error for SendError<C> {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.refused)
    }
}

/// Why commands were not accepted.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SendRefused {
    /// No pipeline of this kernel has the command.
    #[error("command `{command}` is not registered: add it to a pipeline of this kernel")]
    NotRegistered {
        /// Its name.
        command: &'static str,
    },
    /// Its business time is too far ahead.
    #[error(
        "the command occurred {ahead_ms} ms after now, at most 24 h are accepted: check the sender's clock"
    )]
    FarFuture {
        /// How far ahead it is, in ms.
        ahead_ms: i64,
    },
    /// It names no aggregate.
    #[error("the command's aggregate id: {0}")]
    AggregateId(#[from] InvalidId),
    /// Its group key is too long.
    #[error("a group key has at most {limit} bytes, this one has {bytes}")]
    GroupKey {
        /// Its length.
        bytes: usize,
        /// The longest one.
        limit: usize,
    },
    /// Its payload is nothing that JSON can express.
    #[error("the payload does not encode: {0}")]
    Encode(#[from] serde_json::Error),
    /// A command of this name is registered, but as another Rust type.
    #[error("command `{command}` is registered as another type: send the type that the pipeline declares")]
    OtherType {
        /// Its name.
        command: &'static str,
    },
    /// It is too large.
    #[error(transparent)]
    TooLarge(TooLarge),
    /// It was run while it was sent ([`Role::Migration`](crate::Role::Migration)) and failed.
    #[error("the command failed: {error}")]
    Failed {
        /// What went wrong.
        error: String,
    },
    /// The queue or the blob store refused. Its kind says whether to try again.
    #[error(transparent)]
    Store(#[from] Error),
}

impl SendRefused {
    /// Whether the commands may have been accepted all the same: the store did not say.
    #[must_use]
    pub fn outcome_is_unknown(&self) -> bool {
        matches!(self, Self::Store(error) if matches!(error.kind(), Kind::Unavailable | Kind::Timeout))
    }

    /// The shortest wait after which sending again makes sense, when the store named one: a queue that is full does.
    #[must_use]
    pub fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Store(error) => error.wait(),
            _ => None,
        }
    }

    /// Whether the same commands may be accepted later.
    #[must_use]
    pub fn is_retryable(&self) -> bool {
        matches!(self, Self::Store(error) if error.is_retryable())
    }
}

impl From<BodyError> for SendRefused {
    fn from(error: BodyError) -> Self {
        match error {
            BodyError::TooLarge(error) => Self::TooLarge(error),
            BodyError::Store(error) => Self::Store(error),
            // Writing a body gives no other error.
            other => Self::Store(Error::new(Kind::Invalid, "write body", other.to_string())),
        }
    }
}

/// How commands are sent.
#[derive(Clone, Copy, Debug)]
pub(super) struct How {
    /// Whether the answer is kept whatever it is.
    pub(super) asks: bool,
    /// Whether they are run by a migration.
    pub(super) migrates: bool,
}

/// The job of one command.
pub(super) async fn job<C: Command>(
    intent: &Intent<C>,
    how: How,
    desk: &Arc<Desk>,
) -> Result<(NewJob, Receipt), SendRefused> {
    let ctx = &desk.ctx;
    let Registered { route, groups, .. } = desk
        .commands
        .get(C::NAME)
        .ok_or(SendRefused::NotRegistered { command: C::NAME })?;
    let now = ctx.ports.clock.now();
    check_time(intent.occurred_at, now)?;
    let stream = StreamKey {
        tenant: intent.tenant.clone(),
        aggregate_type: <C::Of as Aggregate>::TYPE.as_str().into(),
        id: intent.payload.aggregate_id()?,
    };
    let (path, key) = groups
        .group(&stream, &intent.payload)
        .ok_or(SendRefused::OtherType { command: C::NAME })?;
    if key.len() > GroupId::MAX_KEY_BYTES {
        return Err(SendRefused::GroupKey {
            bytes: key.len(),
            limit: GroupId::MAX_KEY_BYTES,
        });
    }
    let mut id = ctx.ids.command_id(now);
    if how.migrates {
        id = id.of_migration();
    }
    let payload = serde_json::to_vec(&intent.payload)?;
    // An event says at least what its command does, where it is declared to be one. One that takes less is made from less.
    let idempotency_key = caught(|| intent.payload.idempotency_key()).unwrap_or_default();
    fits(payload.len(), idempotency_key.as_deref()).map_err(SendRefused::TooLarge)?;
    let (_span, trace_context) = begin_trace(intent, ctx);
    let body = CommandBody {
        id,
        occurred_at: intent.occurred_at,
        accepted_at: now,
        correlation_id: intent.origin.correlation_id,
        causation_id: intent.origin.causation_id,
        trace_context: trace_context.clone(),
        payload: payload.into(),
    };
    let body = ctx.bodies.write(&intent.tenant, &body.encode()).await?;
    let as_event = EventId::from_u128(id.as_u128());
    let header = Header {
        route: route.as_str().into(),
        tenant: intent.tenant.clone(),
        content: Content::Command,
        subject: Subject {
            aggregate_type: stream.aggregate_type.clone(),
            aggregate_id: stream.id.clone(),
            id: as_event,
        },
        trace_context,
        body: body.info,
    };
    let job = JobId::of_command(id, route);
    let receipt = Receipt {
        command: id,
        name: C::NAME,
        stream,
        job,
        asked: how.asks,
        inline: None,
        desk: desk.clone(),
    };
    let job = NewJob {
        id: job,
        route: route.clone(),
        group: GroupId {
            tenant: intent.tenant.clone(),
            path,
            key,
        },
        position: Some(Position {
            occurred_at: intent.occurred_at,
            id: as_event,
        }),
        delay: Duration::ZERO,
        replace: false,
        dedup: None,
        format: ctx.format,
        header: header.encode(ctx.format).into(),
        body: body.body,
        context: Wish { answer: how.asks }.context(),
    };
    if is_wild(intent.occurred_at, now, &ctx.ports.queue.settings()) {
        ctx.counters.wild_scores.add(1);
    }
    Ok((job, receipt))
}

/// Opens the span of a send: on the sender's trace, or at the beginning of a new one where spans are recorded. Answers it
/// with the context that goes with the command.
fn begin_trace<C: Command>(intent: &Intent<C>, ctx: &Context) -> (Span, Option<Arc<str>>) {
    let given = trace_context(intent);
    let span = send_span(C::NAME, given.as_deref(), &*ctx.propagation);
    if span.is_disabled() {
        return (span, given);
    }
    let context = ctx.propagation.context_of(&span).or(given).unwrap_or_else(|| {
        let first = TraceParent::first(ctx.ids.nonce().0).to_text();
        ctx.propagation.go_on(&span, &first);
        first
    });
    (span, Some(context))
}

/// A trace context that is none is left out: it may come from an attacker, and a command must not fail for it.
fn trace_context<C>(intent: &Intent<C>) -> Option<Arc<str>> {
    let context = intent.origin.trace_context.clone()?;
    if context.len() > MAX_TRACE_CONTEXT {
        tracing::warn!(tenant = %intent.tenant, bytes = context.len(), "a trace context is too long and left out");
        return None;
    }
    Some(context)
}

/// Whether it lies outside of the window to which the queue clamps scores.
fn is_wild(occurred_at: Millis, now: Millis, window: &QueueSettings) -> bool {
    occurred_at > now.plus(window.score_future) || occurred_at.plus(window.score_past) < now
}

fn check_time(occurred_at: Millis, now: Millis) -> Result<(), SendRefused> {
    if occurred_at > now.plus(MAX_FUTURE) {
        return Err(SendRefused::FarFuture {
            ahead_ms: occurred_at.0.saturating_sub(now.0),
        });
    }
    Ok(())
}
