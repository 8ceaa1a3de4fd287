//! Leases that live on or run out.
use super::{State, group::LeaseKind, settle::Standing};
use foldwright_ports::{LeaseEnd, LeaseRef, Reaped, Verdict};
use std::time::Duration;

impl State {
    pub(in crate::queue) fn extend(&mut self, leases: &[LeaseRef], lease: Duration) -> Vec<Verdict> {
        let until = self.now.plus(lease);
        let mut extend = |named: &LeaseRef| {
            let Standing::Live(no) = self.standing(named) else {
                return Verdict::Lost;
            };
            if let Some(live) = self.groups.get_mut(no).and_then(|group| group.lease.as_mut()) {
                self.deadlines.remove(&(live.until, live.fence));
                self.deadlines.insert((until, live.fence));
                live.until = until;
            }
            Verdict::Applied
        };
        leases.iter().map(&mut extend).collect()
    }

    pub(in crate::queue) fn reap(&mut self, limit: usize) -> Reaped {
        // Before this call's own findings: between a silence that is noted and a death lies at least one reap.
        let (deaths, mut poisoned) = self.confirm_deaths();
        let mut lapsed = 0;
        while lapsed < limit
            && let Some((until, fence)) = self.deadlines.first().copied()
            && until <= self.now
        {
            self.deadlines.remove(&(until, fence));
            let Some(no) = self.leases.get(&fence).copied() else {
                continue;
            };
            if let Some(live) = self.end_lease(no) {
                lapsed += 1;
                if live.kind != LeaseKind::Hold {
                    if let Some(group) = self.groups.get_mut(no) {
                        group.previous = LeaseEnd::Lapsed;
                    }
                    self.suspect(live.worker, no);
                }
                self.give_back(no, live.jobs.into_iter());
                poisoned += usize::from(self.quarantine_if_deadly(no));
                self.tidy(no);
            }
        }
        self.forget_workers();
        self.forget_troubles();
        Reaped {
            lapsed,
            deaths,
            poisoned,
        }
    }
}
