//! A job's identity.
use crate::Route;
use foldwright_domain::{CommandId, EventId};
use sha2::{Digest, Sha256};
use std::fmt;

/// 16 bytes of the command or event that the job is about, then 8 bytes of the route's hash.
///
/// Unique within a tenant: the same id in two tenants names two jobs. The same on first staging, retry, quarantine and requeue: neither the attempt nor the time of staging is in it.
/// The leading id is roughly ascending, which keeps an index on job ids local.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct JobId(pub [u8; 24]);

impl JobId {
    /// The job that runs a command.
    #[must_use]
    pub fn of_command(command: CommandId, route: &Route) -> Self {
        Self::new(command.as_u128(), route)
    }

    /// The job that brings an event to a projection, or to a projection's subscriber.
    #[must_use]
    pub fn of_event(event: EventId, route: &Route) -> Self {
        Self::new(event.as_u128(), route)
    }

    fn new(source: u128, route: &Route) -> Self {
        let mut bytes = [0; 24];
        let digest = Sha256::digest(route.as_str().as_bytes());
        for (to, from) in bytes
            .iter_mut()
            .zip(source.to_be_bytes().iter().chain(digest.iter()))
        {
            *to = *from;
        }
        Self(bytes)
    }

    /// 64 bits that differ between jobs; spreads retry jitter without a source of randomness.
    #[must_use]
    pub fn salt(&self) -> u64 {
        self.0.iter().fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
            (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
        })
    }
}

impl fmt::Display for JobId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for JobId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}
