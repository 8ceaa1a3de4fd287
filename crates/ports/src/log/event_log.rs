//! The event log's contract.
use crate::{Append, AppendError, Appended, Cursor, EventRef, Limits, Page, Result, Retention, Selection};
use async_trait::async_trait;
use foldwright_domain::{RawEvent, StreamKey, TenantId};

/// What a log can do beyond the minimum. What it declares it must do, and what it does not declare it must refuse
/// with [`Kind::Unsupported`](crate::Kind::Unsupported).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LogCapabilities {
    /// Honours [`Expect::Count`](crate::Expect::Count).
    pub conditional: bool,
}

/// An append-only set of events, keyed by identity.
///
/// ```text
/// append ──► [ identity known? ] ──yes──► Duplicate / Conflict (the stored one stays)
///                    │no
///            [ count as expected? ] ──no──► CountMismatch, nothing stored
///                    │yes
///                 durable ──► Fresh
/// ```
///
/// # Contract
/// An event exists once per identity, however often, concurrently or from however many processes it is appended;
/// the first accepted one wins for as long as retention keeps it. Every reader sees distinct events.
///
/// # Ordering
/// [`load`](Self::load) and [`scan`](Self::scan) answer in canonical order: by `(occurred_at, id)`, ids compared
/// as numbers. A read sees every append that returned before it began.
///
/// # Durability
/// An append that returned survives the death of the process and of the engine. Adapters may gather concurrent
/// appends into one write; each answer comes only when its own events are durable.
///
/// # Idempotency
/// All calls may be repeated. A repeated append answers `Duplicate` for what the first one stored.
///
/// # Cancellation
/// Dropping a call's future leaves it undecided whether it took effect; repeat it to find out.
///
/// # Errors
/// One refused append never fails its neighbours in the call. An unknown outcome is
/// [`Kind::Timeout`](crate::Kind::Timeout) or [`Kind::Unavailable`](crate::Kind::Unavailable).
///
/// # How engines meet it
/// *SQLite, Postgres*: a unique index on the identity, one transaction per call, all capabilities. *ClickHouse*: no
/// constraints, so keyed events are looked up in one batch before an insert; two truly concurrent ones may both be
/// called `Fresh`, readers deduplicate by identity with a rule that merges do not change; inserts are gathered to at
/// least 1,000 rows; no conditional append.
#[async_trait]
pub trait EventLog: Send + Sync + 'static {
    /// What this adapter is, for people who look at what was wired: the Rust type unless it says otherwise.
    fn adapter(&self) -> &'static str {
        std::any::type_name::<Self>()
    }

    /// How many calls it serves at a time, where that is bounded (a pool of connections); `None` where callers never wait
    /// for each other's place. A kernel whose worker needs more does not start.
    fn connections(&self) -> Option<usize> {
        None
    }

    /// What this log can do.
    fn capabilities(&self) -> LogCapabilities;

    /// Appends the events of several commands; answers in the order of the call, and per event in the order of its
    /// batch. A command's events are stored all or none.
    async fn append(&self, appends: Vec<Append>) -> Vec<Result<Vec<Appended>, AppendError>>;

    /// The events of one stream, in canonical order.
    async fn load(&self, stream: &StreamKey, from: Option<Cursor>, limits: Limits) -> Result<Page<RawEvent>>;

    /// How many distinct events these streams hold, in the order asked; 0 for one that holds none. What
    /// [`Expect::Count`](crate::Expect::Count) compares with, at the moment of the read.
    ///
    /// Unless an adapter knows better, it reads the streams.
    async fn count(&self, streams: &[StreamKey]) -> Result<Vec<u64>> {
        let mut counts = Vec::with_capacity(streams.len());
        for stream in streams {
            let (mut count, mut from) = (0, None);
            loop {
                let page = self.load(stream, from, Limits::items(1_000)).await?;
                count += page.items.len() as u64;
                match page.next {
                    Some(next) => from = Some(next),
                    None => break,
                }
            }
            counts.push(count);
        }
        Ok(counts)
    }

    /// Single events, in the order asked; `None` for one that is not stored in that stream.
    async fn find(&self, events: &[EventRef]) -> Result<Vec<Option<RawEvent>>>;

    /// Events of many streams, in canonical order, without gap or repeat for a selection that no longer changes.
    /// Promises nothing about events appended while it runs.
    async fn scan(
        &self,
        selection: &Selection,
        from: Option<Cursor>,
        limits: Limits,
    ) -> Result<Page<RawEvent>>;

    /// The streams that hold a selected event, each once, ordered by type and id.
    async fn aggregates(
        &self,
        selection: &Selection,
        from: Option<Cursor>,
        limits: Limits,
    ) -> Result<Page<StreamKey>>;

    /// The tenants that have events, in order of their names.
    async fn tenants(&self, from: Option<Cursor>, limits: Limits) -> Result<Page<TenantId>>;

    /// Removes selected events, at most `limit`; answers how many. Fewer than `limit` means that none is left.
    async fn erase(&self, selection: &Selection, limit: usize) -> Result<usize>;

    /// Removes what lies past its retention, at most `limit`; answers how many. Appends and loads go on meanwhile.
    async fn retain(&self, retention: &Retention, limit: usize) -> Result<usize>;
}
