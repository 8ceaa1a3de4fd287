//! Holds of named groups.
use super::state::{Ensure, Group, Live, Maybe, Model, ensure};
use foldwright_domain::Millis;
use foldwright_ports::{GroupId, Hold, LeaseEnd, LeaseRef, WorkerId};
use std::time::Duration;

impl Model {
    pub(super) fn is_reserved(&self, now: Millis, group: &GroupId) -> bool {
        let reserved = self.reserved.get(group);
        reserved.is_some_and(|(_, until)| *until > now)
    }

    fn is_held_by(&self, worker: WorkerId, group: &GroupId) -> bool {
        let lease = self.groups.get(group).and_then(|group| group.lease.as_ref());
        lease.is_some_and(|live| live.holder == Some(worker))
    }

    fn is_free_for(&self, worker: WorkerId, group: &GroupId) -> bool {
        let leased = self.groups.get(group).is_some_and(|group| group.lease.is_some());
        !leased || self.is_held_by(worker, group)
    }

    /// Whether the contract says what becomes of this hold: it does not where two wait for one group, or where
    /// one that waits has or awaits a group behind.
    pub(crate) fn hold_is_plain(&self, now: Millis, worker: WorkerId, groups: &[GroupId]) -> bool {
        let mut waits = false;
        for group in groups {
            let reserved = self.is_reserved(now, group);
            let mine = self.reserved.get(group).is_some_and(|(who, _)| *who == worker);
            if reserved && !mine || waits && (reserved || self.is_held_by(worker, group)) {
                return false;
            }
            waits |= !self.is_free_for(worker, group);
        }
        true
    }

    /// A hold of these groups, which are in their order, was answered. Answers the leases that are new.
    pub(crate) fn hold(
        &mut self,
        now: Millis,
        worker: WorkerId,
        groups: &[GroupId],
        lease: Duration,
        answers: &[Hold],
    ) -> Ensure<Vec<LeaseRef>> {
        let ends = now.plus(lease);
        let (mut waits, mut new) = (false, Vec::new());
        for (group, answer) in groups.iter().zip(answers) {
            let free = self.is_free_for(worker, group);
            match answer {
                Hold::Waiting if waits => {}
                Hold::Reserved { until } if !waits && !free => {
                    let before = self.reserved.get(group).map(|(_, until)| *until);
                    ensure(*until == ends || Some(*until) == before, || {
                        format!("hold of {group}: reserved until {until:?}")
                    })?;
                    self.reserved.insert(group.clone(), (worker, *until));
                }
                Hold::Granted {
                    lease,
                    until,
                    completed,
                } if !waits && free => {
                    let again = self.is_held_by(worker, group);
                    let state = self.group_mut(group);
                    let (low, high) = state.completed;
                    let before = state.lease.as_ref().map(|live| (live.fence, live.until));
                    ensure(
                        low <= *completed && *completed <= high.max(Some(lease.fence)),
                        || {
                            format!(
                                "hold of {group}: accounted for up to {completed:?}, not {low:?}..{high:?}"
                            )
                        },
                    )?;
                    let legal = match before {
                        Some((fence, old)) => fence == lease.fence && (*until == ends || *until == old),
                        None => *until == ends,
                    };
                    ensure(legal && lease.group == *group, || {
                        format!("hold of {group}: {answer:?} after {before:?}")
                    })?;
                    state.lease = Some(Live {
                        fence: lease.fence,
                        until: *until,
                        holder: Some(worker),
                    });
                    if !again {
                        new.push(lease.clone());
                    }
                    self.reserved.remove(group);
                }
                other => {
                    return Err(format!(
                        "hold of {group}: {other:?}; free: {free}, waits: {waits}"
                    ));
                }
            }
            waits |= !free;
        }
        let mut fences: Vec<_> = new.iter().map(|lease| lease.fence).collect();
        fences.sort_unstable();
        fences.insert(0, self.last_fence);
        ensure(fences.windows(2).all(|pair| pair[0] < pair[1]), || {
            format!("hold: tokens do not increase: {fences:?}")
        })?;
        if let Some(last) = fences.last().filter(|_| !new.is_empty()) {
            self.last_fence = *last;
            self.last_given = Some(*last);
        }
        Ok(new)
    }

    pub(crate) fn a_hold_lapsed(&self, now: Millis) -> bool {
        let leases = self.groups.values().filter_map(|group| group.lease.as_ref());
        let mut lapsed = leases.filter(|live| live.until < now);
        lapsed.any(|live| live.holder.is_some())
    }

    /// A hold ended. Whether a wait of its group goes on then is the adapter's choice.
    pub(super) fn let_go(&mut self, id: &GroupId) {
        if let Some(group) = self.groups.get_mut(id) {
            group.lease = None;
            group.closed.certain = group.closed.value.is_none();
        }
        self.tidy(id);
    }

    /// A group that is forgotten although something else of it is remembered may be remembered as well.
    pub(super) fn leave_ghost(&mut self, id: &GroupId) {
        let remembered = self.reserved.contains_key(id) || self.throttles.contains_key(id);
        if let Some(group) = self.groups.get(id).filter(|_| remembered) {
            let need = group.need.value;
            self.ghosts.insert(id.clone(), (group.completed.0, need));
        }
    }

    /// A group as it is when something of it is heard of first.
    pub(super) fn fresh(&mut self, id: &GroupId) -> Group {
        let completed = (self.last_given, self.last_given.map(|_| self.last_fence));
        let mut group = Group {
            completed,
            ..Group::default()
        };
        if let Some((low, need)) = self.ghosts.remove(id) {
            group.completed.0 = low.min(completed.0);
            group.need = Maybe {
                value: need,
                certain: need == 0,
            };
            group.loose = true;
        }
        group
    }
}

impl Group {
    /// Jobs come into a group that may have been forgotten when it was emptied.
    pub(super) fn may_be_anew(&mut self, last: Option<foldwright_ports::Fence>) {
        if self.jobs.is_empty() && matches!(self.previous, LeaseEnd::None | LeaseEnd::Completed) {
            self.completed.1 = self.completed.1.max(last);
            self.loose |= self.lease.is_some();
        }
    }

    /// Whether this may be how its last lease ended.
    pub(super) fn ended_as(&self, said: LeaseEnd) -> bool {
        let done = [LeaseEnd::None, LeaseEnd::Completed];
        said == self.previous || self.loose && done.contains(&said) && done.contains(&self.previous)
    }
}
