//! Which events a state holds, by identity.
use super::filter::Filter;
use foldwright_domain::Identity;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Up to this many of the newest identities are known exactly.
pub(crate) const EXACT: usize = 4_096;
/// How many of the oldest move into the filter at a time, so that the exact list is not shifted for each event.
const MOVED_AT_ONCE: usize = 512;

/// Answers whether an event is already in a state. Never decides by time.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Applied {
    /// The newest identities, in the order in which they were applied.
    exact: Vec<Identity>,
    older: Filter,
}

/// Whether an event is in a state.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Membership {
    /// Surely.
    Yes,
    /// Surely not.
    No,
    /// Likely; only the log can tell.
    Unsure,
}

impl Applied {
    /// Remembers an event that was just applied.
    pub(crate) fn insert(&mut self, identity: Identity) {
        if self.exact.len() >= EXACT {
            for old in self.exact.drain(..MOVED_AT_ONCE) {
                self.older.insert(&old);
            }
        }
        self.exact.push(identity);
    }

    /// A view for many questions about the same state.
    pub(crate) fn index(&self) -> AppliedIndex<'_> {
        AppliedIndex {
            exact: self.exact.iter().collect(),
            older: &self.older,
        }
    }

    /// The identities that are known exactly.
    pub(crate) fn exact(&self) -> &[Identity] {
        &self.exact
    }
}

/// See [`Applied::index`].
pub(crate) struct AppliedIndex<'a> {
    exact: BTreeSet<&'a Identity>,
    older: &'a Filter,
}

impl AppliedIndex<'_> {
    /// Whether the event is in.
    pub(crate) fn contains(&self, identity: &Identity) -> Membership {
        if self.exact.contains(identity) {
            Membership::Yes
        } else if self.older.may_contain(identity) {
            Membership::Unsure
        } else {
            Membership::No
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use foldwright_domain::EventId;

    fn identity(n: usize) -> Identity {
        Identity::of_id(EventId::from_u128(n as u128))
    }

    #[test]
    fn exact_up_to_the_bound_and_unsure_beyond() {
        let mut applied = Applied::default();
        for n in 0..EXACT {
            applied.insert(identity(n));
        }
        assert_eq!(applied.index().contains(&identity(0)), Membership::Yes);
        applied.insert(identity(EXACT));
        let index = applied.index();
        assert_eq!(index.contains(&identity(0)), Membership::Unsure);
        assert_eq!(index.contains(&identity(MOVED_AT_ONCE)), Membership::Yes);
        assert_eq!(index.contains(&identity(EXACT)), Membership::Yes);
        assert_eq!(index.contains(&identity(EXACT + 1)), Membership::No);
    }
}
