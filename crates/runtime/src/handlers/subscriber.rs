//! Runs the jobs of one subscriber.
use super::{Failure, Incoming, RouteHandler, read_events, settlement};
use crate::{
    catch::caught,
    context::Context,
    subscriber::{EffectError, Subscriber},
};
use async_trait::async_trait;
use foldwright_ports::{HandedJob, Lease, Rest, Settlement};

/// One subscriber.
pub(crate) struct SubscriberHandler<X> {
    pub(crate) subscriber: X,
}

#[async_trait]
impl<X: Subscriber> RouteHandler for SubscriberHandler<X> {
    async fn run(&self, leases: Vec<Lease>, ctx: &Context) -> Vec<Settlement> {
        let mut settlements = Vec::with_capacity(leases.len());
        for lease in leases {
            settlements.push(self.run_lease(&lease, ctx).await);
        }
        settlements
    }
}

impl<X: Subscriber> SubscriberHandler<X> {
    async fn run_lease(&self, lease: &Lease, ctx: &Context) -> Settlement {
        let Incoming { jobs, failure } = read_events::<X::On>(lease, ctx).await;
        let mut done = 0;
        for (job, handed) in jobs.iter().zip(&lease.jobs) {
            let state = match read_state::<X::State>(lease, handed, ctx).await {
                Ok(state) => state,
                Err(failure) => return settlement(lease, done, failure.rest()),
            };
            match run_caught(async { self.subscriber.run(&job.event, &state).await }).await {
                Ok(()) => done += 1,
                Err(error) => {
                    tracing::warn!(
                        route = %handed.route,
                        job = %handed.id,
                        attempt = lease.attempt,
                        %error,
                        "a subscriber failed"
                    );
                    return settlement(lease, done, rest(error));
                }
            }
        }
        settlement(lease, done, failure.map_or(Rest::Back, |f| f.rest()))
    }
}

/// A panic of the user's code fails that job like any error, also one before its future exists.
async fn run_caught(run: impl Future<Output = Result<(), EffectError>>) -> Result<(), EffectError> {
    crate::catch::catch(run).await.unwrap_or_else(|message| {
        Err(EffectError::retry(format!("the subscriber panicked: {message}")))
    })
}

async fn read_state<S: serde::de::DeserializeOwned>(
    lease: &Lease,
    job: &HandedJob,
    ctx: &Context,
) -> Result<S, Failure> {
    let Some(body) = &job.context else {
        return Err(Failure::retry("the job carries no state"));
    };
    let bytes = ctx.bodies.read(&lease.group.tenant, body).await?;
    caught(|| serde_json::from_slice(&bytes))
        .map_err(|message| Failure::retry(format!("reading the state of the job panicked: {message}")))?
        .map_err(|error| Failure::retry(format!("the state of the job does not decode: {error}")))
}

fn rest(error: EffectError) -> Rest {
    match error {
        EffectError::Retry { floor, message } => Rest::Retry { floor, error: message },
        EffectError::Fatal { message } => Rest::Quarantine { error: message },
    }
}
