//! The pure domain of Foldwright.
//!
//! Events, commands, folds and maps are plain types and plain functions. Nothing here knows a clock, a source of
//! randomness, a runtime or a store: time and ids come in as values.
//!
//! ```text
//! Intent<C> ──handle──► events ──► Recorded<E> ──apply──► fold state
//!                                       └────────map────► record
//! ```
#![forbid(unsafe_code)]

mod aggregate;
mod aggregate_id;
mod aggregate_type;
mod batch;
mod catalog;
mod command;
mod command_ids;
mod declared;
mod dispatch;
mod event_set;
mod fold;
mod identity;
mod ids;
mod keyed_fold;
mod lean;
mod map;
mod millis;
mod position;
mod recorded;
mod tenant;

pub use aggregate::{Aggregate, Key, StreamKey};
pub use aggregate_id::{AggregateId, InvalidId};
pub use aggregate_type::AggregateType;
pub use batch::{Batch, BatchError, MAX_EVENTS_PER_COMMAND};
pub use catalog::{Descriptor, catalog_is_sound, is_calendar_date, is_event_type, third_segment_is};
pub use command::{Command, Decider, Handler, Intent, Origin, Rejected};
pub use command_ids::CommandIds;
pub use declared::{Declared, Declares};
pub use dispatch::Dispatch;
pub use event_set::{DecodeError, EncodeError, Event, EventSet, EventsOf};
pub use fold::{ByOccurrence, Commutative, Fold, OrderKind};
pub use identity::Identity;
pub use ids::{CommandId, EventId};
pub use keyed_fold::KeyedFold;
pub use lean::lean_text;
pub use map::Map;
pub use millis::Millis;
pub use position::Position;
pub use recorded::{Meta, RawEvent, Recorded};
pub use tenant::{SecurityError, TenantId};

/// What the derives write refers to. No part of the API.
#[doc(hidden)]
pub mod __private {
    pub use crate::lean::thinned;
    pub use serde_json;
}
