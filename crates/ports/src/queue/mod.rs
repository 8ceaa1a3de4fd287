//! The group queue.
mod admin;
mod capabilities;
mod group_id;
mod group_queue;
mod job;
mod job_id;
mod ladder;
mod lease;
mod outcome;
mod route;
mod settings;
mod tokens;

pub use admin::{BlockedGroup, DeadLetter, Depth, GroupView, QueueAdmin};
pub use capabilities::{Capabilities, Capability, Want};
pub use group_id::GroupId;
pub use group_queue::{GroupQueue, Held, Reaped, Settled, StageRefused, Staged};
pub use job::{Body, Context, Dedup, NewJob};
pub use job_id::JobId;
pub use ladder::Ladder;
pub use lease::{HandedJob, Lease, LeaseEnd, LeaseRef};
pub use outcome::{Answer, Outcome, Rest, Settlement, Verdict};
pub use route::{Route, RouteError};
pub use settings::QueueSettings;
pub use tokens::{Fence, Nonce, WorkerId};
