//! What one tenant may take.
use foldwright_domain::TenantId;

/// A tenant's part of a queue. Without limits of its own a tenant has the default.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TenantLimits {
    /// Its weight against other tenants, 1 to [`MAX_WEIGHT`](Self::MAX_WEIGHT); default 1.
    pub weight: u32,
    /// At most this many of its groups in flight, in one shard; default none. At least 1.
    pub cap: Option<u32>,
    /// Replaces [`QueueBounds::tenant_jobs`](crate::QueueBounds).
    pub jobs: Option<u64>,
    /// Replaces [`QueueBounds::tenant_bytes`](crate::QueueBounds).
    pub bytes: Option<u64>,
}

impl TenantLimits {
    /// The highest weight.
    pub const MAX_WEIGHT: u32 = 1_000;

    /// What is wrong with them, if anything.
    #[must_use]
    pub fn fault(&self) -> Option<String> {
        if !(1..=Self::MAX_WEIGHT).contains(&self.weight) {
            return Some(format!(
                "a tenant's weight is 1 to {}, not {}",
                Self::MAX_WEIGHT,
                self.weight
            ));
        }
        (self.cap == Some(0)).then(|| "a cap is at least 1: pause a tenant to stop it".to_owned())
    }
}

impl Default for TenantLimits {
    fn default() -> Self {
        Self {
            weight: 1,
            cap: None,
            jobs: None,
            bytes: None,
        }
    }
}

/// A tenant as the queue sees it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TenantView {
    /// Who.
    pub tenant: TenantId,
    /// As they were set, or the default.
    pub limits: TenantLimits,
    /// Its groups under a lease that has neither been settled nor reaped; holds do not count.
    pub in_flight: u64,
    /// Its jobs: waiting, leased or blocked.
    pub jobs: u64,
    /// The stored bytes they carry.
    pub bytes: u64,
    /// Whether it is at its cap: its other groups are parked.
    pub capped: bool,
}
