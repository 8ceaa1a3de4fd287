//! Workers as the queue knows them.
use crate::{Capabilities, Route, WorkerId};
use foldwright_domain::Millis;

/// A worker's liveness record.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WorkerView {
    /// Which incarnation.
    pub worker: WorkerId,
    /// What it said it knows.
    pub capabilities: Capabilities,
    /// When its record runs out unless it beats again.
    pub until: Millis,
    /// Whether its record has run out.
    pub silent: bool,
}

impl WorkerView {
    /// Whether it lives and knows this route, as far as its record says.
    #[must_use]
    pub fn knows(&self, route: &Route) -> bool {
        !self.silent && self.capabilities.routes.contains_key(route)
    }
}
