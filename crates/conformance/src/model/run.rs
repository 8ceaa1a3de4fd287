//! Running a sequence on an adapter and on the model, side by side.
use super::{
    Ensure, Model, Recall, Step,
    compare::blobs,
    ensure, groups,
    state::Grant,
    steps::{Item, Wish},
    trace,
};
use crate::{
    Invariants,
    kit::{Bed, Seen, WORKER, millis, seen},
};
use foldwright_domain::Millis;
use foldwright_ports::{
    Answer, Fence, GroupId, JobId, Kind, Lease, LeaseRef, NewJob, Nonce, Outcome, Rest, Room, Settlement,
    StageRefused, Staged, Want, WorkerId,
};
use std::collections::{BTreeMap, BTreeSet};

/// A call that may be repeated under its nonce.
#[derive(Clone, Debug)]
enum Call {
    Stage(Vec<NewJob>),
    Claim(Want),
    Settle(Vec<Settlement>, Option<Want>),
}

/// An adapter and the model beside it.
pub(crate) struct SideBySide<'a> {
    pub(crate) bed: Bed<'a>,
    pub(super) model: Model,
    watch: Invariants,
    leases: Vec<LeaseRef>,
    holds: Vec<LeaseRef>,
    calls: Vec<(Nonce, Call)>,
    trace: Vec<String>,
}

impl<'a> SideBySide<'a> {
    pub(crate) fn new(bed: Bed<'a>) -> Self {
        let model = Model::new(&bed.harness.settings);
        Self {
            bed,
            model,
            watch: Invariants::default(),
            leases: Vec::new(),
            holds: Vec::new(),
            calls: Vec::new(),
            trace: Vec::new(),
        }
    }

    /// What was done so far, a line for each call.
    pub(crate) fn into_trace(self) -> Vec<String> {
        self.trace
    }

    fn note(&mut self, what: String) {
        let since = self.bed.now().0 - crate::TestClock::START.0;
        self.trace.push(format!("{since:>8} ms  {what}"));
    }

    /// Runs a step and compares everything that can be looked at.
    pub(crate) async fn step(&mut self, step: &Step) -> Ensure {
        while self.model.instants().contains(&self.bed.now()) {
            self.bed.elapse(millis(1)).await;
        }
        if !matches!(
            step,
            Step::Stage(_) | Step::Claim(_) | Step::Settle { .. } | Step::Extend { .. }
        ) {
            self.note(format!("{step:?}"));
        }
        match step {
            Step::Stage(specs) => {
                let now = self.bed.now();
                // One by one where it is throttled: what is plain depends on the one before.
                let jobs = specs.iter().map(|spec| spec.job(now, false));
                let (plain, throttled): (Vec<_>, Vec<_>) = jobs.partition(|job| job.group != groups()[5]);
                if !plain.is_empty() {
                    self.stage(plain).await?;
                }
                for job in throttled {
                    if self.model.stage_is_plain(now, &job) {
                        self.stage(vec![job]).await?;
                    }
                }
            }
            Step::Claim(wish) => self.claim(wish.want()).await?,
            Step::Settle { items, next } => {
                let settlements = self.settlements(items);
                self.settle(settlements, next.map(Wish::want)).await?;
            }
            Step::Extend { picks } => self.extend(picks).await?,
            Step::Reap { limit } => self.reap(*limit).await?,
            Step::Hold { other, groups } => self.hold(*other, *groups).await?,
            Step::LetGo(pick) => self.let_go(*pick).await?,
            Step::Elapse(by) => self.bed.elapse(*by).await,
            Step::Repeat(pick) => self.repeat(*pick).await?,
            Step::Forget(pick) => {
                let blobs = blobs();
                let blob = &blobs[usize::try_from(*pick).unwrap_or(0) % blobs.len()];
                let forgotten = self.bed.queue().forget(std::slice::from_ref(blob)).await;
                forgotten.map_err(|error| error.to_string())?;
                self.model.forget(blob);
            }
            Step::Pause(_) | Step::Resume(_) | Step::Limit { .. } => self.govern(step).await?,
            Step::Unblock(_) | Step::Drain { .. } | Step::Requeue(_) | Step::Discard(_) => {
                self.reap_all().await?;
                self.operate(step).await?;
            }
        }
        self.model.forget_tenants();
        self.compare().await
    }

