//! Runs commands that need no state: intent, events, append, and the jobs that follow.
use super::{
    Failure, Handled, RouteHandler,
    accepted::{Accepted, guarded},
    settlement,
    stored_events::StoredEvents,
};
use crate::{context::Context, telemetry::append_spans};
use async_trait::async_trait;
use foldwright_domain::{Batch, Handler, Rejected};
use foldwright_ports::{
    Answer, Append, AppendError, Appended, Expect, HandedJob, Lease, NewJob, Outcome, Rest, Settlement,
};
use std::marker::PhantomData;

/// One command type.
pub(crate) struct CommandHandler<C>(PhantomData<fn() -> C>);

impl<C: Handler> CommandHandler<C> {
    pub(crate) fn new() -> Self {
        Self(PhantomData)
    }
}

/// A command after its handler has run.
enum Decided<C> {
    Events(Accepted<C>, Batch),
    NoEvents(Accepted<C>),
    Rejected(Accepted<C>, Rejected),
}

/// What one command led to.
struct Ran {
    then: Vec<NewJob>,
    answer: Option<Answer>,
}

#[async_trait]
impl<C: Handler> RouteHandler for CommandHandler<C> {
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
            let _spans = append_spans(&appends, &*ctx.propagation);
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
async fn settle<C: Handler>(
    lease: &Lease,
    decided: Vec<Result<Decided<C>, Failure>>,
    answers: &mut impl Iterator<Item = Result<Vec<Appended>, AppendError>>,
    stored: &StoredEvents,
    ctx: &Context,
) -> Settlement {
    let mut settled = settlement(lease, 0, Rest::Back);
    let mut failure = None;
    for one in decided {
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
                settled.answers.extend(answer);
            }
            Err(cause) => failure = Some(cause),
        }
    }
    if let Some(failure) = failure {
        settled.outcome.rest = failure.rest();
    }
    settled
}

async fn finish<C: Handler>(
    decided: Result<Decided<C>, Failure>,
    answers: &mut impl Iterator<Item = Result<Vec<Appended>, AppendError>>,
    stored: &StoredEvents,
    ctx: &Context,
) -> Result<Ran, Failure> {
    match decided? {
        Decided::Rejected(accepted, rejected) => Ok(Ran {
            then: Vec::new(),
            answer: Some(accepted.rejected(rejected, ctx)),
        }),
        Decided::NoEvents(accepted) => Ok(Ran {
            then: Vec::new(),
            answer: accepted.no_events(),
        }),
        Decided::Events(accepted, batch) => {
            let appended = match answers.next() {
                Some(Ok(appended)) => appended,
                Some(Err(AppendError::Store(error))) => return Err(error.into()),
                Some(Err(error)) => return Err(Failure::retry(error.to_string())),
                None => return Err(Failure::retry("the log did not answer for every command")),
            };
            accepted.after_store(ctx);
            let events = stored.of(batch, &appended, ctx)?;
            let then = ctx.router.follow_ups(&events, &ctx.bodies).await?;
            Ok(Ran {
                then,
                answer: accepted.events(&events),
            })
        }
    }
}

async fn decide<C: Handler>(lease: &Lease, job: &HandedJob, ctx: &Context) -> Result<Decided<C>, Failure> {
    let accepted = Accepted::<C>::read(lease, job, ctx).await?;
    match guarded::<C, _>(|| Ok(C::handle(&accepted.intent)))? {
        Err(rejected) => Ok(Decided::Rejected(accepted, rejected)),
        Ok(events) if events.is_empty() => Ok(Decided::NoEvents(accepted)),
        Ok(events) => {
            let batch = accepted.batch(&events)?;
            Ok(Decided::Events(accepted, batch))
        }
    }
}
