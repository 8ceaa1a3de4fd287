//! Commands that decide on the state of their run, and a log that guards none of them.
use super::{Finished, Noted, Run, RunEvent, Story, Total, Totals, at, tenant};
use async_trait::async_trait;
use foldwright_domain::{
    AggregateId, Command, Decider, Intent, InvalidId, RawEvent, Rejected, StreamKey, TenantId,
};
use foldwright_ports::{
    Append, AppendError, Appended, Cursor, EventLog, EventRef, Expect, GroupId, Limits, LogCapabilities,
    Page, Result, Retention, Selection,
};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Takes one of the `seats` of a run: as many events as it may have. The number 13 makes it panic.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Take {
    pub(crate) run: String,
    pub(crate) n: u64,
    pub(crate) seats: u64,
    pub(crate) key: Option<String>,
}

impl Command for Take {
    type Of = Run;
    const NAME: &'static str = "take";

    fn aggregate_id(&self) -> Result<AggregateId, InvalidId> {
        AggregateId::parse(self.run.as_str())
    }

    fn idempotency_key(&self) -> Option<String> {
        self.key.clone()
    }
}

impl Decider for Take {
    type Fold = Totals;

    fn decide(intent: &Intent<Self>, total: &Total) -> Result<Vec<RunEvent>, Rejected> {
        let Self { run, n, seats, .. } = &intent.payload;
        assert!(*n != 13, "13 is not decided");
        if total.events >= *seats {
            return Err(Rejected::new("full", format!("all {seats} seats are taken")));
        }
        Ok(vec![RunEvent::Noted(Noted {
            run: run.clone(),
            n: *n,
            key: None,
        })])
    }
}

/// Notes the sum so far, or 1, so that the sum doubles; from `until` on it does nothing.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Double {
    pub(crate) run: String,
    pub(crate) until: u64,
}

impl Command for Double {
    type Of = Run;
    const NAME: &'static str = "double";

    fn aggregate_id(&self) -> Result<AggregateId, InvalidId> {
        AggregateId::parse(self.run.as_str())
    }
}

impl Decider for Double {
    type Fold = Totals;

    fn decide(intent: &Intent<Self>, total: &Total) -> Result<Vec<RunEvent>, Rejected> {
        let Self { run, until } = &intent.payload;
        if total.sum >= *until {
            return Ok(Vec::new());
        }
        Ok(vec![RunEvent::Noted(Noted {
            run: run.clone(),
            n: total.sum.max(1),
            key: None,
        })])
    }
}

/// Ends a run once: its own earlier ending is the last number of the story.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct End {
    pub(crate) run: String,
}

impl Command for End {
    type Of = Run;
    const NAME: &'static str = "end";

    fn aggregate_id(&self) -> Result<AggregateId, InvalidId> {
        AggregateId::parse(self.run.as_str())
    }
}

impl Decider for End {
    type Fold = Story;

    fn decide(intent: &Intent<Self>, story: &Vec<u64>) -> Result<Vec<RunEvent>, Rejected> {
        if story.last() == Some(&0) {
            return Err(Rejected::new("ended", "it has ended before"));
        }
        let run = intent.payload.run.clone();
        Ok(vec![RunEvent::Finished(Finished { run })])
    }
}

pub(crate) fn take(run: &str, n: u64, seats: u64) -> Intent<Take> {
    Intent::new(
        tenant("a"),
        at(n as i64),
        Take {
            run: run.into(),
            n,
            seats,
            key: None,
        },
    )
}

pub(crate) fn keyed_take(run: &str, n: u64, seats: u64, key: &str) -> Intent<Take> {
    let mut intent = take(run, n, seats);
    intent.payload.key = Some(key.into());
    intent
}

pub(crate) fn double(run: &str, ms: i64, until: u64) -> Intent<Double> {
    Intent::new(
        tenant("a"),
        at(ms),
        Double {
            run: run.into(),
            until,
        },
    )
}

pub(crate) fn end(run: &str, ms: i64) -> Intent<End> {
    Intent::new(tenant("a"), at(ms), End { run: run.into() })
}

/// The group in which the decisions of a run of tenant `a` are taken.
pub(crate) fn decide_group(run: &str) -> GroupId {
    GroupId {
        tenant: tenant("a"),
        path: "command/decide".into(),
        key: format!("run:{run}").into(),
    }
}

/// A log that knows no conditional append.
pub(crate) struct Unguarded(pub(crate) Arc<dyn EventLog>);

#[async_trait]
impl EventLog for Unguarded {
    fn capabilities(&self) -> LogCapabilities {
        LogCapabilities { conditional: false }
    }

    async fn append(&self, appends: Vec<Append>) -> Vec<Result<Vec<Appended>, AppendError>> {
        assert!(appends.iter().all(|append| append.expect == Expect::Any));
        self.0.append(appends).await
    }

    async fn load(&self, stream: &StreamKey, from: Option<Cursor>, limits: Limits) -> Result<Page<RawEvent>> {
        self.0.load(stream, from, limits).await
    }

    async fn find(&self, events: &[EventRef]) -> Result<Vec<Option<RawEvent>>> {
        self.0.find(events).await
    }

    async fn scan(
        &self,
        selection: &Selection,
        from: Option<Cursor>,
        limits: Limits,
    ) -> Result<Page<RawEvent>> {
        self.0.scan(selection, from, limits).await
    }

    async fn aggregates(
        &self,
        selection: &Selection,
        from: Option<Cursor>,
        limits: Limits,
    ) -> Result<Page<StreamKey>> {
        self.0.aggregates(selection, from, limits).await
    }

    async fn tenants(&self, from: Option<Cursor>, limits: Limits) -> Result<Page<TenantId>> {
        self.0.tenants(from, limits).await
    }

    async fn erase(&self, selection: &Selection, limit: usize) -> Result<usize> {
        self.0.erase(selection, limit).await
    }

    async fn retain(&self, retention: &Retention, limit: usize) -> Result<usize> {
        self.0.retain(retention, limit).await
    }
}
