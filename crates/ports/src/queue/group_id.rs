//! What runs in order.
use foldwright_domain::TenantId;
use std::{fmt, sync::Arc};

/// A group: its due jobs run in order, one batch at a time. Groups run in parallel.
///
/// Written as `<tenant>/<path>/<key>` for people. A key may hold anything, so two groups may read alike; stores compare
/// the three parts, never the text.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct GroupId {
    /// Whose work.
    pub tenant: TenantId,
    /// The lane: `command/<name>`, `fold/<name>`, `map/<name>`, `fold/<parent>/subscriber/<name>` …
    pub path: Arc<str>,
    /// What is ordered within the lane: `<aggregate type>:<aggregate id>`, a group key or a dedup key. Any UTF-8 of
    /// at most 1,024 bytes.
    pub key: Arc<str>,
}

impl GroupId {
    /// The longest key in bytes.
    pub const MAX_KEY_BYTES: usize = 1_024;
}

impl fmt::Display for GroupId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}/{}", self.tenant, self.path, self.key)
    }
}