    async fn stage(&mut self, jobs: Vec<NewJob>) -> Ensure {
        let (now, nonce) = (self.bed.now(), self.bed.nonce());
        let staged = self.bed.queue().stage(nonce, jobs.clone(), Room::Sender).await;
        if self.model.is_full(&jobs) {
            self.note(format!("stage{} -> {staged:?}", trace::jobs(&jobs)));
            let full = |refused: &StageRefused| refused.error.kind() == Kind::Full && refused.jobs == jobs;
            return ensure(staged.as_ref().is_err_and(full), || {
                format!("stage into a full queue: {staged:?}")
            });
        }
        let staged = staged.map_err(|refused| refused.to_string())?;
        self.note(format!("stage{} -> {staged:?}", trace::jobs(&jobs)));
        self.model.stage(now, nonce, &jobs, &staged)?;
        for (job, staged) in jobs.iter().zip(&staged) {
            if *staged == Staged::New {
                self.watch.staged(&job.group.tenant, job.id);
            }
        }
        self.calls.push((nonce, Call::Stage(jobs)));
        Ok(())
    }

    async fn claim(&mut self, want: Want) -> Ensure {
        let (now, nonce) = (self.bed.now(), self.bed.nonce());
        let leases = self.bed.queue().claim(nonce, WORKER, &want).await;
        let leases = leases.map_err(|error| error.to_string())?;
        self.note(format!(
            "claim {} ->{}",
            trace::want(&want),
            trace::leases(&leases)
        ));
        let grants = self.granted(now, &want, &leases)?;
        self.model.remember(nonce, now, Recall::Granted(grants));
        self.calls.push((nonce, Call::Claim(want)));
        self.reap_all().await
    }

    fn granted(&mut self, now: Millis, want: &Want, leases: &[Lease]) -> Ensure<Vec<Grant>> {
        for lapsed in self.model.lapsed(now) {
            if leases.iter().any(|lease| lease.group == lapsed) {
                self.lapsed(&lapsed);
            }
        }
        for lease in leases {
            self.watch
                .granted(lease)
                .map_err(|violation| violation.to_string())?;
            self.leases.push(lease.reference());
        }
        self.model.claim(now, want, leases)
    }

    /// The lease of a group is over, though nobody settled it.
    fn lapsed(&mut self, group: &GroupId) {
        for lease in self.leases.iter().chain(&self.holds) {
            if lease.group == *group {
                self.watch.ended(lease, []);
            }
        }
    }

    fn settlements(&self, items: &[Item]) -> Vec<Settlement> {
        let now = self.bed.now();
        let highest = self
            .leases
            .iter()
            .map(|lease| lease.fence)
            .max()
            .unwrap_or(Fence(1));
        let picked: Vec<_> = items
            .iter()
            .filter_map(|item| Some((item, self.pick(item.pick)?)))
            .collect();
        let touched: BTreeSet<JobId> = picked
            .iter()
            .filter_map(|(_, lease)| self.model.live_jobs(lease))
            .flatten()
            .map(|job| job.id)
            .collect();
        let settlement = |(item, lease): &(&Item, LeaseRef)| {
            let jobs = self.model.live_jobs(lease).unwrap_or_default();
            let outcome = item.outcome(jobs.len().max(1), highest);
            let answers = jobs.iter().take(outcome.done).map(|job| Answer {
                job: job.id,
                answer: job.header.clone(),
            });
            let then = item.then.iter().map(|spec| spec.job(now, true));
            Settlement {
                lease: lease.clone(),
                answers: answers.collect(),
                then: then.filter(|job| !touched.contains(&job.id)).collect(),
                outcome,
            }
        };
        picked.iter().map(settlement).collect()
    }

