//! The state that deciders of one aggregate decide on: what the fold has stored, brought up to the log in memory.
use super::Failure;
use crate::{
    context::Context,
    fold::{Kept, Ledger, Membership, Panicked, Progress, RefoldError, Weave},
    lean::seen,
};
use foldwright_domain::{Fold, Identity, OrderKind, RawEvent, Recorded, StreamKey};
use foldwright_ports::{Cursor, FoldRow, Limits, Page};

/// How many events are read at a time.
const PAGE: Limits = Limits::items(1_000);

/// A state that holds every event of its aggregate, as of when the log was asked.
pub(super) struct UpToDate<S> {
    progress: Progress<S>,
    /// How many events the log holds: what an append on this state expects. Fewer than the state holds where retention has
    /// removed some.
    pub(super) count: u64,
}

impl<S> UpToDate<S> {
    /// Brings a stored row up to the `count` events of the log. The row must have been loaded before they were counted, and the
    /// base after that.
    ///
    /// A row with that many events is up to date as it is. Otherwise the log is read, within the budget of refolds: whoever
    /// appended, the fold's own job has not come yet. A row that another version made, or that cannot be read, is
    /// not trusted.
    pub(super) async fn load<F: Fold<State = S>>(
        stream: &StreamKey,
        row: Option<FoldRow<Option<S>>>,
        count: u64,
        base: Kept<S>,
        ctx: &Context,
    ) -> Result<Self, Failure> {
        // Where the log was cut, a count says how many events there are and not which ones.
        let is_whole = base.is_empty();
        match row.and_then(usable::<F>) {
            Some(progress) if progress.events > count || !is_whole => {
                Self::beyond_the_log::<F>(stream, progress, count, ctx).await
            }
            Some(progress) if progress.events == count => Ok(Self { progress, count }),
            _ if count == 0 && is_whole => Self::init::<F>(),
            _ => Self::from_log::<F>(stream, base, count, ctx).await,
        }
    }

    fn init<F: Fold<State = S>>() -> Result<Self, Failure> {
        Ok(Self {
            progress: init::<F>()?,
            count: 0,
        })
    }

    /// Folds every event of the log, behind what was kept at the horizon of a cut.
    async fn from_log<F: Fold<State = S>>(
        stream: &StreamKey,
        base: Kept<S>,
        estimate: u64,
        ctx: &Context,
    ) -> Result<Self, Failure> {
        let (mut weave, mut progress) =
            Weave::begin::<F>(base).map_err(|panicked| broken::<F>("init", &panicked))?;
        let mut count = 0;
        let read = Read::admit(stream, estimate, ctx)?;
        let mut from = None;
        loop {
            let page = read.page(from).await?;
            count += page.items.len() as u64;
            let woven = weave.page::<F>(page.items, page.next.is_none());
            for raw in &woven.map_err(RefoldError::from)? {
                progress = step::<F>(progress, raw)?;
            }
            match page.next {
                Some(next) => from = Some(next),
                None => return Ok(Self { progress, count }),
            }
        }
    }

    /// Retention has removed what the state holds: it cannot be folded anew, only what it lacks can be added.
    async fn beyond_the_log<F: Fold<State = S>>(
        stream: &StreamKey,
        mut progress: Progress<S>,
        estimate: u64,
        ctx: &Context,
    ) -> Result<Self, Failure> {
        let (mut count, mut missing) = (0, Vec::new());
        let read = Read::admit(stream, estimate, ctx)?;
        let mut from = None;
        loop {
            let page = read.page(from).await?;
            count += page.items.len() as u64;
            let applied = progress.applied.index();
            for raw in page.items {
                match applied.contains(&raw.meta.identity) {
                    Membership::Yes => {}
                    Membership::No => missing.push(raw),
                    Membership::Unsure => return Err(forgets(progress.events)),
                }
            }
            match page.next {
                Some(next) => from = Some(next),
                None => break,
            }
        }
        let is_late = |raw: &RawEvent| Some(raw.meta.position()) < progress.last_applied;
        if <F::Order as OrderKind>::CANONICAL && missing.iter().any(is_late) {
            return Err(forgets(progress.events));
        }
        for raw in &missing {
            progress = step::<F>(progress, raw)?;
        }
        Ok(Self { progress, count })
    }

