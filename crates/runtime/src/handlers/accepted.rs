//! A command as its handler takes it out of the queue, and the events that it makes of it.
use super::Failure;
use crate::{
    catch::caught,
    context::Context,
    wire::{CommandAnswer, CommandBody, Header, MAX_BODY_BYTES, TooLarge, Wish},
};
use foldwright_domain::{
    Aggregate, Batch, BatchError, Command, CommandId, EncodeError, Event, EventId, Identity, Intent, Meta,
    Origin, RawEvent, Recorded, Rejected, StreamKey,
};
use foldwright_ports::{Answer, HandedJob, JobId, Lease};

/// A command that was read from its job.
pub(super) struct Accepted<C> {
    pub(super) job: JobId,
    pub(super) body: CommandBody,
    pub(super) intent: Intent<C>,
    /// Whether its answer is kept whatever it is.
    asked: bool,
}

impl<C: Command> Accepted<C> {
    /// Reads the command of a job.
    pub(super) async fn read(lease: &Lease, job: &HandedJob, ctx: &Context) -> Result<Self, Failure> {
        let tenant = &lease.group.tenant;
        Header::of(job, tenant)?;
        let body = CommandBody::decode(&ctx.bodies.read(tenant, &job.body).await?)?;
        let payload: C = guarded::<C, _>(|| {
            serde_json::from_slice(&body.payload).map_err(|error| {
                Failure::retry(format!("the payload of `{}` does not decode: {error}", C::NAME))
            })
        })?;
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
        Ok(Self {
            job: job.id,
            body,
            intent,
            asked: Wish::of(job).answer,
        })
    }

    /// The stream of its aggregate.
    pub(super) fn stream(&self) -> Result<StreamKey, Failure> {
        guarded::<C, _>(|| {
            stream_of(&self.intent).map_err(|error| Failure::quarantine(format!("`{}`: {error}", C::NAME)))
        })
    }

    /// The batch of its events, with the ids that every run of it gives them.
    pub(super) fn batch(&self, events: &[<C::Of as Aggregate>::Event]) -> Result<Batch, Failure> {
        guarded::<C, _>(|| {
            batch(&self.intent, &self.body, events)
                .map_err(|error| Failure::quarantine(format!("`{}`: {error}", C::NAME)))
        })
    }

    /// Best effort: a panic in it is counted and fails nothing.
    pub(super) fn after_store(&self, ctx: &Context) {
        if let Err(message) = caught(|| C::after_store(&self.intent)) {
            ctx.counters.hooks_swallowed.add(1);
            tracing::warn!(command = C::NAME, message, "`after_store` panicked");
        }
    }

    /// The answer that nothing followed, if it is to be kept.
    pub(super) fn no_events(&self) -> Option<Answer> {
        self.asked.then(|| self.answer(&CommandAnswer::NoEvents))
    }

    /// The answer that these events are stored, if it is to be kept.
    pub(super) fn events(&self, events: &[RawEvent]) -> Option<Answer> {
        let stream = &events.first()?.meta.stream;
        self.asked.then(|| {
            self.answer(&CommandAnswer::Events {
                aggregate_type: stream.aggregate_type.clone(),
                aggregate_id: stream.id.clone(),
                events: events.iter().map(|event| event.meta.id).collect(),
                duplicate: is_of_another(self.body.id, events),
            })
        })
    }

    /// The answer that it was refused. Always kept: its sender finds it nowhere else.
    pub(super) fn rejected(&self, rejected: Rejected, ctx: &Context) -> Answer {
        ctx.counters.rejected.add(1);
        let Rejected { code, message } = rejected;
        self.answer(&CommandAnswer::Rejected {
            code: code.into_owned(),
            message,
        })
    }

    fn answer(&self, answer: &CommandAnswer) -> Answer {
        Answer {
            job: self.job,
            answer: answer.encode(),
        }
    }
}

/// Whether other commands led to some of these events.
fn is_of_another(command: CommandId, events: &[RawEvent]) -> bool {
    events.iter().any(|event| event.meta.id.command() != command)
}

/// Runs the user's code of a command. A panic anywhere in it fails this command alone.
pub(super) fn guarded<C: Command, T>(code: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
    caught(code).unwrap_or_else(|message| Err(Failure::retry(format!("`{}` panicked: {message}", C::NAME))))
}

fn stream_of<C: Command>(intent: &Intent<C>) -> Result<StreamKey, foldwright_domain::InvalidId> {
    Ok(StreamKey {
        tenant: intent.tenant.clone(),
        aggregate_type: <C::Of as Aggregate>::TYPE.as_str().into(),
        id: intent.payload.aggregate_id()?,
    })
}

/// Why a command's events cannot be appended.
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
pub(crate) fn fits(data: usize, key: Option<&str>) -> Result<(), TooLarge> {
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

fn batch<C: Command>(
    intent: &Intent<C>,
    body: &CommandBody,
    events: &[<C::Of as Aggregate>::Event],
) -> Result<Batch, BadEvents> {
    let stream = stream_of(intent)?;
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
            identity: identity(&stream, C::NAME, id, index, key.as_deref()),
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

/// What makes event `index` of a command the same fact.
pub(super) fn identity(
    stream: &StreamKey,
    command: &str,
    id: EventId,
    index: usize,
    key: Option<&str>,
) -> Identity {
    key.map_or_else(
        || Identity::of_id(id),
        |key| Identity::keyed(stream, command, index, key),
    )
}