    /// Mostly a live lease, now and then any that ever was, or none.
    fn pick(&self, pick: u64) -> Option<LeaseRef> {
        let live: Vec<_> = self
            .leases
            .iter()
            .filter(|lease| self.model.live_jobs(lease).is_some())
            .collect();
        let from: Vec<_> = if pick.is_multiple_of(5) || live.is_empty() {
            self.leases.iter().collect()
        } else {
            live
        };
        let at = usize::try_from(pick / 8 % (from.len() as u64).max(1)).ok()?;
        from.get(at).copied().cloned()
    }

    async fn settle(&mut self, settlements: Vec<Settlement>, next: Option<Want>) -> Ensure {
        let (now, nonce) = (self.bed.now(), self.bed.nonce());
        for settlement in &settlements {
            let jobs = self.model.live_jobs(&settlement.lease).unwrap_or_default();
            let done = jobs.iter().take(settlement.outcome.done).map(|job| job.id);
            let live: Vec<_> = done.collect();
            if self.model.is_surely_live(now, &settlement.lease) {
                self.watch.ended(&settlement.lease, live);
            } else {
                self.watch.ended(&settlement.lease, []);
            }
        }
        let settled = self
            .bed
            .queue()
            .settle(nonce, WORKER, settlements.clone(), next.as_ref());
        let settled = settled.await.map_err(|error| error.to_string())?;
        let verdicts: Vec<_> = settled.verdicts.iter().map(seen).collect();
        let wanted = next.as_ref().map(trace::want);
        self.note(format!(
            "settle{} and claim {wanted:?} -> {verdicts:?}{}",
            trace::settlements(&settlements),
            trace::leases(&settled.next)
        ));
        let mut opens = BTreeMap::new();
        for settlement in &settlements {
            let group = &settlement.lease.group;
            let view = self.bed.view(group).await;
            opens.insert(group.clone(), view.and_then(|view| view.closed_until));
        }
        self.model.settle(now, &settlements, &verdicts, |group| {
            opens.get(group).copied().flatten()
        })?;
        for (settlement, verdict) in settlements.iter().zip(&verdicts) {
            if *verdict == Seen::Applied {
                for job in &settlement.then {
                    self.watch.staged(&job.group.tenant, job.id);
                }
            }
        }
        ensure(next.is_some() || settled.next.is_empty(), || {
            "settle: no work was asked for".into()
        })?;
        let grants = match &next {
            Some(want) => self.granted(now, want, &settled.next)?,
            None => Vec::new(),
        };
        self.model.remember(nonce, now, Recall::Settled(verdicts, grants));
        self.calls.push((nonce, Call::Settle(settlements, next)));
        self.reap_all().await
    }

    async fn hold(&mut self, other: bool, picks: u64) -> Ensure {
        self.reap_all().await?;
        let (now, nonce) = (self.bed.now(), self.bed.nonce());
        let worker = WorkerId(if other { 2 } else { 1 });
        let picked = groups().into_iter().enumerate();
        let mut picked: Vec<_> = picked
            .filter(|(at, _)| picks >> at & 1 == 1)
            .map(|(_, group)| group)
            .collect();
        picked.sort();
        if picked.is_empty() || !self.model.hold_is_plain(now, worker, &picked) {
            return Ok(());
        }
        picked.reverse();
        let (queue, by) = (self.bed.queue(), crate::kit::LEASE);
        let mut held = queue
            .hold(nonce, worker, &picked, by)
            .await
            .map_err(|error| error.to_string())?;
        self.note(format!("hold {picked:?} -> {held:?}"));
        ensure(held.len() == picked.len(), || {
            "hold: an answer for each group".into()
        })?;
        picked.reverse();
        held.reverse();
        for lease in self.model.hold(now, worker, &picked, by, &held)? {
            self.watch
                .held(&lease)
                .map_err(|violation| violation.to_string())?;
            self.holds.push(lease);
        }
        Ok(())
    }

    async fn let_go(&mut self, pick: u64) -> Ensure {
        let at = usize::try_from(pick % (self.holds.len() as u64).max(1)).unwrap_or(0);
        let Some(lease) = self.holds.get(at).cloned() else {
            return Ok(());
        };
        let end = Settlement {
            lease,
            outcome: Outcome::none(Rest::Back),
            answers: Vec::new(),
            then: Vec::new(),
        };
        self.settle(vec![end], None).await
    }

