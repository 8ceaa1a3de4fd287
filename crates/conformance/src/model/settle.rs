//! Settling, extending and reaping.
use super::state::{Blocked, Ensure, Job, Letter, Maybe, Model, ensure};
use crate::kit::Seen;
use foldwright_domain::Millis;
use foldwright_ports::{Fence, GroupId, LeaseEnd, LeaseRef, Rest, Settlement};
use std::time::Duration;

impl Model {
    /// Settlements were answered. What the adapter chose within the contract is read from `opens`, which says when a
    /// group that was closed opens again.
    pub(crate) fn settle(
        &mut self,
        now: Millis,
        settlements: &[Settlement],
        verdicts: &[Seen],
        opens: impl Fn(&GroupId) -> Option<Millis>,
    ) -> Ensure {
        ensure(verdicts.len() == settlements.len(), || {
            "settle: a verdict for each settlement".into()
        })?;
        for (settlement, verdict) in settlements.iter().zip(verdicts) {
            let lease = &settlement.lease;
            let live = self.lease_until(lease);
            let legal: &[Seen] = match (live, self.settled.get(lease)) {
                (Some(until), _) if until > now => &[Seen::Applied],
                (Some(_), _) => &[Seen::Applied, Seen::Lost],
                (None, Some(kept)) if *kept > now => &[Seen::Already],
                (None, Some(_)) => &[Seen::Already, Seen::Lost],
                (None, None) => &[Seen::Lost],
            };
            ensure(legal.contains(verdict), || {
                format!("settle of {lease:?}: {verdict:?} instead of one of {legal:?}")
            })?;
            if *verdict == Seen::Applied {
                for job in &settlement.then {
                    self.stage_one(now, job, None);
                }
                self.apply(now, settlement, &opens)?;
            }
        }
        Ok(())
    }

    fn apply(
        &mut self,
        now: Millis,
        settlement: &Settlement,
        opens: impl Fn(&GroupId) -> Option<Millis>,
    ) -> Ensure {
        let (id, done) = (&settlement.lease.group, settlement.outcome.done);
        let kept = now.plus(self.settings.nonce_ttl);
        self.settled.insert(settlement.lease.clone(), kept);
        let group = self.groups.get_mut(id).unwrap();
        if group.lease.as_ref().is_some_and(|live| live.holder.is_some()) {
            self.let_go(id);
            return Ok(());
        }
        group.lease = None;
        let (leased, others): (Vec<Job>, Vec<Job>) = group.jobs.drain(..).partition(|job| job.leased);
        group.jobs = others;
        let mut rest = leased;
        let completed: Vec<_> = rest.drain(..done).collect();
        for job in &rest {
            group.insert(Job {
                leased: false,
                ..job.clone()
            });
        }
        let first = rest.first().cloned();
        for answer in &settlement.answers {
            let kept = now.plus(self.settings.answer_ttl);
            if completed.iter().any(|job| job.job.id == answer.job) {
                let key = (id.tenant.clone(), answer.job);
                self.answers.insert(key, (answer.answer.clone(), kept));
            }
        }
        self.release(now, completed.iter().flat_map(Job::holds).collect());
        let group = self.groups.get_mut(id).unwrap();
        group.previous = match &settlement.outcome.rest {
            _ if done > 0 => LeaseEnd::Completed,
            Rest::Back | Rest::Release { .. } => LeaseEnd::Released,
            _ => LeaseEnd::Retried,
        };
        if done > 0 {
            let fence = Some(settlement.lease.fence);
            group.completed = (fence, fence);
            group.start_from_zero();
            group.need.certain = group.need.value == 0;
        }
        if let Some(first) = first {
            self.rest(now, id, &first, &settlement.outcome.rest, &opens)?;
        }
        self.tidy(id);
        Ok(())
    }

