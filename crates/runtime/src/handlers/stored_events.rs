//! The events that the log holds where a command's own were not new.
use super::Failure;
use crate::context::Context;
use foldwright_domain::{Batch, EventId, RawEvent};
use foldwright_ports::{AppendError, Appended, EventRef};
use std::collections::{BTreeMap, BTreeSet};

/// What the log holds for the duplicates and conflicts of many commands, read in one call.
pub(super) struct StoredEvents(Result<BTreeMap<EventRef, RawEvent>, Failure>);

impl StoredEvents {
    /// Reads them. A log that cannot answer fails those commands alone that need it.
    pub(super) async fn load<'a>(
        appended: impl Iterator<Item = (&'a Batch, &'a Result<Vec<Appended>, AppendError>)>,
        ctx: &Context,
    ) -> Self {
        let mut wanted = BTreeSet::new();
        for (batch, appended) in appended {
            let appended = appended.as_deref().unwrap_or_default();
            for (event, appended) in batch.events().iter().zip(appended) {
                let stream = || batch.stream().clone();
                wanted.extend(other(event, appended).map(|id| EventRef { stream: stream(), id }));
            }
        }
        if wanted.is_empty() {
            return Self(Ok(BTreeMap::new()));
        }
        let wanted: Vec<_> = wanted.into_iter().collect();
        let found = ctx.ports.log.find(&wanted).await.map_err(Failure::from);
        Self(found.map(|found| {
            let found = wanted.into_iter().zip(found);
            found
                .filter_map(|(wanted, event)| Some((wanted, event?)))
                .collect()
        }))
    }

    /// The events that go out for a command. For a duplicate that is the *stored* event, under its own id: where it was
    /// applied nothing follows, and where its first command's jobs were lost they are made good. For a conflict too,
    /// whatever its id: a build whose handler makes other events of the same command must not bring projections what the
    /// log does not hold.
    pub(super) fn of(
        &self,
        batch: Batch,
        appended: &[Appended],
        ctx: &Context,
    ) -> Result<Vec<RawEvent>, Failure> {
        let stream = batch.stream().clone();
        let mut events = batch.into_events();
        for (event, appended) in events.iter_mut().zip(appended) {
            count(event, appended, ctx);
            let Some(id) = other(event, appended) else {
                continue;
            };
            let found = self.0.as_ref().map_err(Clone::clone)?;
            let stored = found.get(&EventRef {
                stream: stream.clone(),
                id,
            });
            *event = stored
                .cloned()
                .ok_or_else(|| Failure::retry("the log names a stored event that it does not hold"))?;
        }
        Ok(events)
    }
}

/// The stored event that stands in for this one, if it is not this one itself.
fn other(event: &RawEvent, appended: &Appended) -> Option<EventId> {
    match appended {
        Appended::Fresh => None,
        Appended::Duplicate { stored } => (*stored != event.meta.id).then_some(*stored),
        Appended::Conflict { stored } => Some(*stored),
    }
}

fn count(event: &RawEvent, appended: &Appended, ctx: &Context) {
    match appended {
        Appended::Fresh => ctx.counters.events_fresh.add(1),
        Appended::Duplicate { .. } => ctx.counters.events_duplicate.add(1),
        Appended::Conflict { stored } => {
            ctx.counters.events_conflicting.add(1);
            tracing::warn!(
                tenant = %event.meta.stream.tenant,
                event_type = %event.meta.event_type,
                event = %event.meta.id,
                %stored,
                "an event of this identity but another content is stored already; it stays"
            );
        }
    }
}
