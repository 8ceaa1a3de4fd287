//! The events of the log in the plain form that the verdict goes by.
use super::{
    plan::{TENANTS, tenant},
    service::RunEvent,
    world::World,
};
use foldwright::{
    domain::{EventSet, RawEvent},
    ports::{Limits, Ports, Selection},
};
use serde::{Deserialize, Serialize};

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub(super) struct Fact {
    pub(super) tenant: String,
    pub(super) run: String,
    pub(super) occurred_at: i64,
    /// The event's id, which sorts as it was given.
    pub(super) event: String,
    pub(super) accepted_at: i64,
    pub(super) by: String,
    /// `None` for an ending.
    pub(super) n: Option<u64>,
}

impl Fact {
    fn of(event: &RawEvent) -> Self {
        let meta = &event.meta;
        let data = RunEvent::decode(&meta.event_type, &meta.version, &event.data).unwrap();
        assert_eq!(
            data.run(),
            meta.stream.id.as_str(),
            "an event lies under another run"
        );
        Self {
            tenant: meta.stream.tenant.to_string(),
            run: data.run().to_owned(),
            occurred_at: meta.occurred_at.0,
            event: meta.id.to_string(),
            accepted_at: meta.accepted_at.0,
            by: data.by().to_owned(),
            n: matches!(data, RunEvent::Noted(_)).then(|| data.n()),
        }
    }

    /// The id of the command that it came of: all of the event's id but its last three digits.
    pub(super) fn command(&self) -> &str {
        &self.event[..self.event.len() - 3]
    }

    pub(super) fn number(&self) -> u64 {
        self.n.unwrap_or(0)
    }
}

/// What the log holds of all tenants.
pub(super) async fn in_the_log(ports: &Ports) -> Vec<Fact> {
    let mut facts = Vec::new();
    for owner in TENANTS {
        let mut from = None;
        loop {
            let all = Selection::all(tenant(owner));
            let page = ports.log.scan(&all, from, Limits::items(1_000)).await.unwrap();
            facts.extend(page.items.iter().map(Fact::of));
            from = page.next;
            if from.is_none() {
                break;
            }
        }
    }
    facts
}

/// Writes down what the log holds, before some of it goes.
pub(super) async fn snapshot(world: &World) {
    let facts = in_the_log(&world.ports).await;
    let write = world.sqlite.write(move |tx| {
        for fact in facts {
            let json = serde_json::to_string(&fact).unwrap();
            tx.execute(
                "INSERT OR IGNORE INTO facts (event, fact) VALUES (?1, ?2)",
                (fact.event, json),
            )?;
        }
        Ok(())
    });
    world.points.quiet(write).await.unwrap();
}
