//! Running commands while they are sent, for migrations.
use super::{Answered, SendRefused, desk::answered};
use crate::{
    catch::catch, context::Context, handlers::RouteHandler, pipeline::Installed, wire::CommandAnswer,
};
use foldwright_domain::Millis;
use foldwright_ports::{Error, Fence, HandedJob, Kind, Lease, LeaseEnd, NewJob, Rest, Route, Settlement};
use std::{collections::BTreeMap, sync::Arc};

/// The handlers of a process that runs its own commands.
pub(crate) struct Inline(BTreeMap<Route, Arc<dyn RouteHandler>>);

impl Inline {
    pub(crate) fn new(routes: BTreeMap<Route, Installed>) -> Self {
        let handlers = routes
            .into_iter()
            .map(|(route, installed)| (route, installed.handler));
        Self(handlers.collect())
    }

    /// Runs a command as a worker would, under a lease that nobody gave: a command writes to the log alone, which needs
    /// none. Its answer, and the jobs that follow and are to be staged.
    pub(super) async fn run(
        &self,
        job: NewJob,
        now: Millis,
        ctx: &Context,
    ) -> Result<(Option<Answered>, Vec<NewJob>), SendRefused> {
        let handler = self
            .0
            .get(&job.route)
            .ok_or_else(|| failed("it has no handler"))?;
        let lease = lease(job, now);
        let tenant = lease.group.tenant.clone();
        let settlements = catch(handler.run(vec![lease], false, ctx))
            .await
            .map_err(failed)?;
        let settlement = settlements
            .into_iter()
            .next()
            .map(|handled| handled.settlement)
            .ok_or_else(|| failed("its handler gave no outcome"))?;
        let Settlement {
            outcome,
            answers,
            then,
            ..
        } = settlement;
        match outcome.rest {
            _ if outcome.done > 0 => {
                let answer = answers.first().map(|one| CommandAnswer::decode(&one.answer));
                Ok((
                    answer
                        .and_then(Result::ok)
                        .map(|answer| answered(answer, &tenant)),
                    then,
                ))
            }
            Rest::Defer { after } => Err(SendRefused::Store(
                Error::new(
                    Kind::Unavailable,
                    "run command",
                    "a store cannot serve it for now",
                )
                .retry_after(after),
            )),
            Rest::Retry { error, .. } | Rest::Quarantine { error } | Rest::DeadLetter { error } => {
                Err(failed(error))
            }
            Rest::Back | Rest::Release { .. } => Err(failed("it was given back")),
        }
    }
}

fn failed(error: impl Into<String>) -> SendRefused {
    SendRefused::Failed { error: error.into() }
}

fn lease(job: NewJob, now: Millis) -> Lease {
    Lease {
        group: job.group,
        fence: Fence(0),
        until: now,
        previous: LeaseEnd::None,
        completed: None,
        attempt: 1,
        jobs: vec![HandedJob {
            id: job.id,
            route: job.route,
            position: job.position,
            staged_at: now,
            format: job.format,
            header: job.header,
            body: job.body,
            context: job.context.map(|context| context.body),
        }],
    }
}
