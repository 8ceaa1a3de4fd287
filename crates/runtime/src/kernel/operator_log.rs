//! The operator's verbs on the log.
use super::Operator;
use crate::{
    retention::{self, RetainCursor, RetainError, Retained, WithoutBase},
    wire::BodyError,
};
use foldwright_domain::Millis;
use foldwright_ports::{Cursor, Error, Kind, Limits, NewJob, Result, Retention, Room, Selection, Staged};

/// How many jobs one call to the queue stages.
const STAGED_AT_ONCE: usize = 200;

/// What a page of a restaging did.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Restaged {
    /// Events that were read.
    pub read: u64,
    /// Of those, events that were accepted since the instant: their jobs were rebuilt.
    pub events: u64,
    /// Jobs that were rebuilt.
    pub jobs: u64,
    /// Of those, jobs that the queue did not hold.
    pub added: u64,
    /// Where to go on; `None` is the end.
    pub next: Option<Cursor>,
}

impl Operator {
    /// Rebuilds the jobs of every fold and map for events that were accepted since an instant, from the log: after a queue
    /// lost its tail, after commands' or projections' groups were drained, or to bring a new projection what came before
    /// it. Reads a page of at most `events` events, of all that `selection` selects; ask again with [`Restaged::next`]
    /// until that is `None`.
    ///
    /// May be repeated, and stopped anywhere: jobs have the ids that they had, so those that the queue holds stay as they
    /// are, and an event that a fold already holds leads to nothing. Maps write the same record again, and **their
    /// subscribers run again**.
    ///
    /// What it cannot bring back: commands that were lost before their events were appended (send them again, with an
    /// idempotency key), and runs of a fold's subscribers that the queue lost after they were handed to it, since the fold
    /// that decided them holds the event. Projections that this build does not declare get no job from it.
    ///
    /// # Errors
    /// The stores'. [`Kind::Full`](foldwright_ports::Kind) when the queue is at its bounds: ask for the same page again
    /// later. Part of a page may have been staged then.
    pub async fn restage(
        &self,
        selection: &Selection,
        since: Millis,
        from: Option<Cursor>,
        events: usize,
    ) -> Result<Restaged> {
        self.own(&selection.tenant)?;
        let ports = &self.ctx.ports;
        let page = ports.log.scan(selection, from, Limits::items(events)).await?;
        let read = page.items.len() as u64;
        let mut accepted = page.items;
        accepted.retain(|event| event.meta.accepted_at >= since);
        self.all_own(accepted.iter().map(|event| &event.meta.stream.tenant))?;
        let jobs = self.ctx.router.follow_ups(&accepted, &self.ctx.bodies).await;
        let jobs = jobs.map_err(unwritten)?;
        let mut done = Restaged {
            read,
            events: accepted.len() as u64,
            jobs: jobs.len() as u64,
            added: 0,
            next: page.next,
        };
        let mut jobs = jobs.into_iter().peekable();
        while jobs.peek().is_some() {
            let some: Vec<NewJob> = jobs.by_ref().take(STAGED_AT_ONCE).collect();
            let staged = ports.queue.stage(self.ctx.ids.nonce(), some, Room::Sender).await;
            let staged = staged.map_err(|refused| refused.error)?;
            self.ctx.counters.staged(&staged);
            done.added += staged.iter().filter(|one| **one != Staged::Known).count() as u64;
        }
        Ok(done)
    }

    /// Lets events go that were accepted before an instant, a step at a time; ask again with [`Retained::next`] until that
    /// is `None`. A step looks at, or removes, at most `events` events.
    ///
    /// First the state of every fold that read such an event is kept as it is at the horizon, and only when all are kept
    /// is the log cut. From then on a fold is folded anew from what was kept, so it forgets nothing. A process may die
    /// between any two steps: begin again without a cursor, and what is kept already stands.
    ///
    /// A state cannot be kept while an event that is to go is not in it (its job still waits, is blocked or was drained), and
    /// in the cases of [`WhyNoBase`](crate::WhyNoBase); `without` says what happens then. A new version of a fold cannot go
    /// on from a state that an older one left at the horizon: replay it before the log is cut, or keep the log longer. To a
    /// fold by occurrence an event that comes after the cut and occurred before the last one behind it is refused with an
    /// error.
    ///
    /// Commands that were accepted before the instant and are appended only after their states were kept are cut without
    /// being kept: choose an instant that is older than any pause. Every projection of the service has to be declared in
    /// the process that calls this, in its newest version. An event that is sent again after it has gone is new to the log;
    /// maps keep their records.
    ///
    /// # Errors
    /// [`RetainError`].
    pub async fn retain(
        &self,
        retention: &Retention,
        without: WithoutBase,
        from: Option<RetainCursor>,
        events: usize,
    ) -> Result<Retained, RetainError> {
        self.own(&retention.tenant)?;
        retention::step(&self.bases, retention, without, from, events.max(1), &self.ctx).await
    }

    /// Removes selected events of one tenant from the log for good, at most `limit`; answers how many. Fewer than `limit`
    /// means that none is left.
    ///
    /// A purge of the log alone: states, records, waiting jobs and their bodies stay until they are removed where they
    /// are, and a state that would have to be folded anew over the gap is refused with an error. The smallest selection is
    /// one of a tenant's aggregate types, event types and a range of business time.
    ///
    /// # Errors
    /// The log's.
    pub async fn erase(&self, selection: &Selection, limit: usize) -> Result<usize> {
        self.own(&selection.tenant)?;
        self.ctx.ports.log.erase(selection, limit).await
    }
}

fn unwritten(error: BodyError) -> Error {
    match error {
        BodyError::Store(error) => error,
        other => Error::new(Kind::Invalid, "restage", other.to_string()),
    }
}
