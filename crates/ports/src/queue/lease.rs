//! Work that was handed out.
use crate::{Body, Fence, GroupId, JobId, Route};
use bytes::Bytes;
use foldwright_domain::{Millis, Position};

/// A group's live lease with the jobs it hands out: due, in order, all within the limits of the claim.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Lease {
    /// The group.
    pub group: GroupId,
    /// The token under which the holder may settle.
    pub fence: Fence,
    /// When it lapses, unless it is extended; by the store's clock.
    pub until: Millis,
    /// How the group's lease before this one ended.
    pub previous: LeaseEnd,
    /// The token up to which all leases of this group are accounted for: that of its last lease that ended
    /// [`LeaseEnd::Completed`], however many ended otherwise since. For a group that was forgotten and staged into anew,
    /// and until one of its leases completes: the last token the store had given by then, because a group is forgotten
    /// only when it is accounted for. `None` where the store had given none.
    ///
    /// A worker that stored something under an earlier lease learns here whether what follows from it was staged.
    pub completed: Option<Fence>,
    /// The number of this attempt at the first job, from 1.
    pub attempt: u32,
    /// The jobs; never empty.
    pub jobs: Vec<HandedJob>,
}

impl Lease {
    /// Its name for settling and extending.
    #[must_use]
    pub fn reference(&self) -> LeaseRef {
        LeaseRef {
            group: self.group.clone(),
            fence: self.fence,
        }
    }
}

/// Names a lease.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct LeaseRef {
    /// The group.
    pub group: GroupId,
    /// Its token.
    pub fence: Fence,
}

/// How a group's lease ended. What a lease staged while it was settled is durable; anything but `Completed` means
/// that the one before may have stored a state whose subscriber jobs were never staged.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum LeaseEnd {
    /// There was none, or its last one was completed and the empty group was forgotten since. A group whose last lease
    /// ended in another way is remembered even when it is emptied (drained, dead-lettered).
    None,
    /// Settled with at least one job done, or with all.
    Completed,
    /// Settled with nothing done: retried, quarantined, dead-lettered or deferred.
    Retried,
    /// Given back.
    Released,
    /// It ran out.
    Lapsed,
}

/// A job as a worker gets it. It stays in the store until it is settled.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HandedJob {
    /// Its identity.
    pub id: JobId,
    /// Who handles it.
    pub route: Route,
    /// Its canonical place, as it was staged.
    pub position: Option<Position>,
    /// When it was staged first, by the store's clock.
    pub staged_at: Millis,
    /// The version of the envelope format.
    pub format: u8,
    /// As it was staged.
    pub header: Bytes,
    /// As it was staged.
    pub body: Body,
    /// As it was staged.
    pub context: Option<Body>,
}
