//! Settling.
use super::{
    State,
    first::{First, KeptVerdict, reused},
    group::{Group, LeaseKind},
    hash_of,
    no::No,
    stage::fits,
};
use foldwright_ports::{
    Error, Kind, LeaseRef, Nonce, Rest, Result, Settled, Settlement, Staged, Verdict, Want, WorkerId,
};

/// Neither a floor nor the clock raises tokens above this, so that tokens are always left.
pub(super) const MAX_FLOOR: u64 = u64::MAX / 2;

/// Whether a token is the live one.
pub(super) enum Standing {
    Live(No<Group>),
    Lost,
    Settled,
}

impl State {
    pub(in crate::queue) fn settle(
        &mut self,
        nonce: Nonce,
        worker: WorkerId,
        settlements: Vec<Settlement>,
        next: Option<&Want>,
    ) -> Result<Settled> {
        match self.nonces.get(self.now, nonce) {
            Some(First::Settled {
                verdicts,
                squashed,
                next,
            }) => {
                return Ok(Settled {
                    verdicts: verdicts.iter().map(KeptVerdict::again).collect(),
                    squashed: *squashed,
                    next: self.still_live(next),
                });
            }
            Some(_) => return Err(reused("settle")),
            None => {}
        }
        let mut squashed = 0;
        let verdicts: Vec<_> = settlements
            .into_iter()
            .map(|settlement| self.settle_one(settlement, &mut squashed))
            .collect();
        let next = next.map_or_else(Vec::new, |want| self.grant(worker, want));
        let first = First::Settled {
            verdicts: verdicts.iter().map(KeptVerdict::of).collect(),
            squashed,
            next: next.iter().map(|lease| lease.fence).collect(),
        };
        self.nonces.put(self.now, nonce, first);
        Ok(Settled {
            verdicts,
            squashed,
            next,
        })
    }

    fn settle_one(&mut self, settlement: Settlement, squashed: &mut usize) -> Verdict {
        let group = match self.standing(&settlement.lease) {
            Standing::Live(group) => group,
            Standing::Lost => return Verdict::Lost,
            Standing::Settled => return Verdict::Already,
        };
        if let Err(error) = self.accepts(group, &settlement) {
            return Verdict::Refused(error);
        }
        for job in settlement.then {
            *squashed += usize::from(self.stage_one(job) == Staged::Squashed);
        }
        let tenant = self.tenants.number_or_add(&settlement.lease.group.tenant);
        for answer in settlement.answers {
            self.answers.put(self.now, (tenant, answer.job), answer.answer);
        }
        self.settled
            .put(self.now, settlement.lease.fence, hash_of(&settlement.lease.group));
        self.finish(group, settlement.outcome);
        Verdict::Applied
    }

    /// A lease that has lapsed is lost, whether or not it was reaped: its holder cannot know which came first.
    pub(super) fn standing(&self, lease: &LeaseRef) -> Standing {
        let live = self.leases.get(&lease.fence).and_then(|no| {
            let group = self.groups.get(*no).filter(|group| group.id == lease.group)?;
            let lapsed = group.lease.as_ref().is_none_or(|live| live.until <= self.now);
            (!lapsed).then_some(*no)
        });
        match (live, self.settled.get(self.now, lease.fence)) {
            (Some(group), _) => Standing::Live(group),
            (None, Some(hash)) if *hash == hash_of(&lease.group) => Standing::Settled,
            _ => Standing::Lost,
        }
    }

    /// What is wrong with a settlement is found before any of it takes effect.
    fn accepts(&self, group: No<Group>, settlement: &Settlement) -> Result<()> {
        let invalid = |message| Err(Error::new(Kind::Invalid, "settle", message));
        let live = self.groups.get(group).and_then(|group| group.lease.as_ref());
        if live.is_some_and(|live| settlement.outcome.done > live.jobs.len()) {
            return invalid("more jobs are done than the lease holds");
        }
        if live.is_some_and(|live| live.kind == LeaseKind::Hold) && settlement.outcome.rest != Rest::Back {
            return invalid("a hold runs no job: settle it with nothing done and the rest back");
        }
        if let Rest::Release {
            floor: Some(floor), ..
        } = settlement.outcome.rest
            && floor.0 > MAX_FLOOR
        {
            return invalid("the floor is above every token that was ever given");
        }
        settlement.then.iter().try_for_each(|job| fits(job, "settle"))
    }
}
