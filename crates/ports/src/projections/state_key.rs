//! Naming and versioning a fold's state.
use crate::Fence;
use foldwright_domain::TenantId;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// The state of one fold for one aggregate or key.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct StateKey {
    /// Whose state.
    pub tenant: TenantId,
    /// The fold's name.
    pub projection: Arc<str>,
    /// The aggregate id, or the JSON of a keyed fold's key.
    pub key: Arc<str>,
}

/// Which write of a state is the newer one: by fencing token, then by the number of the write under that token.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct Revision {
    /// The token of the lease that wrote.
    pub fence: Fence,
    /// Counts the writes under one token, from 1.
    pub write: u32,
}
