//! The ports of Foldwright: what the runtime needs from the world.
//!
//! Every port is object safe and carries bytes; the runtime alone serialises. **One call is one transaction** and
//! nothing spans two calls or two ports. Outcomes per item are values: one refused item never fails its neighbours.
//! Every key carries its tenant, and an adapter that finds a stored row of another tenant answers
//! [`Kind::Security`] and returns nothing.
//!
//! ```text
//!            ┌────────── runtime ──────────┐
//!   stage ───┤ claim ► run ► append/store ► settle ├─── claim
//!            └──┬─────────┬──────────┬─────┘
//!        GroupQueue   EventLog   FoldStore / AppendStore / BlobStore
//! ```
//!
//! Who may implement them: anyone. An adapter is right when it passes every suite of `foldwright-conformance`.
#![forbid(unsafe_code)]

mod blobs;
mod clock;
mod error;
mod id_source;
mod log;
mod page;
mod projections;
mod queue;
mod set;

pub use blobs::{BlobEntry, BlobHash, BlobRef, BlobStore};
pub use clock::{Clock, SystemClock};
pub use error::{Error, Kind, Result};
pub use id_source::IdSource;
pub use log::{
    Append, AppendError, Appended, EventLog, EventRef, Expect, LogCapabilities, Retention, Selection,
};
pub use page::{Cursor, Limits, Page};
pub use projections::{
    AppendStore, FoldRow, FoldStore, Record, RecordTable, Revision, StateKey, StateRow, StateTable, Stored,
};
pub use queue::{
    Answer, BlockedGroup, Body, BreakerSettings, Capabilities, Capability, Checked, Closed, Context,
    DeadLetter, Dedup, Depth, Drift, Fence, Figure, Fingerprint, GroupFilter, GroupId, GroupLine, GroupQueue,
    GroupState, GroupView, HandedJob, Held, Hold, JobId, JobState, JobView, Ladder, Lease, LeaseEnd,
    LeaseRef, MergeWindow, NewJob, Nonce, Outcome, Pass, Pause, QueueAdmin, QueueBounds, QueueSettings,
    Reaped, Reason, Rest, Room, Route, RouteError, Scope, Settled, Settlement, Share, StageRefused, Staged,
    Swept, TenantLimits, TenantView, Trouble, Verb, Verdict, Violation, WARY_WAIT, Want, Why, WorkerId,
    WorkerView, normal,
};
pub use set::Ports;
