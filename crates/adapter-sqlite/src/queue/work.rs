//! What one operation of the queue has at hand.
use super::{
    counters::{Depths, State},
    grants::Grants,
    groups::Groups,
    jobs,
    numbers::Numbers,
    record::LeasedJob,
    tenants::Tenants,
    troubles::Troubles,
};
use crate::{error::Outcome, writer::Write};

/// Groups are read once, changed in memory and written once, however many jobs of an operation touch them.
pub(super) struct Work<'a, 'w> {
    pub(super) write: &'a mut Write<'w>,
    pub(super) numbers: Numbers,
    pub(super) depths: Depths,
    pub(super) groups: Groups,
    pub(super) tenants: Tenants,
    pub(super) troubles: Troubles,
    pub(super) grants: Grants,
}

impl<'a, 'w> Work<'a, 'w> {
    pub(super) fn new(write: &'a mut Write<'w>) -> Outcome<Self> {
        Ok(Self {
            numbers: Numbers::load(write.db)?,
            depths: Depths::default(),
            groups: Groups::default(),
            tenants: Tenants::default(),
            troubles: Troubles::default(),
            grants: Grants::default(),
            write,
        })
    }

    pub(super) fn now(&self) -> i64 {
        self.write.now.0
    }

    /// A job has joined a group.
    pub(super) fn add_job(&mut self, gid: i64, route: i64, bytes: i64) -> Outcome<()> {
        let group = self.groups.entry(gid)?.touch();
        group.counts.add(route);
        group.bytes += bytes;
        let state = State::of_group(group);
        self.depths.add(route, state, 1);
        self.tenants.hold(self.write.db, group.tenant, 1, bytes)
    }

    /// A job that was in `state` leaves its group; a leased one has left `leased` before.
    pub(super) fn drop_job(&mut self, gid: i64, job: &LeasedJob, state: State) -> Outcome<()> {
        let bytes = match job.bytes {
            Some(bytes) => bytes,
            None => jobs::bytes_of(self.write.db, job.seq)?,
        };
        let group = self.groups.entry(gid)?.touch();
        group.counts.remove(job.route);
        group.bytes -= bytes;
        self.depths.add(job.route, state, -1);
        self.tenants.hold(self.write.db, group.tenant, -1, -bytes)
    }

    /// What a job carries has changed by so many bytes.
    pub(super) fn change_bytes(&mut self, gid: i64, more: i64) -> Outcome<()> {
        if more == 0 {
            return Ok(());
        }
        let group = self.groups.entry(gid)?.touch();
        group.bytes += more;
        self.tenants.hold(self.write.db, group.tenant, 0, more)
    }

    /// Writes the groups, so that they can be found in their lines.
    pub(super) fn save_groups(&mut self) -> Outcome<()> {
        self.groups.save(self.write, &mut self.tenants)
    }

    /// Writes the tenants and their lines; groups must have been saved before.
    pub(super) fn save_tenants(&mut self) -> Outcome<()> {
        self.tenants.save(self.write, &mut self.numbers)
    }

    /// Writes what was changed.
    pub(super) fn save(&mut self) -> Outcome<()> {
        self.save_groups()?;
        self.troubles.save(self.write)?;
        self.save_tenants()?;
        self.grants.save(self.write)?;
        self.depths.save(self.write)?;
        self.numbers.save(self.write.db)
    }
}
