//! Proving the indexes right on the live state.
use super::{
    State,
    group::{Group, Listing},
    list::{of_number, to_number},
    no::No,
    ready::Move,
};
use foldwright_ports::{Checked, Cursor, Result, Violation};

impl State {
    pub(in crate::queue) fn prove(&mut self, from: Option<&Cursor>, groups: usize) -> Result<Checked> {
        let from = from.map(|cursor| to_number(cursor, "check")).transpose()?;
        let mut page: Vec<_> = self
            .groups
            .behind(from)
            .map(|(no, _)| no)
            .take(groups.max(1).saturating_add(1))
            .collect();
        let more = page.len() > groups.max(1);
        page.truncate(groups.max(1));
        let mut checked = Checked {
            groups: page.len() as u64,
            violations: Vec::new(),
            next: page.last().filter(|_| more).map(|no| of_number(*no)),
        };
        for no in page {
            let id = self.groups.get(no).map(|group| group.id.clone());
            for what in self.prove_group(no) {
                checked.violations.push(Violation {
                    group: id.clone(),
                    what: what.to_owned(),
                    repaired: true,
                });
            }
        }
        Ok(checked)
    }

    /// What was wrong with a group, and is right now: all of it follows from its jobs and its lease.
    fn prove_group(&mut self, no: No<Group>) -> Vec<&'static str> {
        let mut found = Vec::new();
        let bytes = self.bytes_of(no);
        let Some(group) = self.groups.get_mut(no) else {
            return found;
        };
        if group.bytes != bytes {
            group.bytes = bytes;
            found.push("its bytes differed from those that its jobs carry");
        }
        if let Some(live) = &group.lease {
            let named = self.leases.insert(live.fence, no) == Some(no);
            if !named | self.deadlines.insert((live.until, live.fence)) {
                found.push("its lease could not be settled or reaped");
            }
        }
        if let Some(block) = &group.block
            && !self.blocked.contains(group.tenant, block.when)
        {
            self.blocked.insert(group.tenant, block.when, no);
            found.push("it was blocked and not in the list of blocked groups");
        }
        if self.is_misplaced(no) {
            found.push("it was not listed where its jobs belong");
        }
        found
    }

    fn bytes_of(&self, no: No<Group>) -> u64 {
        let Some(group) = self.groups.get(no) else {
            return 0;
        };
        let leased = group.lease.iter().flat_map(|live| &live.jobs);
        let all = group.due.values().chain(group.delayed.values()).chain(leased);
        all.filter_map(|no| self.jobs.get(*no))
            .map(|job| job.content.stored_bytes())
            .sum()
    }

    /// Whether the indexes had a group elsewhere than where it belongs. They have it there then.
    fn is_misplaced(&mut self, no: No<Group>) -> bool {
        let Some(group) = self.groups.get_mut(no) else {
            return false;
        };
        let (tenant, said) = (group.tenant, group.listing);
        let belongs = group.list(self.now, &self.jobs);
        let ready = belongs
            .ready
            .is_none_or(|(lane, turn)| self.ready.holds(lane, tenant, turn, no));
        let timed = belongs.timer.is_none_or(|at| self.timers.contains(&(at, no)));
        if said != belongs || !ready || !timed {
            // What is not where it says is not there to be removed; what is, goes.
            if let Some((lane, turn)) = said.ready {
                self.ready.remove(lane, tenant, turn);
                self.rank_in(lane, tenant);
            }
            if let Some(at) = said.timer {
                self.timers.remove(&(at, no));
            }
            if let Some(group) = self.groups.get_mut(no) {
                group.listing = Listing::default();
            }
            self.relist(no);
            return true;
        }
        let lane = belongs.ready.map(|(lane, _)| lane);
        lane.is_some_and(|lane| self.rank_in(lane, tenant) != Move::None)
    }
}