    pub(super) fn state(&self) -> &S {
        &self.progress.state
    }

    /// Whether an event of this identity is stored. Exact where it says yes or no.
    pub(super) fn holds(&self, identity: &Identity) -> Membership {
        self.progress.applied.index().contains(identity)
    }

    /// The state after events that were stored on top of it.
    pub(super) fn after<F: Fold<State = S>>(self, events: &[RawEvent]) -> Result<Self, Failure> {
        let Self { mut progress, count } = self;
        for raw in events {
            progress = step::<F>(progress, raw)?;
        }
        Ok(Self {
            progress,
            count: count + events.len() as u64,
        })
    }
}

/// All events of a stream with these identities, in their order, up to the first that is not there.
pub(super) async fn with_identities(
    stream: &StreamKey,
    estimate: u64,
    identity: impl Fn(usize) -> Identity,
    ctx: &Context,
) -> Result<Vec<RawEvent>, Failure> {
    let read = Read::admit(stream, estimate, ctx)?;
    let mut all = std::collections::BTreeMap::new();
    let mut from = None;
    loop {
        let page = read.page(from).await?;
        all.extend(page.items.into_iter().map(|raw| (raw.meta.identity, raw)));
        match page.next {
            Some(next) => from = Some(next),
            None => break,
        }
    }
    Ok((0..).map_while(|index| all.remove(&identity(index))).collect())
}

/// A read of a whole stream, within the budget of refolds.
struct Read<'a> {
    stream: &'a StreamKey,
    ctx: &'a Context,
    _admission: crate::fold::Admission,
}

impl<'a> Read<'a> {
    fn admit(stream: &'a StreamKey, estimate: u64, ctx: &'a Context) -> Result<Self, Failure> {
        let now = ctx.ports.clock.now();
        let admission = ctx
            .refolds
            .admit(&stream.tenant, estimate, now)
            .map_err(|after| {
                ctx.counters.deferred.add(1);
                Failure::defer(after)
            })?;
        Ok(Self {
            stream,
            ctx,
            _admission: admission,
        })
    }

    async fn page(&self, from: Option<Cursor>) -> Result<Page<RawEvent>, Failure> {
        Ok(self.ctx.ports.log.load(self.stream, from, PAGE).await?)
    }
}

/// The row, if this version of the fold made it and this build can read all of it.
fn usable<F: Fold>(row: FoldRow<Option<F::State>>) -> Option<Progress<F::State>> {
    if row.fold_version != F::VERSION {
        return None;
    }
    Some(Progress {
        state: row.state?,
        events: row.events,
        last_applied: row.last_applied,
        applied: Ledger::decode(&row.ledger).ok()?.applied,
    })
}

fn init<F: Fold>() -> Result<Progress<F::State>, Failure> {
    Progress::init::<F>().map_err(|panicked| broken::<F>("init", &panicked))
}

/// Never skips an event: one that this build does not know is an error, because the count would still match without it.
fn step<F: Fold>(progress: Progress<F::State>, raw: &RawEvent) -> Result<Progress<F::State>, Failure> {
    let data = seen::<F::On>(raw)
        .map_err(|message| Failure::retry(format!("reading an event panicked: {message}")))??;
    let event = Recorded {
        meta: raw.meta.clone(),
        data,
    };
    progress
        .step::<F>(&event)
        .map_err(|panicked| broken::<F>("apply", &panicked))
}

fn broken<F: Fold>(function: &str, Panicked { message }: &Panicked) -> Failure {
    Failure::quarantine(format!("`{function}` of fold `{}` panicked: {message}", F::NAME))
}

fn forgets(applied: u64) -> Failure {
    Failure::retry(format!(
        "the log no longer holds all {applied} events of this state and cannot say which ones the state lacks: a decision \
         on it could forget some"
    ))
}
