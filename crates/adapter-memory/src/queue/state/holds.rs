//! Which bodies are held by which jobs.
use super::no::No;
use crate::keyed::Keyed;
use foldwright_domain::{Millis, TenantId};
use foldwright_ports::{BlobHash, Held};
use std::collections::BTreeSet;

/// An entry per job and never a count, so that taking or releasing twice changes nothing. A job is named by its
/// stage sequence, which is never used again.
#[derive(Default)]
pub(super) struct Holds {
    blobs: Keyed<(No<TenantId>, BlobHash), Hold>,
}

enum Hold {
    By(BTreeSet<u64>),
    Released(Millis),
}

impl Holds {
    pub(super) fn take(&mut self, tenant: No<TenantId>, hash: BlobHash, job: u64) {
        match self.blobs.get_mut(&(tenant, hash)) {
            Some(Hold::By(jobs)) => {
                jobs.insert(job);
            }
            Some(released) => *released = Hold::By(BTreeSet::from([job])),
            None => {
                self.blobs.insert((tenant, hash), Hold::By(BTreeSet::from([job])));
            }
        }
    }

    pub(super) fn release(&mut self, now: Millis, tenant: No<TenantId>, hash: BlobHash, job: u64) {
        if let Some(hold) = self.blobs.get_mut(&(tenant, hash))
            && let Hold::By(jobs) = hold
        {
            jobs.remove(&job);
            if jobs.is_empty() {
                *hold = Hold::Released(now);
            }
        }
    }

    pub(super) fn held(&self, tenant: No<TenantId>, hash: BlobHash) -> Held {
        match self.blobs.get(&(tenant, hash)) {
            Some(Hold::By(_)) => Held::Yes,
            Some(Hold::Released(at)) => Held::Released(*at),
            None => Held::Never,
        }
    }

    /// Forgets a release; a hold stays.
    pub(super) fn forget(&mut self, tenant: No<TenantId>, hash: BlobHash) {
        if matches!(self.blobs.get(&(tenant, hash)), Some(Hold::Released(_))) {
            self.blobs.remove(&(tenant, hash));
        }
    }
}
