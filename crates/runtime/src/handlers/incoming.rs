//! From a lease to typed events.
use super::Failure;
use crate::{
    context::Context,
    fold::Job,
    lean::{carried, seen},
    wire::{BodyError, Header, decode_event},
};
use bytes::Bytes;
use foldwright_domain::{EventSet, RawEvent, Recorded, SecurityError};
use foldwright_ports::{EventRef, HandedJob, Lease};

/// The readable jobs at the front of a lease, and why the next one is not.
pub(crate) struct Incoming<E> {
    pub(crate) jobs: Vec<Job<E>>,
    pub(crate) failure: Option<Failure>,
}

/// Reads the jobs of a lease, in order, up to the first that cannot be read.
pub(crate) async fn read_events<E: EventSet>(lease: &Lease, ctx: &Context) -> Incoming<E> {
    let mut jobs = Vec::with_capacity(lease.jobs.len());
    for (index, job) in lease.jobs.iter().enumerate() {
        match read_event(lease, job, ctx).await {
            Ok((event, stored)) => jobs.push(Job { index, event, stored }),
            Err(failure) => {
                return Incoming {
                    jobs,
                    failure: Some(failure),
                };
            }
        }
    }
    Incoming { jobs, failure: None }
}

async fn read_event<E: EventSet>(
    lease: &Lease,
    job: &HandedJob,
    ctx: &Context,
) -> Result<(Recorded<E>, Bytes), Failure> {
    let (raw, stored) = read_raw::<E>(lease, job, ctx).await?;
    let data = seen::<E>(&raw)
        .map_err(|message| Failure::retry(format!("reading an event panicked: {message}")))??;
    Ok((Recorded { meta: raw.meta, data }, stored))
}

/// The event of a job, from its body or, where that is gone, from the log.
async fn read_raw<E: EventSet>(
    lease: &Lease,
    job: &HandedJob,
    ctx: &Context,
) -> Result<(RawEvent, Bytes), Failure> {
    let tenant = &lease.group.tenant;
    let header = Header::of(job, tenant)?;
    let stored = match ctx.bodies.read(tenant, &job.body).await {
        Ok(stored) => stored,
        Err(BodyError::Missing { hash }) => {
            tracing::warn!(%tenant, %hash, route = %job.route, "the body of a job is gone, its event is read from the log");
            ctx.counters.bodies_missing.add(1);
            let raw = find(&header, ctx).await?;
            let stored = carried::<E>(&raw);
            return Ok((raw, stored));
        }
        Err(error) => return Err(error.into()),
    };
    let raw = decode_event(&stored)?;
    if raw.meta.stream.tenant != *tenant {
        return Err(Failure::quarantine(
            SecurityError::ForeignTenant { what: "event" }.to_string(),
        ));
    }
    Ok((raw, stored))
}

async fn find(header: &Header, ctx: &Context) -> Result<RawEvent, Failure> {
    let event = EventRef {
        stream: header.stream(),
        id: header.subject.id,
    };
    let found = ctx.ports.log.find(std::slice::from_ref(&event)).await?;
    found.into_iter().next().flatten().ok_or_else(|| {
        Failure::retry("the body of the job is gone and the log does not hold its event".to_owned())
    })
}
