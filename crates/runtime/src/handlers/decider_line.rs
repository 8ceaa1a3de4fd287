//! The decisions of one lease, one after the other.
use super::{
    Failure,
    accepted::{Accepted, guarded, identity},
    decider_state::{UpToDate, with_identities},
    own_events::own_events,
    settlement,
    stored_events::StoredEvents,
};
use crate::{
    context::Context,
    fold::{Membership, aggregate_group_key},
};
use foldwright_domain::{Aggregate, Batch, Decider, Fold, RawEvent, StreamKey};
use foldwright_ports::{Answer, AppendError, Appended, Lease, Rest, Settlement};
use std::collections::VecDeque;

/// How often a command is decided again within one run because its aggregate changed meanwhile. Whoever changes it, is
/// done sooner than this; if not, the ladder gives it time.
const DECIDED_AT_MOST: u32 = 8;

/// What a decider decides on.
pub(super) type State<C> = <<C as Decider>::Fold as Fold>::State;

/// A lease whose commands are decided one after the other, each on the state that the one before left.
pub(super) struct Line<C: Decider> {
    pub(super) stream: StreamKey,
    waiting: VecDeque<Accepted<C>>,
    pub(super) state: Option<UpToDate<State<C>>>,
    /// How often the first waiting command was decided.
    decided: u32,
    settled: Settlement,
    pub(super) failure: Option<Failure>,
}

impl<C: Decider> Line<C> {
    /// Reads the commands of a lease, up to the first that cannot be read.
    pub(super) async fn read(lease: &Lease, ctx: &Context) -> Result<Self, Settlement> {
        let (mut waiting, mut failure) = (VecDeque::new(), None);
        let mut stream = None;
        for job in &lease.jobs {
            let read = Accepted::<C>::read(lease, job, ctx).await;
            match read.and_then(|accepted| Ok((in_its_group(lease, &accepted)?, accepted))) {
                Ok((of, accepted)) => {
                    stream = Some(of);
                    waiting.push_back(accepted);
                }
                Err(cause) => {
                    failure = Some(cause);
                    break;
                }
            }
        }
        let Some(stream) = stream else {
            let rest = failure.map_or(Rest::Back, |failure| failure.rest());
            return Err(settlement(lease, 0, rest));
        };
        // What could not be read counts only when everything before it is decided.
        let mut settled = settlement(lease, 0, Rest::Back);
        if let Some(failure) = failure {
            settled.outcome.rest = failure.rest();
        }
        Ok(Self {
            stream,
            waiting,
            state: None,
            decided: 0,
            settled,
            failure: None,
        })
    }

    fn is_open(&self) -> bool {
        self.failure.is_none() && !self.waiting.is_empty()
    }

    pub(super) fn is_stale(&self) -> bool {
        self.is_open() && self.state.is_none()
    }

    /// Decides commands in order, up to the first that leads to events: these are to be appended on that count.
    pub(super) async fn decide(&mut self, ctx: &Context) -> Option<(Batch, u64)> {
        while self.is_open() && self.state.is_some() {
            match self.decide_first(ctx).await {
                Ok(Some(batch)) => return Some((batch, self.state.as_ref()?.count)),
                Ok(None) => {}
                Err(failure) => self.failure = Some(failure),
            }
        }
        None
    }

    /// The events that the first waiting command leads to; `None` where nothing is to be appended for it.
    async fn decide_first(&mut self, ctx: &Context) -> Result<Option<Batch>, Failure> {
        let (Some(accepted), Some(state)) = (self.waiting.front(), &self.state) else {
            return Ok(None);
        };
        let standing = standing(accepted, &self.stream, state, ctx).await?;
        if !standing.is_empty() {
            ctx.counters.decisions_standing.add(1);
            let answer = accepted.events(&standing);
            self.follow(&standing, answer, ctx).await?;
            return Ok(None);
        }
        match guarded::<C, _>(|| Ok(C::decide(&accepted.intent, state.state())))? {
            Err(rejected) => {
                let answer = accepted.rejected(rejected, ctx);
                self.done(Some(answer));
                Ok(None)
            }
            Ok(events) if events.is_empty() => {
                let answer = accepted.no_events();
                self.done(answer);
                Ok(None)
            }
            Ok(events) => {
                let events: Vec<<C::Of as Aggregate>::Event> = events;
                let batch = accepted.batch(&events)?;
                self.decided += 1;
                Ok(Some(batch))
            }
        }
    }

