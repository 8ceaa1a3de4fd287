//! How much a queue holds before it refuses senders.

/// Bounds on jobs that are waiting, leased or blocked, and on the stored bytes they carry. `None` is no bound.
///
/// A sender's call is refused whole when what would be there after it passes a bound, each of its jobs counted as a new
/// one. Nothing that runs under a
/// live lease is refused, and nothing is ever evicted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct QueueBounds {
    /// Jobs of one group.
    pub group_jobs: Option<u64>,
    /// Bytes of one group.
    pub group_bytes: Option<u64>,
    /// Jobs of one tenant, unless its [`TenantLimits`](crate::TenantLimits) say otherwise.
    pub tenant_jobs: Option<u64>,
    /// Bytes of one tenant, unless its [`TenantLimits`](crate::TenantLimits) say otherwise.
    pub tenant_bytes: Option<u64>,
    /// Jobs of all tenants.
    pub jobs: Option<u64>,
    /// Bytes of all tenants: the watermark. From three quarters of it on, a tenant that would hold more than
    /// `bytes / tenants with jobs` is refused, so that the others can still send. Default 8 GiB.
    pub bytes: Option<u64>,
}

impl QueueBounds {
    /// No bound at all.
    pub const NONE: Self = Self {
        group_jobs: None,
        group_bytes: None,
        tenant_jobs: None,
        tenant_bytes: None,
        jobs: None,
        bytes: None,
    };

    /// The byte share of each of `tenants` once the watermark is near at `bytes` held in all; `None` while it is not.
    #[must_use]
    pub fn byte_share(&self, bytes: u64, tenants: u64) -> Option<u64> {
        let watermark = self.bytes?;
        let near = watermark / 4 * 3;
        (bytes > near).then(|| watermark / tenants.max(1))
    }
}

impl Default for QueueBounds {
    fn default() -> Self {
        Self {
            bytes: Some(8 << 30),
            ..Self::NONE
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_count_only_near_the_watermark() {
        let bounds = QueueBounds {
            bytes: Some(1_000),
            ..QueueBounds::NONE
        };
        assert_eq!(bounds.byte_share(750, 4), None);
        assert_eq!(bounds.byte_share(751, 4), Some(250));
        assert_eq!(bounds.byte_share(751, 0), Some(1_000));
        assert_eq!(QueueBounds::NONE.byte_share(u64::MAX, 4), None);
    }
}
