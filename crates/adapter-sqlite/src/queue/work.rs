//! What one operation of the queue has at hand.
use super::{
    counters::{Depths, Numbers},
    grants::Grants,
    groups::Groups,
};
use crate::{error::Outcome, writer::Write};

/// Groups are read once, changed in memory and written once, however many jobs of an operation touch them.
pub(super) struct Work<'a, 'w> {
    pub(super) write: &'a mut Write<'w>,
    pub(super) numbers: Numbers,
    pub(super) depths: Depths,
    pub(super) groups: Groups,
    pub(super) grants: Grants,
}

impl<'a, 'w> Work<'a, 'w> {
    pub(super) fn new(write: &'a mut Write<'w>) -> Outcome<Self> {
        Ok(Self {
            numbers: Numbers::load(write.db)?,
            depths: Depths::default(),
            groups: Groups::default(),
            grants: Grants::default(),
            write,
        })
    }

    pub(super) fn now(&self) -> i64 {
        self.write.now.0
    }

    /// Writes what was changed.
    pub(super) fn save(&mut self) -> Outcome<()> {
        self.groups.save(self.write)?;
        self.grants.save(self.write)?;
        self.depths.save(self.write)?;
        self.numbers.save(self.write.db)
    }
}
