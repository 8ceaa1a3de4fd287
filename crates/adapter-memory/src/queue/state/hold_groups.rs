//! Leases of named groups.
use super::{
    State,
    first::{First, KeptHold, reused},
    group::{Group, LeaseKind, Live, Reservation},
    no::No,
    stage::key_fits,
};
use foldwright_ports::{GroupId, Hold, LeaseRef, Nonce, Result, WorkerId};
use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

impl State {
    pub(in crate::queue) fn hold(
        &mut self,
        nonce: Nonce,
        worker: WorkerId,
        groups: &[GroupId],
        lease: Duration,
    ) -> Result<Vec<Hold>> {
        match self.nonces.get(self.now, nonce) {
            Some(First::Held(kept)) => {
                let answers = kept.iter().zip(groups);
                return Ok(answers
                    .map(|(hold, group)| self.hold_again(hold, group))
                    .collect());
            }
            Some(_) => return Err(reused("hold")),
            None => {}
        }
        groups.iter().try_for_each(|group| key_fits(group, "hold"))?;
        let mut answers: BTreeMap<&GroupId, Hold> = BTreeMap::new();
        let mut stopped = false;
        for name in groups.iter().collect::<BTreeSet<_>>() {
            let answer = match self.held_by(worker, name) {
                Some(granted) => granted,
                None if stopped => Hold::Waiting,
                None => self.hold_or_reserve(worker, name, lease),
            };
            stopped |= !matches!(answer, Hold::Granted { .. });
            answers.insert(name, answer);
        }
        let answer = |name| answers.get(name).cloned().unwrap_or(Hold::Waiting);
        let answers: Vec<_> = groups.iter().map(answer).collect();
        let kept = answers.iter().map(KeptHold::of).collect();
        self.nonces.put(self.now, nonce, First::Held(kept));
        Ok(answers)
    }

    /// The first answer, as far as it still holds.
    fn hold_again(&self, first: &KeptHold, name: &GroupId) -> Hold {
        match first {
            KeptHold::Granted(fence) => {
                let no = self.leases.get(fence).copied();
                no.and_then(|no| self.granted(no))
                    .filter(|hold| matches!(hold, Hold::Granted { lease, .. } if lease.group == *name))
                    .unwrap_or(Hold::Waiting)
            }
            KeptHold::Reserved(until) => Hold::Reserved { until: *until },
            KeptHold::Waiting => Hold::Waiting,
        }
    }

    fn held_by(&self, worker: WorkerId, name: &GroupId) -> Option<Hold> {
        let no = self.groups.number(name)?;
        let live = self.groups.get(no)?.hold()?;
        (live.worker == worker).then(|| self.granted(no)).flatten()
    }

    /// A hold that has not lapsed, as its holder gets it.
    fn granted(&self, no: No<Group>) -> Option<Hold> {
        let group = self.groups.get(no)?;
        let live = group.hold().filter(|live| self.now < live.until)?;
        Some(Hold::Granted {
            lease: LeaseRef {
                group: group.id.clone(),
                fence: live.fence,
            },
            until: live.until,
            completed: live.completed,
        })
    }

    fn hold_or_reserve(&mut self, worker: WorkerId, name: &GroupId, lease: Duration) -> Hold {
        let (now, until) = (self.now, self.now.plus(lease));
        let tenant = self.tenants.number_or_add(&name.tenant);
        let no = self.group_or_add(name, tenant);
        let Some(group) = self.groups.get_mut(no) else {
            return Hold::Waiting;
        };
        if group
            .reservation(now)
            .is_some_and(|reserved| reserved.worker != worker)
        {
            return Hold::Waiting;
        }
        if group.lease.is_some() {
            group.reserved = Some(Reservation { worker, until });
            return Hold::Reserved { until };
        }
        let fence = self.next_fence();
        if let Some(group) = self.groups.get_mut(no) {
            group.reserved = None;
            group.lease = Some(Live {
                fence,
                worker,
                until,
                kind: LeaseKind::Hold,
                previous: group.previous,
                completed: group.completed,
                jobs: Vec::new(),
            });
        }
        self.leases.insert(fence, no);
        self.deadlines.insert((until, fence));
        self.relist(no);
        self.granted(no).unwrap_or(Hold::Waiting)
    }
}
