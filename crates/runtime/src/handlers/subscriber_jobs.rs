//! From decided subscriber jobs to jobs of the queue.
use super::Failure;
use crate::{
    context::Context,
    encoded::encode_json,
    subscriber::{Merge, Pending, PendingJob},
    wire::{Content, Header, Subject, decode_event},
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

/// The jobs of decided runs, for the settlement of the lease that decided them.
pub(crate) async fn subscriber_jobs(
    tenant: &TenantId,
    pending: &Pending,
    state: &SharedState,
    ctx: &Context,
) -> Result<Vec<NewJob>, Failure> {
    let jobs = jobs(tenant, pending, state, ctx).await?;
    pending.staged();
    Ok(jobs)
}

/// The jobs of decided runs, with the stored state as their context. The state they share is stored once.
async fn jobs(
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
        let time = Duration::from_millis(decided.delay_ms);
        let dedup = |window| Dedup {
            ttl: time,
            window,
            replace: true,
        };
        let (delay, dedup) = match decided.merge {
            Merge::Never => (time, None),
            Merge::Sliding => (time, Some(dedup(MergeWindow::Sliding))),
            Merge::Throttled => (Duration::ZERO, Some(dedup(MergeWindow::Throttled))),
        };
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
            dedup,
            format: ctx.format,
            header: header.encode(ctx.format).into(),
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
    let jobs = jobs(tenant, pending, state, ctx).await?;
    let routes: Vec<_> = jobs.iter().map(|job| job.route.clone()).collect();
    let staged = ctx.ports.queue.stage(ctx.ids.nonce(), jobs, Room::Lease).await;
    ctx.counters.staged(&staged.map_err(|refused| refused.error)?);
    for route in routes {
        if let Some(counts) = ctx.subscribers.get(&route) {
            counts.restaged.add(1);
        }
    }
    Ok(())
}