    fn rest(
        &mut self,
        now: Millis,
        id: &GroupId,
        first: &Job,
        rest: &Rest,
        opens: impl Fn(&GroupId) -> Option<Millis>,
    ) -> Ensure {
        let (ladder, longest) = (self.settings.ladder, self.settings.streak);
        let group = self.groups.get_mut(id).unwrap();
        let block = |error: &str, exhausted| Blocked {
            error: error.into(),
            streak: None,
            job: first.job.id,
            since: now,
            exhausted,
        };
        match rest {
            Rest::Back => {}
            Rest::Retry { floor, error } => {
                group.failures = group.failures_of(first.job.id) + 1;
                group.failed = Some(first.job.id);
                group.streak += 1;
                let exhausted = group.failures >= ladder.attempts;
                let too_long = longest > 0 && group.streak >= longest;
                if exhausted || too_long {
                    let streak = too_long.then_some(group.streak);
                    group.block(Blocked {
                        streak,
                        ..block(error, exhausted)
                    });
                } else {
                    let doubled = 2_u32.saturating_pow(group.failures - 1);
                    let exact = ladder.base.saturating_mul(doubled).min(ladder.cap);
                    let floor = floor.unwrap_or(Duration::ZERO);
                    let low = now.plus((exact * 9 / 10).max(floor));
                    let high = now.plus((exact * 11 / 10).max(floor));
                    let until = opens(id).ok_or_else(|| format!("settle: {id} backs off but is open"))?;
                    ensure(low <= until && until <= high, || {
                        format!("settle: {id} backs off until {until:?}, not {low:?}..{high:?}")
                    })?;
                    group.closed = Maybe::certain(Some(until));
                }
            }
            Rest::Quarantine { error } => group.block(block(error, false)),
            Rest::DeadLetter { error } => {
                self.doubt_window(id);
                let group = self.groups.get_mut(id).unwrap();
                group.start_from_zero();
                group.jobs.retain(|job| job.job.id != first.job.id);
                self.dead.push(Letter {
                    job: Job {
                        leased: false,
                        ..first.clone()
                    },
                    error: error.clone(),
                    since: now,
                });
            }
            Rest::Defer { after } => group.closed = Maybe::certain(Some(now.plus(*after))),
            Rest::Release { floor, need } => {
                if let Some(need) = need.filter(|need| *need >= group.need.value) {
                    group.need = Maybe::certain(need);
                }
                self.last_fence = self.last_fence.max(floor.unwrap_or(Fence(0)));
            }
        }
        Ok(())
    }

    fn lease_until(&self, lease: &LeaseRef) -> Option<Millis> {
        let live = self.groups.get(&lease.group)?.lease.as_ref()?;
        (live.fence == lease.fence).then_some(live.until)
    }

    pub(crate) fn extend(
        &mut self,
        now: Millis,
        leases: &[LeaseRef],
        by: Duration,
        verdicts: &[Seen],
    ) -> Ensure {
        for (lease, verdict) in leases.iter().zip(verdicts) {
            let live = self.lease_until(lease).is_some_and(|until| until > now);
            let mine = if live { Seen::Applied } else { Seen::Lost };
            ensure(*verdict == mine, || {
                format!("extend of {lease:?}: {verdict:?} instead of {mine:?}")
            })?;
            if live {
                let group = self.groups.get_mut(&lease.group).unwrap();
                group.lease.as_mut().unwrap().until = now.plus(by);
            }
        }
        ensure(verdicts.len() == leases.len(), || {
            "extend: a verdict for each lease".into()
        })
    }

    /// A lease that had lapsed was reaped.
    pub(crate) fn reap(&mut self, id: &GroupId) {
        let group = self.groups.get_mut(id).unwrap();
        if group.lease.take().is_some_and(|live| live.holder.is_some()) {
            self.let_go(id);
            return;
        }
        group.previous = LeaseEnd::Lapsed;
        for job in &mut group.jobs {
            job.leased = false;
        }
        self.tidy(id);
    }
}
