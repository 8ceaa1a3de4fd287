//! Aggregates and the names of their streams.
use crate::{AggregateId, AggregateType, Event, EventsOf, TenantId};
use serde::{Deserialize, Serialize};
use std::{fmt, marker::PhantomData, sync::Arc};

/// A kind of thing whose facts form one ordered stream per instance. Usually an empty enum.
pub trait Aggregate: Send + Sync + 'static {
    /// Its name in keys, groups and event types.
    const TYPE: AggregateType;
    /// All of its events, as one enum.
    type Event: Event + EventsOf<Self>;
}

/// The everyday name of a stream: no aggregate without its tenant.
pub struct Key<A: Aggregate> {
    tenant: TenantId,
    id: AggregateId,
    _aggregate: PhantomData<fn() -> A>,
}

impl<A: Aggregate> Key<A> {
    /// Names the stream of aggregate `id` of `tenant`.
    #[must_use]
    pub fn new(tenant: TenantId, id: AggregateId) -> Self {
        Self {
            tenant,
            id,
            _aggregate: PhantomData,
        }
    }

    /// The owner.
    #[must_use]
    pub fn tenant(&self) -> &TenantId {
        &self.tenant
    }

    /// The aggregate's id.
    #[must_use]
    pub fn id(&self) -> &AggregateId {
        &self.id
    }

    /// The one place where the type goes away and its name stays.
    #[must_use]
    pub fn erase(&self) -> StreamKey {
        StreamKey {
            tenant: self.tenant.clone(),
            aggregate_type: A::TYPE.as_str().into(),
            id: self.id.clone(),
        }
    }
}

impl<A: Aggregate> Clone for Key<A> {
    fn clone(&self) -> Self {
        Self::new(self.tenant.clone(), self.id.clone())
    }
}

impl<A: Aggregate> fmt::Debug for Key<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}:{}", self.tenant, A::TYPE.as_str(), self.id)
    }
}

/// The name of a stream in the form that ports carry.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct StreamKey {
    /// The owner.
    pub tenant: TenantId,
    /// The name of the aggregate type.
    pub aggregate_type: Arc<str>,
    /// The aggregate's id.
    pub id: AggregateId,
}
