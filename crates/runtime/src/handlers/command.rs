//! Runs commands: intent, events, append, and the jobs that follow.
use super::{Failure, Handled, RouteHandler, settlement, stored_events::StoredEvents};
use crate::{
    catch::caught,
    context::Context,
    fold::aggregate_group_key,
    wire::{CommandAnswer, CommandBody, Header, MAX_BODY_BYTES, TooLarge},
};
use async_trait::async_trait;
use foldwright_domain::{
    Aggregate, Batch, BatchError, Command, EncodeError, Event, EventId, Identity, Intent, Meta, Origin,
    Recorded, Rejected, StreamKey, TenantId,
};
use foldwright_ports::{
    Answer, Append, AppendError, Appended, Expect, HandedJob, Lease, NewJob, Outcome, Rest, Settlement,
};
use std::marker::PhantomData;

/// One command type.
pub(crate) struct CommandHandler<C>(PhantomData<fn() -> C>);

impl<C: Command> CommandHandler<C> {
    pub(crate) fn new() -> Self {
        Self(PhantomData)
    }
}

/// A command after its handler has run.
enum Decided<C> {
    Events(Intent<C>, Batch),
    NoEvents,
    Rejected(Rejected),
}

/// What one command led to.
struct Ran {
    then: Vec<NewJob>,
    answer: Option<CommandAnswer>,
}

#[async_trait]
impl<C: Command> RouteHandler for CommandHandler<C> {
    async fn run(&self, leases: Vec<Lease>, _again: bool, ctx: &Context) -> Vec<Handled> {
        let mut decided = Vec::with_capacity(leases.len());
        for lease in &leases {
            let mut of_lease = Vec::with_capacity(lease.jobs.len());
            for job in &lease.jobs {
                of_lease.push(decide::<C>(lease, job, ctx).await);
                if matches!(of_lease.last(), Some(Err(_))) {
                    break;
                }
            }
            decided.push(of_lease);
        }
        let appends: Vec<Append> = decided
            .iter()
            .flatten()
            .filter_map(|one| match one {
                Ok(Decided::Events(_, batch)) => Some(Append {
                    batch: batch.clone(),
                    expect: Expect::Any,
                }),
                _ => None,
            })
            .collect();
        let answers = if appends.is_empty() {
            Vec::new()
        } else {
            ctx.ports.log.append(appends).await
        };
        let batches = decided.iter().flatten().filter_map(|one| match one {
            Ok(Decided::Events(_, batch)) => Some(batch),
            _ => None,
        });
        let stored = StoredEvents::load(batches.zip(&answers), ctx).await;
        let mut answers = answers.into_iter();
        let mut settlements = Vec::with_capacity(leases.len());
        for (lease, of_lease) in leases.into_iter().zip(decided) {
            let settled = settle(&lease, of_lease, &mut answers, &stored, ctx).await;
            settlements.push(Handled::by_store(settled));
        }
        settlements
    }
}

/// Takes a lease's commands in order, up to the first that failed.
async fn settle<C: Command>(
    lease: &Lease,
    decided: Vec<Result<Decided<C>, Failure>>,
    answers: &mut impl Iterator<Item = Result<Vec<Appended>, AppendError>>,
    stored: &StoredEvents,
    ctx: &Context,
) -> Settlement {
    let mut settled = settlement(lease, 0, Rest::Back);
    let mut failure = None;
    for (one, job) in decided.into_iter().zip(&lease.jobs) {
        // The answer is taken even behind a failure, so that the next lease finds its own.
        let ran = finish(one, answers, stored, ctx).await;
        if failure.is_some() {
            continue;
        }
        match ran {
            Ok(Ran { then, answer }) => {
                settled.outcome = Outcome {
                    done: settled.outcome.done + 1,
                    rest: Rest::Back,
                };
                settled.then.extend(then);
                settled.answers.extend(answer.map(|a| Answer {
                    job: job.id,
                    answer: a.encode(),
                }));
            }
            Err(cause) => failure = Some(cause),
        }
    }
    if let Some(failure) = failure {
        settled.outcome.rest = failure.rest();
    }
    settled
}

async fn finish<C: Command>(
    decided: Result<Decided<C>, Failure>,
    answers: &mut impl Iterator<Item = Result<Vec<Appended>, AppendError>>,
    stored: &StoredEvents,
    ctx: &Context,
) -> Result<Ran, Failure> {
    match decided? {
        Decided::Rejected(Rejected { code, message }) => {
            ctx.counters.rejected.add(1);
            let answer = CommandAnswer::Rejected {
                code: code.into_owned(),
                message,
            };
            Ok(Ran {
                then: Vec::new(),
                answer: Some(answer),
            })
        }
        Decided::NoEvents => Ok(Ran {
            then: Vec::new(),
            answer: None,
        }),
        Decided::Events(intent, batch) => {
            let appended = match answers.next() {
                Some(Ok(appended)) => appended,
                Some(Err(AppendError::Store(error))) => return Err(error.into()),
                Some(Err(error)) => return Err(Failure::retry(error.to_string())),
                None => return Err(Failure::retry("the log did not answer for every command")),
            };
            after_store(&intent, ctx);
            let events = stored.of(batch, &appended, ctx)?;
            let then = ctx.router.follow_ups(&events, &ctx.bodies).await?;
            Ok(Ran { then, answer: None })
        }
    }
}

