//! Runs the jobs of one subscriber.
use super::{CurrentState, Failure, Handled, Incoming, RouteHandler, read_events, settlement};
use crate::{
    context::Context,
    encoded::decode_json,
    fold::Job,
    subscriber::{EffectError, Subscriber},
    telemetry::effect_span,
    wire::{BodyError, decode_event},
};
use async_trait::async_trait;
use foldwright_ports::{HandedJob, Lease, Rest, Settlement};
use std::{
    sync::{Arc, atomic::Ordering},
    time::Duration,
};
use tracing::Instrument;

/// One subscriber.
pub(crate) struct SubscriberHandler<X: Subscriber> {
    pub(crate) subscriber: X,
    pub(crate) current: Arc<dyn CurrentState<X::On, X::State>>,
    /// Whether one run stands for many events.
    pub(crate) merges: bool,
}

#[async_trait]
impl<X: Subscriber> RouteHandler for SubscriberHandler<X> {
    async fn run(&self, leases: Vec<Lease>, _again: bool, ctx: &Context) -> Vec<Handled> {
        let mut settlements = Vec::with_capacity(leases.len());
        for lease in leases {
            settlements.push(self.run_lease(&lease, ctx).await.into());
        }
        settlements
    }
}

impl<X: Subscriber> SubscriberHandler<X> {
    async fn run_lease(&self, lease: &Lease, ctx: &Context) -> Settlement {
        let Incoming { jobs, failure } = read_events::<X::On>(lease, ctx).await;
        let mut done = 0;
        for (job, handed) in jobs.iter().zip(&lease.jobs) {
            // What has not begun when the worker stops is another's.
            if ctx.stopping.load(Ordering::Relaxed) {
                return settlement(lease, done, Rest::Back);
            }
            let state = match self.state(lease, handed, job, ctx).await {
                Ok(Some(state)) => state,
                Ok(None) => {
                    ctx.counters.runs_declined.add(1);
                    done += 1;
                    continue;
                }
                Err(failure) => return settlement(lease, done, failure.rest()),
            };
            let context = job.event.meta.trace_context.as_deref();
            let span = effect_span(&handed.route, context, &*ctx.propagation);
            let run = async { self.subscriber.run(&job.event, &state).await };
            match run_bounded(run.instrument(span), ctx.effect_timeout).await {
                Ok(()) => done += 1,
                Err(error) => return settlement(lease, done, rest(error)),
            }
        }
        settlement(lease, done, failure.map_or(Rest::Back, |f| f.rest()))
    }

    /// The job's own state, else the current one.
    async fn state(
        &self,
        lease: &Lease,
        handed: &HandedJob,
        job: &Job<X::On>,
        ctx: &Context,
    ) -> Result<Option<X::State>, Failure> {
        let raw = decode_event(&job.stored)?;
        // A run that stands for many events shows how things are when it starts: where it failed, waited and was passed
        // by a later one, the state that it was staged with is old by now.
        if self.merges
            && let Some(state) = self.current.stored(&raw).await?
        {
            return Ok(Some(state));
        }
        if let Some(state) = own_state(lease, handed, ctx).await? {
            return Ok(Some(state));
        }
        ctx.counters.states_missing.add(1);
        tracing::warn!(
            route = %handed.route,
            job = %handed.id,
            "the state of a run is gone or not readable by this build, it sees the current one"
        );
        self.current.current(&job.event, &raw, ctx).await
    }
}

/// A panic of the user's code fails that job like any error, also one before its future exists; and so does a run that
/// takes too long, which is dropped.
async fn run_bounded(
    run: impl Future<Output = Result<(), EffectError>>,
    limit: Duration,
) -> Result<(), EffectError> {
    match tokio::time::timeout(limit, crate::catch::catch(run)).await {
        Ok(Ok(done)) => done,
        Ok(Err(message)) => Err(EffectError::retry(format!("the subscriber panicked: {message}"))),
        Err(_) => Err(EffectError::retry(format!(
            "the subscriber did not end within {limit:?}"
        ))),
    }
}

/// The state that a job carries; `None` where it is gone, or where this build cannot read it: it may be of an older
/// version of the projection, or of a newer one.
async fn own_state<S: serde::de::DeserializeOwned>(
    lease: &Lease,
    job: &HandedJob,
    ctx: &Context,
) -> Result<Option<S>, Failure> {
    let Some(body) = &job.context else { return Ok(None) };
    match ctx.bodies.read(&lease.group.tenant, body).await {
        Ok(json) => Ok(decode_json(&json)),
        Err(BodyError::Missing { .. }) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

fn rest(error: EffectError) -> Rest {
    match error {
        EffectError::Retry { floor, message } => Rest::Retry {
            floor,
            error: message,
        },
        EffectError::Fatal { message } => Rest::Quarantine { error: message },
    }
}
