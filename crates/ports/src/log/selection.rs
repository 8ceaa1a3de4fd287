//! Choosing events.
use foldwright_domain::{EventId, Millis, StreamKey, TenantId};
use std::{ops::Range, sync::Arc};

/// Which events of one tenant. Empty lists select everything.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Selection {
    /// Whose events. Always exactly one tenant.
    pub tenant: TenantId,
    /// Only these aggregate types.
    pub aggregate_types: Vec<Arc<str>>,
    /// Only these event types.
    pub event_types: Vec<Arc<str>>,
    /// Only events whose business time is in this range.
    pub occurred: Option<Range<Millis>>,
}

impl Selection {
    /// All events of a tenant.
    #[must_use]
    pub fn all(tenant: TenantId) -> Self {
        Self {
            tenant,
            aggregate_types: Vec::new(),
            event_types: Vec::new(),
            occurred: None,
        }
    }
}

/// One event of one stream.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct EventRef {
    /// The stream it stands in.
    pub stream: StreamKey,
    /// Its id.
    pub id: EventId,
}

/// What retention removes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Retention {
    /// Whose events.
    pub tenant: TenantId,
    /// Only these aggregate types; empty means all.
    pub aggregate_types: Vec<Arc<str>>,
    /// Events accepted before this instant go.
    pub accepted_before: Millis,
}
