//! What receipts ask: the queue for answers, the log for events, the folds for what they hold.
use super::Answered;
use crate::{
    context::Context,
    handlers::{AsksLedger, own_events},
    pipeline::{InstalledFold, Registered},
    wire::CommandAnswer,
};
use foldwright_domain::{CommandId, Fold, RawEvent, Rejected, StreamKey, TenantId};
use foldwright_ports::{Error, EventRef, JobId, Kind, Result};
use std::{any::TypeId, collections::BTreeMap, sync::Arc};

/// Shared by a kernel and the receipts that it gave.
pub(crate) struct Desk {
    pub(crate) ctx: Arc<Context>,
    pub(crate) commands: BTreeMap<&'static str, Registered>,
    folds: BTreeMap<&'static str, (TypeId, Arc<dyn AsksLedger>)>,
}

impl Desk {
    pub(crate) fn new(
        ctx: Arc<Context>,
        commands: BTreeMap<&'static str, Registered>,
        folds: BTreeMap<&'static str, InstalledFold>,
    ) -> Arc<Self> {
        let folds = folds
            .into_iter()
            .map(|(name, fold)| (name, (fold.of, fold.ledger)));
        Arc::new(Self {
            ctx,
            commands,
            folds: folds.collect(),
        })
    }

    /// The answer that the queue keeps.
    pub(crate) async fn kept(&self, tenant: &TenantId, job: JobId) -> Result<Option<Answered>> {
        let Some(bytes) = self.ctx.ports.queue.answer(tenant, job).await? else {
            return Ok(None);
        };
        let answer = CommandAnswer::decode(&bytes).map_err(|source| {
            Error::new(Kind::Corrupt, "answer", "the stored answer does not decode").caused_by(source)
        })?;
        Ok(Some(answered(answer, tenant)))
    }

    /// The events that a command itself led to, as the log holds them.
    pub(crate) async fn in_the_log(
        &self,
        stream: &StreamKey,
        command: CommandId,
    ) -> Result<Option<Answered>> {
        let events = own_events(stream, command, &*self.ctx.ports.log).await?;
        Ok((!events.is_empty()).then(|| {
            Answered::Events(StoredEvents {
                stream: stream.clone(),
                ids: events.into_iter().map(|event| event.meta.id).collect(),
            })
        }))
    }

    /// The events of an answer; `None` where the log no longer holds all of them.
    pub(crate) async fn events(&self, stored: &StoredEvents) -> Result<Option<Vec<RawEvent>>> {
        let wanted: Vec<_> = stored
            .ids
            .iter()
            .map(|id| EventRef {
                stream: stored.stream.clone(),
                id: *id,
            })
            .collect();
        Ok(self.ctx.ports.log.find(&wanted).await?.into_iter().collect())
    }

    /// The fold's rows; `None` for one that this kernel does not know.
    pub(crate) fn fold<F: Fold>(&self) -> Option<&dyn AsksLedger> {
        let (of, ledger) = self.folds.get(F::NAME)?;
        (*of == TypeId::of::<F>()).then_some(&**ledger)
    }
}

/// Stored events of one aggregate.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StoredEvents {
    /// The stream that holds them.
    pub stream: StreamKey,
    /// Their ids, in the order of their command.
    pub ids: Vec<foldwright_domain::EventId>,
}

/// A stored answer, of the tenant under which it was asked for.
pub(crate) fn answered(answer: CommandAnswer, tenant: &TenantId) -> Answered {
    match answer {
        CommandAnswer::Rejected { code, message } => Answered::Rejected(Rejected::new(code, message)),
        CommandAnswer::NoEvents => Answered::NoEvents,
        CommandAnswer::Events {
            aggregate_type,
            aggregate_id,
            events,
            duplicate,
        } => {
            let stored = StoredEvents {
                stream: StreamKey {
                    tenant: tenant.clone(),
                    aggregate_type,
                    id: aggregate_id,
                },
                ids: events,
            };
            if duplicate {
                Answered::Duplicate(stored)
            } else {
                Answered::Events(stored)
            }
        }
    }
}
