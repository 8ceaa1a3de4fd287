//! What the jobs of a lease mean for the row that they are applied to.
use super::{Job, Ledger, Membership};
use foldwright_domain::{Identity, Position};
use std::collections::BTreeSet;

/// A batch sorted into what it means for the row.
pub(crate) struct Batch<'a, E> {
    /// Surely not in; in canonical order, each once.
    pub(crate) fresh: Vec<&'a Job<E>>,
    /// Only the log can tell.
    pub(crate) unsure: BTreeSet<Identity>,
    /// In through a replay, their subscribers not asked yet.
    pub(crate) undecided: Vec<&'a Job<E>>,
}

impl<'a, E> Batch<'a, E> {
    /// Whether nothing of it changes the row.
    pub(crate) fn is_known(&self) -> bool {
        self.fresh.is_empty() && self.unsure.is_empty() && self.undecided.is_empty()
    }

    /// Whether an event of it lies before `last`, the canonically last one that the row holds.
    pub(crate) fn is_late(&self, last: Option<Position>) -> bool {
        let first = self.fresh.first().map(|job| job.event.meta.position());
        first.zip(last).is_some_and(|(first, last)| first < last)
    }

    /// The events that are not surely in.
    pub(crate) fn identities(&self) -> BTreeSet<Identity> {
        self.fresh
            .iter()
            .map(|job| job.event.meta.identity)
            .chain(self.unsure.iter().copied())
            .collect()
    }

    /// Sorts the jobs of a lease. Pure.
    pub(crate) fn sort(jobs: &'a [Job<E>], ledger: &Ledger) -> Self {
        let applied = ledger.applied.index();
        let mut batch = Self {
            fresh: Vec::new(),
            unsure: BTreeSet::new(),
            undecided: Vec::new(),
        };
        let mut seen = BTreeSet::new();
        for job in jobs {
            let identity = job.event.meta.identity;
            if !seen.insert(identity) {
                continue;
            }
            match applied.contains(&identity) {
                Membership::No => batch.fresh.push(job),
                Membership::Unsure => {
                    batch.unsure.insert(identity);
                }
                Membership::Yes if ledger.undecided.contains(&identity) => batch.undecided.push(job),
                Membership::Yes => {}
            }
        }
        batch
            .fresh
            .sort_by_key(|job| -> Position { job.event.meta.position() });
        batch
    }
}
