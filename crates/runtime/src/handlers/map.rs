//! Runs the jobs of one map.
use super::{
    CurrentState, Failure, Handled, Incoming, RouteHandler, SharedState, read_events, settlement,
    subscriber_jobs,
};
use crate::{
    catch::caught,
    context::Context,
    fold::aggregate_group_key,
    subscriber::{Decides, Decisions, Pending},
};
use async_trait::async_trait;
use bytes::Bytes;
use foldwright_domain::{Map, RawEvent, Recorded};
use foldwright_ports::{Lease, NewJob, Record, RecordTable, Rest, Settlement};
use std::{marker::PhantomData, sync::Arc};

/// One map with its table and its subscribers.
pub(crate) struct MapHandler<M: Map> {
    pub(crate) table: Arc<dyn RecordTable<M::Record>>,
    pub(crate) subscribers: Vec<Arc<dyn Decides<M::On, M::Record>>>,
}

/// The record of a map, for subscribers whose own is gone.
pub(crate) struct CurrentRecord<M>(pub(crate) PhantomData<fn() -> M>);

#[async_trait]
impl<M: Map> CurrentState<M::On, M::Record> for CurrentRecord<M> {
    async fn current(
        &self,
        event: &Recorded<M::On>,
        _raw: &RawEvent,
        _ctx: &Context,
    ) -> Result<Option<M::Record>, Failure> {
        caught(|| M::map(event)).map_err(|message| Failure::quarantine(format!("`map` panicked: {message}")))
    }
}

/// One event of a lease after `map`.
struct Mapped {
    /// Whether it has a record in the call to the table.
    appended: bool,
    /// The subscriber runs of its record, and the record they see.
    decided: Option<(Pending, SharedState)>,
}

/// A lease whose events are mapped.
struct Prepared {
    lease: Lease,
    mapped: Vec<Mapped>,
    rest: Rest,
}

#[async_trait]
impl<M: Map> RouteHandler for MapHandler<M> {
    async fn run(&self, leases: Vec<Lease>, _again: bool, ctx: &Context) -> Vec<Handled> {
        let mut records = Vec::new();
        let mut prepared = Vec::with_capacity(leases.len());
        for lease in leases {
            prepared.push(self.prepare(lease, &mut records, ctx).await);
        }
        let answers = if records.is_empty() {
            Vec::new()
        } else {
            self.table.append(records).await
        };
        let mut answers = answers.into_iter();
        let mut settlements = Vec::with_capacity(prepared.len());
        for one in prepared {
            settlements.push(settle(one, &mut answers, ctx).await);
        }
        settlements
    }
}

impl<M: Map> MapHandler<M> {
    async fn prepare(&self, lease: Lease, records: &mut Vec<Record<M::Record>>, ctx: &Context) -> Prepared {
        let Incoming { jobs, failure } = read_events::<M::On>(&lease, ctx).await;
        let mut rest = failure.map_or(Rest::Back, |f| f.rest());
        let mut mapped = Vec::with_capacity(jobs.len());
        for job in jobs {
            let made = caught(|| M::map(&job.event));
            match made {
                Ok(None) => mapped.push(Mapped {
                    appended: false,
                    decided: None,
                }),
                Ok(Some(record)) => match self.decide(&job.event, &record, &job.stored) {
                    Ok(decided) => {
                        records.push(row::<M>(&job.event, record));
                        mapped.push(Mapped {
                            appended: true,
                            decided,
                        });
                    }
                    Err(failure) => {
                        rest = failure.rest();
                        break;
                    }
                },
                Err(message) => {
                    rest = Rest::Quarantine {
                        error: format!("`map` panicked: {message}"),
                    };
                    break;
                }
            }
        }
        Prepared { lease, mapped, rest }
    }

    fn decide(
        &self,
        event: &Recorded<M::On>,
        record: &M::Record,
        stored: &Bytes,
    ) -> Result<Option<(Pending, SharedState)>, Failure> {
        if self.subscribers.is_empty() {
            return Ok(None);
        }
        let key = aggregate_group_key(&event.meta.stream);
        let mut decisions = Decisions::new(&self.subscribers, &key);
        decisions.decide(event, record, || stored.clone());
        let pending = decisions.into_pending();
        if pending.is_empty() {
            return Ok(None);
        }
        let key = event.meta.id.to_string();
        Ok(Some((pending, SharedState::new(M::NAME, &key, record)?)))
    }
}

fn row<M: Map>(event: &Recorded<M::On>, record: M::Record) -> Record<M::Record> {
    Record {
        stream: event.meta.stream.clone(),
        projection: M::NAME.into(),
        version: M::VERSION,
        identity: event.meta.identity,
        position: event.meta.position(),
        record,
    }
}

/// Takes a lease's events in order, up to the first whose record was refused.
async fn settle(
    Prepared {
        lease,
        mapped,
        mut rest,
    }: Prepared,
    answers: &mut impl Iterator<Item = foldwright_ports::Result<()>>,
    ctx: &Context,
) -> Handled {
    let (mut done, mut then): (usize, Vec<NewJob>) = (0, Vec::new());
    let mut failed = false;
    let mut refused = None;
    for Mapped { appended, decided } in mapped {
        // The answer is taken even behind a failure, so that the next lease finds its own.
        let answer = if appended { answers.next() } else { Some(Ok(())) };
        if failed {
            continue;
        }
        let outcome = match answer {
            Some(Ok(())) => match decided {
                Some((pending, state)) => subscriber_jobs(&lease.group.tenant, &pending, &state, ctx).await,
                None => Ok(Vec::new()),
            },
            Some(Err(error)) => {
                if done == 0 && error.is_retryable() {
                    refused = Some(error.to_string());
                }
                Err(error.into())
            }
            None => Err(Failure::retry("the table did not answer for every record")),
        };
        match outcome {
            Ok(jobs) => {
                done += 1;
                then.extend(jobs);
            }
            Err(failure) => {
                rest = failure.rest();
                failed = true;
            }
        }
    }
    let settlement = Settlement {
        then,
        ..settlement(&lease, done, rest)
    };
    Handled {
        settlement,
        refused,
        // A record that has landed is the same record again, and what follows is decided with it.
        unsure: false,
    }
}
