//! Jobs.
use super::{
    group::Group,
    no::{No, Slab},
};
use crate::keyed::Keyed;
use bytes::Bytes;
use foldwright_domain::{Millis, Position, TenantId};
use foldwright_ports::{BlobHash, Body, Context, GroupId, JobId, NewJob, Route};

/// A place in line: by score, then in the order of staging.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Place {
    pub(super) score: Millis,
    pub(super) sequence: u64,
}

/// An instant made unique by a sequence number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct When {
    pub(super) at: Millis,
    pub(super) sequence: u64,
}

impl When {
    /// Before every other.
    pub(super) const FIRST: Self = Self {
        at: Millis(i64::MIN),
        sequence: 0,
    };
}

/// A job that is not settled yet.
pub(super) struct Job {
    pub(super) id: JobId,
    pub(super) tenant: No<TenantId>,
    pub(super) route: No<Route>,
    /// Its group, as long as it is not dead: the group of a dead letter may be forgotten.
    pub(super) group: No<Group>,
    pub(super) place: Place,
    pub(super) staged_at: Millis,
    pub(super) due_at: Millis,
    /// Until when dedup jobs are merged into it; none once it was handed out.
    pub(super) window_until: Option<Millis>,
    pub(super) content: Content,
    pub(super) stand: Stand,
}

/// What a canonically later job can replace.
pub(in crate::queue) struct Content {
    pub(super) position: Option<Position>,
    pub(super) format: u8,
    pub(super) header: Bytes,
    pub(super) body: Body,
    pub(super) context: Option<Context>,
}

/// Where a job stands. Whether a waiting one is blocked is said by its group.
pub(super) enum Stand {
    Waiting,
    Leased,
    Dead(Box<Death>),
}

/// Why a job was given up.
pub(super) struct Death {
    pub(super) group: GroupId,
    pub(super) error: String,
    pub(super) when: When,
}

impl Job {
    /// When it became due, as a turn among the groups.
    pub(super) fn turn(&self) -> When {
        When {
            at: self.due_at,
            sequence: self.place.sequence,
        }
    }
}

impl Content {
    /// Whether `other` may take this one's place: later in canonical order, or later in staging where one of them
    /// has no place in it.
    pub(super) fn is_before(&self, other: Option<Position>) -> bool {
        match (self.position, other) {
            (Some(this), Some(other)) => this < other,
            _ => true,
        }
    }

    /// Takes over what a merged job carries; answers whether anything changed. Of an earlier one that is its state
    /// alone, and only where both are states of the same thing.
    pub(super) fn take_over(&mut self, new: NewJob) -> bool {
        if self.is_before(new.position) {
            *self = Self {
                position: new.position,
                format: new.format,
                header: new.header,
                body: new.body,
                context: new.context,
            };
            return true;
        }
        match (&mut self.context, new.context) {
            (Some(known), Some(newer)) if known.of == newer.of => {
                *known = newer;
                true
            }
            _ => false,
        }
    }

    pub(super) fn stored_bytes(&self) -> u64 {
        let context = self
            .context
            .as_ref()
            .map_or(0, |context| context.body.stored_bytes());
        (self.header.len() as u64)
            .saturating_add(self.body.stored_bytes())
            .saturating_add(context)
    }

    /// The blobs it lies in, each once.
    pub(super) fn blobs(&self) -> impl Iterator<Item = BlobHash> + use<> {
        let body = self.body.blob();
        let context = self.context.as_ref().and_then(|context| context.body.blob());
        body.into_iter().chain(context.filter(|hash| Some(*hash) != body))
    }
}

/// All jobs, by number and by name. A name is a tenant's: equal ids of two tenants are two jobs.
#[derive(Default)]
pub(super) struct Jobs {
    numbers: Keyed<(No<TenantId>, JobId), No<Job>>,
    rows: Slab<Job>,
}

impl Jobs {
    pub(super) fn number(&self, tenant: No<TenantId>, id: JobId) -> Option<No<Job>> {
        self.numbers.get(&(tenant, id)).copied()
    }

    pub(super) fn insert(&mut self, job: Job) -> No<Job> {
        let name = (job.tenant, job.id);
        let no = self.rows.insert(job);
        self.numbers.insert(name, no);
        no
    }

    pub(super) fn get(&self, no: No<Job>) -> Option<&Job> {
        self.rows.get(no)
    }

    pub(super) fn get_mut(&mut self, no: No<Job>) -> Option<&mut Job> {
        self.rows.get_mut(no)
    }

    pub(super) fn remove(&mut self, no: No<Job>) -> Option<Job> {
        let job = self.rows.remove(no)?;
        self.numbers.remove(&(job.tenant, job.id));
        Some(job)
    }

    pub(super) fn all(&self) -> impl Iterator<Item = (No<Job>, &Job)> {
        self.rows.behind(None)
    }
}
