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
    Answer, BlockedGroup, Body, Capabilities, Capability, Context, DeadLetter, Dedup, Depth, Fence, GroupId,
    GroupQueue, GroupView, HandedJob, Held, JobId, Ladder, Lease, LeaseEnd, LeaseRef, NewJob, Nonce, Outcome,
    QueueAdmin, QueueSettings, Reaped, Rest, Route, RouteError, Settled, Settlement, StageRefused, Staged,
    Verdict, Want, WorkerId,
};
pub use set::Ports;