    async fn extend(&mut self, picks: &[u64]) -> Ensure {
        let leases: Vec<_> = picks.iter().filter_map(|pick| self.pick(*pick)).collect();
        let (now, by) = (self.bed.now(), crate::kit::LEASE);
        let verdicts = self.bed.queue().extend(&leases, by).await;
        let verdicts = verdicts.map_err(|error| error.to_string())?;
        let verdicts: Vec<_> = verdicts.iter().map(seen).collect();
        self.note(format!("extend {leases:?} -> {verdicts:?}"));
        self.model.extend(now, &leases, by, &verdicts)
    }

    async fn reap(&mut self, limit: usize) -> Ensure {
        let now = self.bed.now();
        let lapsed = self.model.lapsed(now);
        if self.model.a_hold_lapsed(now) {
            return self.reap_all().await;
        }
        let reaped = self.bed.queue().reap(limit).await;
        let reaped = reaped.map_err(|error| error.to_string())?.lapsed;
        self.note(format!("reap {limit} -> {reaped}"));
        ensure(reaped == lapsed.len().min(limit), || {
            format!("reap of {limit}: {reaped} of {lapsed:?}")
        })?;
        let mut found = 0;
        for group in lapsed {
            let view = self.bed.view(&group).await;
            if view.is_some_and(|view| !view.leased) {
                found += 1;
                self.lapsed(&group);
                self.model.reap(&group);
            }
        }
        ensure(found == reaped, || {
            format!("reap says {reaped} and reaped {found}")
        })
    }

    /// What has lapsed is reaped: whether a claim did some of it already was its own choice.
    async fn reap_all(&mut self) -> Ensure {
        let lapsed = self.model.lapsed(self.bed.now());
        if lapsed.is_empty() {
            return Ok(());
        }
        let reaped = self.bed.queue().reap(1_000).await;
        let reaped = reaped.map_err(|error| error.to_string())?.lapsed;
        self.note(format!("reap all -> {reaped}"));
        ensure(reaped <= lapsed.len(), || format!("reap: {reaped} of {lapsed:?}"))?;
        for group in lapsed {
            self.lapsed(&group);
            self.model.reap(&group);
        }
        Ok(())
    }

    async fn repeat(&mut self, pick: u64) -> Ensure {
        let now = self.bed.now();
        let kept = self.model.recalled(now);
        let calls: Vec<_> = self
            .calls
            .iter()
            .filter(|(nonce, _)| kept.contains_key(nonce))
            .collect();
        if calls.is_empty() {
            return Ok(());
        }
        let (nonce, call) = calls[usize::try_from(pick % calls.len() as u64).unwrap_or(0)];
        let queue = self.bed.queue();
        match (call, &kept[nonce]) {
            (Call::Stage(jobs), Recall::Staged(first)) => {
                let again = queue.stage(*nonce, jobs.clone(), Room::Sender).await;
                let again = again.map_err(|refused| refused.to_string())?;
                ensure(again == *first, || {
                    format!("repeated stage: {again:?} instead of {first:?}")
                })
            }
            (Call::Claim(want), Recall::Granted(first)) => {
                let again = queue.claim(*nonce, WORKER, want).await;
                let again = again.map_err(|error| error.to_string())?;
                self.model.check_repeat(now, first, &again)
            }
            (Call::Settle(settlements, next), Recall::Settled(first, grants)) => {
                let again = queue
                    .settle(*nonce, WORKER, settlements.clone(), next.as_ref())
                    .await;
                let again = again.map_err(|error| error.to_string())?;
                let verdicts: Vec<_> = again.verdicts.iter().map(seen).collect();
                ensure(verdicts == *first, || {
                    format!("repeated settle: {verdicts:?} instead of {first:?}")
                })?;
                self.model.check_repeat(now, grants, &again.next)
            }
            (call, recall) => Err(format!("{call:?} is remembered as {recall:?}")),
        }
    }
}
