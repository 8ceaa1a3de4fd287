//! The queue's port.
use super::{
    SqliteQueue, answers, bounds, claim, hold, holds,
    nonces::{self, Remembered},
    reap, settle, stage, wait,
    work::Work,
    workers,
};
use crate::{error::Outcome, writer::Write};
use async_trait::async_trait;
use bytes::Bytes;
use foldwright_domain::TenantId;
use foldwright_ports::{
    BlobRef, Capabilities, Error, GroupId, GroupQueue, Held, Hold, JobId, Kind, Lease, LeaseRef, NewJob,
    Nonce, QueueSettings, Reaped, Result, Room, Settled, Settlement, StageRefused, Staged, Verdict, Want,
    WorkerId,
};
use std::{sync::Arc, time::Duration};

#[async_trait]
impl GroupQueue for SqliteQueue {
    fn settings(&self) -> QueueSettings {
        self.store.settings.queue
    }

    async fn stage(&self, nonce: Nonce, jobs: Vec<NewJob>, room: Room) -> Result<Vec<Staged>, StageRefused> {
        if let Err(message) = jobs.iter().try_for_each(stage::check) {
            let error = Error::new(Kind::Invalid, "stage", message);
            return Err(StageRefused { jobs, error });
        }
        let bytes = jobs.iter().map(size).sum();
        let jobs = Arc::new(jobs);
        let handed = jobs.clone();
        let staged = self
            .store
            .writer
            .run("stage", bytes, move |write| {
                stage_all(write, nonce, &handed, room)
            })
            .await;
        staged.flatten().map_err(|error| StageRefused {
            jobs: Arc::unwrap_or_clone(jobs),
            error,
        })
    }

    async fn claim(&self, nonce: Nonce, worker: WorkerId, want: &Want) -> Result<Vec<Lease>> {
        let want = want.clone();
        self.store
            .writer
            .run("claim", 0, move |write| claim_once(write, nonce, worker, &want))
            .await
    }

    async fn settle(
        &self,
        nonce: Nonce,
        worker: WorkerId,
        settlements: Vec<Settlement>,
        next: Option<&Want>,
    ) -> Result<Settled> {
        let next = next.cloned();
        let bytes = settlements.iter().flat_map(|s| &s.then).map(size).sum();
        self.store
            .writer
            .run("settle", bytes, move |write| {
                settle_all(write, nonce, worker, &settlements, next.as_ref())
            })
            .await
    }

    async fn extend(&self, leases: &[LeaseRef], lease: Duration) -> Result<Vec<Verdict>> {
        let leases = leases.to_vec();
        self.store
            .writer
            .run("extend", 0, move |write| {
                let mut work = Work::new(write)?;
                let verdicts = leases
                    .iter()
                    .map(|reference| reap::extend(&mut work, reference, lease))
                    .collect::<Outcome<_>>()?;
                work.save()?;
                Ok(verdicts)
            })
            .await
    }

    async fn reap(&self, limit: usize) -> Result<Reaped> {
        self.store
            .writer
            .run("reap", 0, move |write| reap::reap(&mut Work::new(write)?, limit))
            .await
    }

    async fn wait(&self, capabilities: &Capabilities, at_most: Duration) -> Result<()> {
        let store = &self.store;
        wait::wait(&store.readers, store.woken.clone(), capabilities, at_most).await
    }

    async fn answer(&self, tenant: &TenantId, job: JobId) -> Result<Option<Bytes>> {
        let tenant = tenant.clone();
        self.store
            .readers
            .run("answer", move |read| answers::find(read, &tenant, job))
            .await
    }

    async fn hold(
        &self,
        nonce: Nonce,
        worker: WorkerId,
        groups: &[GroupId],
        lease: Duration,
    ) -> Result<Vec<Hold>> {
        if let Err(message) = groups.iter().try_for_each(stage::check_group) {
            return Err(Error::new(Kind::Invalid, "hold", message));
        }
        let groups = groups.to_vec();
        self.store
            .writer
            .run("hold", 0, move |write| {
                hold_once(write, nonce, worker, &groups, lease)
            })
            .await
    }

    async fn beat(&self, worker: WorkerId, capabilities: &Capabilities, ttl: Duration) -> Result<()> {
        let capabilities = capabilities.clone();
        self.store
            .writer
            .run("beat", 0, move |write| {
                workers::beat(write, worker, &capabilities, ttl)
            })
            .await
    }

    async fn goodbye(&self, worker: WorkerId) -> Result<()> {
        self.store
            .writer
            .run("goodbye", 0, move |write| workers::goodbye(write, worker))
            .await
    }

    async fn held(&self, blobs: &[BlobRef]) -> Result<Vec<Held>> {
        let blobs = blobs.to_vec();
        self.store
            .readers
            .run("held", move |read| holds::held(read, &blobs))
            .await
    }