/// Best effort: a panic in it is counted and fails nothing.
fn after_store<C: Command>(intent: &Intent<C>, ctx: &Context) {
    if let Err(message) = caught(|| C::after_store(intent)) {
        ctx.counters.hooks_swallowed.add(1);
        tracing::warn!(command = C::NAME, message, "`after_store` panicked");
    }
}

async fn decide<C: Command>(lease: &Lease, job: &HandedJob, ctx: &Context) -> Result<Decided<C>, Failure> {
    let tenant = &lease.group.tenant;
    Header::of(job, tenant)?;
    let body = CommandBody::decode(&ctx.bodies.read(tenant, &job.body).await?)?;
    caught(|| handle::<C>(tenant, &body))
        .unwrap_or_else(|message| Err(Failure::retry(format!("`{}` panicked: {message}", C::NAME))))
}

/// All of the user's code that a command runs before its append. A panic anywhere in it fails this command alone.
fn handle<C: Command>(tenant: &TenantId, body: &CommandBody) -> Result<Decided<C>, Failure> {
    let payload: C = serde_json::from_slice(&body.payload)
        .map_err(|error| Failure::retry(format!("the payload of `{}` does not decode: {error}", C::NAME)))?;
    let origin = Origin {
        correlation_id: body.correlation_id,
        causation_id: body.causation_id,
        trace_context: body.trace_context.clone(),
    };
    let intent = Intent {
        tenant: tenant.clone(),
        occurred_at: body.occurred_at,
        payload,
        origin,
    };
    match C::handle(&intent) {
        Err(rejected) => Ok(Decided::Rejected(rejected)),
        Ok(events) if events.is_empty() => Ok(Decided::NoEvents),
        Ok(events) => {
            let batch = batch::<C>(&intent, body, &events)
                .map_err(|error| Failure::quarantine(format!("`{}`: {error}", C::NAME)))?;
            Ok(Decided::Events(intent, batch))
        }
    }
}

/// Why a handler's events cannot be appended.
#[derive(Debug, thiserror::Error)]
enum BadEvents {
    #[error(transparent)]
    Id(#[from] foldwright_domain::InvalidId),
    #[error(transparent)]
    Encode(#[from] EncodeError),
    #[error(transparent)]
    Batch(#[from] BatchError),
    #[error(transparent)]
    TooLarge(#[from] TooLarge),
}

/// More than an event's envelope takes in its job, beside its idempotency key.
const ENVELOPE_BYTES: usize = 4 << 10;

/// What is appended must fit into the jobs that bring it to projections, or it would never reach one.
fn fits(data: usize, key: Option<&str>) -> Result<(), TooLarge> {
    let bytes = data + key.map_or(0, str::len) + ENVELOPE_BYTES;
    if bytes > MAX_BODY_BYTES {
        Err(TooLarge {
            bytes,
            limit: MAX_BODY_BYTES,
        })
    } else {
        Ok(())
    }
}

/// The events of a command, with the ids that every run of it gives them.
fn batch<C: Command>(
    intent: &Intent<C>,
    body: &CommandBody,
    events: &[<C::Of as Aggregate>::Event],
) -> Result<Batch, BadEvents> {
    let stream = StreamKey {
        tenant: intent.tenant.clone(),
        aggregate_type: <C::Of as Aggregate>::TYPE.as_str().into(),
        id: intent.payload.aggregate_id()?,
    };
    let key = intent.payload.idempotency_key();
    let mut raw = Vec::with_capacity(events.len());
    for (index, event) in events.iter().enumerate() {
        let id = body
            .id
            .event(index)
            .ok_or(BatchError::TooMany { events: events.len() })?;
        let descriptor = event.descriptor();
        let meta = Meta {
            id,
            identity: key.as_deref().map_or_else(
                || Identity::of_id(id),
                |key| Identity::keyed(&stream, C::NAME, index, key),
            ),
            stream: stream.clone(),
            event_type: descriptor.event_type.into(),
            version: descriptor.version.into(),
            occurred_at: intent.occurred_at,
            accepted_at: body.accepted_at,
            idempotency_key: key.as_deref().map(Into::into),
            correlation_id: body.correlation_id.unwrap_or(body.id),
            causation_id: body.causation_id.unwrap_or(EventId::from_u128(body.id.as_u128())),
            trace_context: body.trace_context.clone(),
        };
        let data = event.encode()?;
        fits(data.len(), key.as_deref())?;
        raw.push(Recorded {
            meta,
            data: data.into(),
        });
    }
    Ok(Batch::new(&stream, raw)?)
}

/// The key of the group that a command runs in.
pub(crate) fn command_group_key<C: Command>(stream: &StreamKey, payload: &C) -> std::sync::Arc<str> {
    match payload.group_key() {
        Some(key) => format!("{}:{key}", stream.aggregate_type).into(),
        None => aggregate_group_key(stream),
    }
}
