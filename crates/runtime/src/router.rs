//! From stored events to the jobs of the projections that read them.
use crate::{
    fold::KeyError,
    wire::{Bodies, BodyError, Content, Header, Subject, Written},
};
use bytes::Bytes;
use foldwright_domain::RawEvent;
use foldwright_ports::{GroupId, JobId, NewJob, Route};
use std::{collections::BTreeMap, sync::Arc, time::Duration};

/// A projection as the router sees it.
pub(crate) trait Projects: Send + Sync + 'static {
    /// The key of the group in which this event's job runs.
    fn group_key(&self, event: &RawEvent) -> Result<Arc<str>, KeyError>;

    /// What a job of this event carries. It is a matter of the event's type, and the same whichever projection is asked.
    fn carried(&self, event: &RawEvent) -> Bytes;
}

/// A projection that reads an event type, and its route.
type Reads = (Route, Arc<dyn Projects>);

/// Which projections read which event type.
pub(crate) struct Router {
    /// The envelope format of the jobs it makes.
    format: u8,
    by_type: BTreeMap<Arc<str>, Vec<Reads>>,
}

impl Router {
    /// One that knows no projection yet.
    pub(crate) fn new(format: u8) -> Self {
        Self {
            format,
            by_type: BTreeMap::new(),
        }
    }

    /// Brings events of these types to a projection.
    pub(crate) fn add(
        &mut self,
        event_types: impl IntoIterator<Item = &'static str>,
        route: &Route,
        projection: &Arc<dyn Projects>,
    ) {
        for event_type in event_types {
            let readers = self.by_type.entry(event_type.into()).or_default();
            readers.push((route.clone(), projection.clone()));
        }
    }

    /// One job for each event and projection that reads its type. The jobs of one event share one body.
    ///
    /// An event for which a projection has no key goes to it in a group of its own, where that projection alone fails
    /// at it: the others, and the command, are not held up.
    pub(crate) async fn follow_ups(
        &self,
        events: &[RawEvent],
        bodies: &Bodies,
    ) -> Result<Vec<NewJob>, BodyError> {
        let mut jobs = Vec::new();
        for event in events {
            let Some(readers) = self.by_type.get(&event.meta.event_type) else {
                continue;
            };
            let Some((_, first)) = readers.first() else {
                continue;
            };
            let body = bodies
                .write(&event.meta.stream.tenant, &first.carried(event))
                .await?;
            for (route, projection) in readers {
                let group_key = projection.group_key(event).unwrap_or_else(|error| {
                    tracing::warn!(%route, event = %event.meta.id, %error, "a projection has no key for an event");
                    format!("without key: {}", event.meta.id).into()
                });
                jobs.push(event_job(event, route, group_key, &body, self.format));
            }
        }
        Ok(jobs)
    }
}

fn event_job(event: &RawEvent, route: &Route, group_key: Arc<str>, body: &Written, format: u8) -> NewJob {
    let tenant = event.meta.stream.tenant.clone();
    let header = Header {
        route: route.as_str().into(),
        tenant: tenant.clone(),
        content: Content::Event,
        subject: Subject {
            aggregate_type: event.meta.stream.aggregate_type.clone(),
            aggregate_id: event.meta.stream.id.clone(),
            id: event.meta.id,
        },
        trace_context: event.meta.trace_context.clone(),
        body: body.info,
    };
    NewJob {
        id: JobId::of_event(event.meta.id, route),
        route: route.clone(),
        group: GroupId {
            tenant,
            path: route.path().into(),
            key: group_key,
        },
        position: Some(event.meta.position()),
        delay: Duration::ZERO,
        replace: false,
        dedup: None,
        format,
        header: header.encode(format).into(),
        body: body.body.clone(),
        context: None,
    }
}
