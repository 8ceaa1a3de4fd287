//! From decided subscriber jobs to jobs of the queue.
use super::Failure;
use crate::{
    context::Context,
    encoded::encode_json,
    subscriber::PendingJob,
    wire::{Content, FORMAT, Header, Subject, decode_event},
};
use bytes::Bytes;
use foldwright_domain::TenantId;
use foldwright_ports::{
    BlobHash, Context as QueueContext, Dedup, GroupId, JobId, MergeWindow, NewJob, Room, Route,
};
use std::time::Duration;

/// What the decided runs of one write see.
pub(crate) struct SharedState {
    /// The stored state or record.
    pub(crate) json: Bytes,
    /// Names it, the same for each write: of two runs that merge, the later staged one brings the newer state.
    pub(crate) of: [u8; 16],
}

impl SharedState {
    /// A state that is named by its projection and key.
    pub(crate) fn new<S: serde::Serialize>(projection: &str, key: &str, state: &S) -> Result<Self, Failure> {
        let json = encode_json(state)?;
        let BlobHash(hash) = BlobHash::of(&[projection.as_bytes(), b"/", key.as_bytes()].concat());
        let mut of = [0; 16];
        of.iter_mut().zip(hash).for_each(|(to, from)| *to = from);
        Ok(Self { json, of })
    }
}

/// The jobs of decided runs, with the stored state as their context. The state they share is stored once.
pub(crate) async fn subscriber_jobs(
    tenant: &TenantId,
    pending: &[PendingJob],
    state: &SharedState,
    ctx: &Context,
) -> Result<Vec<NewJob>, Failure> {
    let context = ctx.bodies.write(tenant, &state.json).await?;
    let mut jobs = Vec::with_capacity(pending.len());
    for decided in pending {
        let event = decode_event(&decided.event)?;
        let body = ctx.bodies.write(tenant, &decided.event).await?;
        let route = Route::parse(decided.route.clone())
            .map_err(|error| Failure::quarantine(format!("a decided subscriber job: {error}")))?;
        let header = Header {
            route: decided.route.clone(),
            tenant: tenant.clone(),
            content: Content::Effect,
            subject: Subject {
                aggregate_type: event.meta.stream.aggregate_type.clone(),
                aggregate_id: event.meta.stream.id.clone(),
                id: event.meta.id,
            },
            trace_context: event.meta.trace_context.clone(),
            body: body.info,
        };
        let delay = Duration::from_millis(decided.delay_ms);
        jobs.push(NewJob {
            id: JobId::of_event(event.meta.id, &route),
            group: GroupId {
                tenant: tenant.clone(),
                path: route.path().into(),
                key: decided.group_key.clone(),
            },
            route,
            position: Some(event.meta.position()),
            delay,
            replace: false,
            dedup: decided.merges.then_some(Dedup {
                ttl: delay,
                window: MergeWindow::Sliding,
                replace: true,
            }),
            format: FORMAT,
            header: header.encode().into(),
            body: body.body,
            context: Some(QueueContext {
                body: context.body.clone(),
                of: state.of,
            }),
        });
    }
    Ok(jobs)
}

/// Stages jobs that an earlier write decided and whose staging is unknown. Those that are there already stay.
pub(crate) async fn stage_pending(
    tenant: &TenantId,
    pending: &[PendingJob],
    state: &SharedState,
    ctx: &Context,
) -> Result<(), Failure> {
    let jobs = subscriber_jobs(tenant, pending, state, ctx).await?;
    ctx.ports
        .queue
        .stage(ctx.ids.nonce(), jobs, Room::Lease)
        .await
        .map_err(|refused| refused.error)?;
    Ok(())
}
