//! What a sender gets.
use foldwright_domain::{CommandId, TenantId};
use foldwright_ports::JobId;

/// A command that is durable in the queue. Its decision comes later.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Receipt {
    /// The command's id; the ids of its events are made from it.
    pub command: CommandId,
    pub(crate) tenant: TenantId,
    pub(crate) job: JobId,
}

/// The answer of a command that led to no event. Kept for a minute.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Answered {
    /// Its handler refused it.
    Rejected(foldwright_domain::Rejected),
}