    async fn forget(&self, blobs: &[BlobRef]) -> Result<()> {
        let blobs = blobs.to_vec();
        self.store
            .writer
            .run("forget", 0, move |write| holds::forget(write, &blobs))
            .await
    }
}

/// What a job weighs in a batch of the writer.
fn size(job: &NewJob) -> usize {
    usize::try_from(job.stored_bytes()).unwrap_or(usize::MAX)
}

/// A refusal is a value: nothing was written, so nothing has to be rolled back.
fn stage_all(
    write: &mut Write<'_>,
    nonce: Nonce,
    jobs: &[NewJob],
    room: Room,
) -> Outcome<Result<Vec<Staged>>> {
    match nonces::recall(write, nonce)? {
        Some(Remembered::Staged(runs)) => return Ok(Ok(nonces::unpack(runs))),
        Some(_) => return Err(nonces::misused()),
        None => {}
    }
    let mut work = Work::new(write)?;
    if room == Room::Sender
        && let Some(refusal) = bounds::refuse(&mut work, jobs)?
    {
        return Ok(Err(refusal));
    }
    let staged: Vec<_> = jobs
        .iter()
        .map(|job| stage::stage(&mut work, job))
        .collect::<Outcome<_>>()?;
    work.save()?;
    nonces::remember(write, nonce, &nonces::pack(&staged))?;
    Ok(Ok(staged))
}

fn claim_once(write: &mut Write<'_>, nonce: Nonce, worker: WorkerId, want: &Want) -> Outcome<Vec<Lease>> {
    match nonces::recall(write, nonce)? {
        Some(Remembered::Claimed(base)) => return again(write, base),
        Some(_) => return Err(nonces::misused()),
        None => {}
    }
    let mut work = Work::new(write)?;
    let leases = claim::claim(&mut work, worker, want)?;
    work.save()?;
    nonces::remember(write, nonce, &Remembered::Claimed(base(&leases)))?;
    Ok(leases)
}

fn settle_all(
    write: &mut Write<'_>,
    nonce: Nonce,
    worker: WorkerId,
    settlements: &[Settlement],
    next: Option<&Want>,
) -> Outcome<Settled> {
    match nonces::recall(write, nonce)? {
        Some(Remembered::Settled(judged, base)) => {
            return Ok(Settled {
                verdicts: judged.into_iter().map(nonces::verdict).collect(),
                squashed: 0,
                next: again(write, base)?,
            });
        }
        Some(Remembered::SettledMerging(judged, base, squashed)) => {
            return Ok(Settled {
                verdicts: judged.into_iter().map(nonces::verdict).collect(),
                squashed,
                next: again(write, base)?,
            });
        }
        Some(_) => return Err(nonces::misused()),
        None => {}
    }
    let mut work = Work::new(write)?;
    let mut squashed = 0;
    let verdicts: Vec<_> = settlements
        .iter()
        .map(|settlement| settle::settle(&mut work, settlement, &mut squashed))
        .collect::<Outcome<_>>()?;
    let next = match next {
        Some(want) => claim::claim(&mut work, worker, want)?,
        None => Vec::new(),
    };
    work.save()?;
    let judged = verdicts.iter().map(nonces::judged).collect();
    let answer = match squashed {
        0 => Remembered::Settled(judged, base(&next)),
        merged => Remembered::SettledMerging(judged, base(&next), merged),
    };
    nonces::remember(write, nonce, &answer)?;
    Ok(Settled {
        verdicts,
        squashed,
        next,
    })
}

fn hold_once(
    write: &mut Write<'_>,
    nonce: Nonce,
    worker: WorkerId,
    groups: &[GroupId],
    lease: Duration,
) -> Outcome<Vec<Hold>> {
    match nonces::recall(write, nonce)? {
        Some(Remembered::Held(held)) => return hold::again(&mut Work::new(write)?, groups, held),
        Some(_) => return Err(nonces::misused()),
        None => {}
    }
    let mut work = Work::new(write)?;
    let holds = hold::hold(&mut work, worker, groups, lease)?;
    work.save()?;
    let held = holds.iter().map(hold::remembered).collect();
    nonces::remember(write, nonce, &Remembered::Held(held))?;
    Ok(holds)
}

/// The grant of these leases.
fn base(leases: &[Lease]) -> Option<i64> {
    leases.first().and_then(|lease| i64::try_from(lease.fence.0).ok())
}

fn again(write: &mut Write<'_>, base: Option<i64>) -> Outcome<Vec<Lease>> {
    match base {
        Some(base) => claim::again(&mut Work::new(write)?, base),
        None => Ok(Vec::new()),
    }
}