    /// Takes the log's answer to the first waiting command.
    pub(super) async fn appended(
        &mut self,
        batch: Batch,
        answer: Option<Result<Vec<Appended>, AppendError>>,
        stored: &StoredEvents,
        ctx: &Context,
    ) {
        let taken = match answer {
            Some(Ok(appended)) => self.stored(batch, &appended, stored, ctx).await,
            Some(Err(AppendError::CountMismatch { .. })) if self.decided < DECIDED_AT_MOST => {
                ctx.counters.decisions_repeated.add(1);
                self.state = None;
                Ok(())
            }
            Some(Err(AppendError::Store(error))) => Err(error.into()),
            Some(Err(error)) => Err(Failure::retry(format!("decided {} times: {error}", self.decided))),
            None => Err(Failure::retry("the log did not answer for every command")),
        };
        if let Err(failure) = taken {
            self.failure = Some(failure);
        }
    }

    async fn stored(
        &mut self,
        batch: Batch,
        appended: &[Appended],
        stored: &StoredEvents,
        ctx: &Context,
    ) -> Result<(), Failure> {
        let Some(accepted) = self.waiting.front() else {
            return Ok(());
        };
        accepted.after_store(ctx);
        let all_fresh = appended.iter().all(|one| *one == Appended::Fresh);
        let events = stored.of(batch, appended, ctx)?;
        // Where the log held some of them already, it alone knows what the aggregate has now.
        self.state = match self.state.take() {
            Some(state) if all_fresh => state.after::<C::Fold>(&events).ok(),
            _ => None,
        };
        let answer = accepted.events(&events);
        self.follow(&events, answer, ctx).await
    }

    /// What follows from stored events; then the command is done.
    async fn follow(
        &mut self,
        events: &[RawEvent],
        answer: Option<Answer>,
        ctx: &Context,
    ) -> Result<(), Failure> {
        let then = ctx.router.follow_ups(events, &ctx.bodies).await?;
        self.settled.then.extend(then);
        self.done(answer);
        Ok(())
    }

    fn done(&mut self, answer: Option<Answer>) {
        self.waiting.pop_front();
        self.decided = 0;
        self.settled.outcome.done += 1;
        self.settled.answers.extend(answer);
    }

    pub(super) fn settle(mut self) -> Settlement {
        if let Some(failure) = self.failure {
            self.settled.outcome.rest = failure.rest();
        }
        self.settled
    }
}

/// The stream of a command, which must be the one that its group is named after: its state is that of the group's lease.
fn in_its_group<C: Decider>(lease: &Lease, accepted: &Accepted<C>) -> Result<StreamKey, Failure> {
    let stream = accepted.stream()?;
    if aggregate_group_key(&stream) == lease.group.key {
        return Ok(stream);
    }
    Err(Failure::retry(format!(
        "`{}` is about {}:{}, and its group about {}: its aggregate id has changed since it was sent",
        C::NAME,
        stream.aggregate_type,
        stream.id,
        lease.group.key
    )))
}

/// The events that a command has led to already, in an earlier run or when it was sent before under its key.
///
/// The state holds every event of the log, so that it says exactly which identities are stored; only where its filter is
/// not sure, or says yes, the log is read.
async fn standing<C: Decider>(
    accepted: &Accepted<C>,
    stream: &StreamKey,
    state: &UpToDate<State<C>>,
    ctx: &Context,
) -> Result<Vec<RawEvent>, Failure> {
    let command = accepted.body.id;
    let Some(first) = command.event(0) else {
        return Ok(Vec::new());
    };
    let key = guarded::<C, _>(|| Ok(accepted.intent.payload.idempotency_key()))?;
    let of = |index| {
        identity(
            stream,
            C::NAME,
            command.event(index).unwrap_or(first),
            index,
            key.as_deref(),
        )
    };
    if state.holds(&of(0)) == Membership::No {
        return Ok(Vec::new());
    }
    let own = own_events(stream, command, &*ctx.ports.log).await?;
    if !own.is_empty() || key.is_none() {
        return Ok(own);
    }
    with_identities(stream, state.count, of, ctx).await
}
