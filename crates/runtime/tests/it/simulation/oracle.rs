//! What must hold in the end, computed the plain way from what was sent and what the log holds.
use super::{
    plan::{Command, SEATS, Sent},
    run::Ears,
    watch::Watch,
};
use crate::support::{
    Bench, Ends, Hearing, Journal, Odds, Parity, START, Story, Supple, Total, Totals, Usage, tenant,
};
use foldwright_domain::{EventId, Fold, Map, RawEvent};
use foldwright_ports::{Limits, Selection, StateRow};
use foldwright_runtime::Answered;
use serde_json::Value;
use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

const TENANTS: [&str; 2] = ["a", "b"];
const MANY: Limits = Limits {
    items: 100_000,
    bytes: usize::MAX,
};

/// An event as the oracle sees it.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Fact {
    id: EventId,
    tenant: String,
    kind: String,
    aggregate: String,
    ms: i64,
    /// `None` for an ending.
    n: Option<u64>,
    key: Option<String>,
}

pub(super) async fn judge(bench: &Bench, sent: &[Sent], ears: &Ears, watch: &Watch) {
    let mut facts = Vec::new();
    for owner in TENANTS {
        let page = bench
            .ports
            .log
            .scan(&Selection::all(tenant(owner)), None, MANY)
            .await
            .unwrap();
        facts.extend(page.items.iter().map(fact));
    }
    stored_once(sent, &facts);
    for owner in TENANTS {
        let of_tenant: Vec<_> = facts
            .iter()
            .filter(|fact| fact.tenant == owner)
            .cloned()
            .collect();
        folds(bench, owner, &of_tenant).await;
        maps(bench, owner, &of_tenant).await;
    }
    answers(sent, &facts).await;
    heard(&facts, ears);
    durable_first(ears, watch);
    settled(bench, &facts, ears).await;
}

fn fact(event: &RawEvent) -> Fact {
    let data: Value = serde_json::from_slice(&event.data).unwrap();
    Fact {
        id: event.meta.id,
        tenant: event.meta.stream.tenant.to_string(),
        kind: event.meta.stream.aggregate_type.to_string(),
        aggregate: event.meta.stream.id.to_string(),
        ms: event.meta.occurred_at.0 - START,
        n: data.get("n").and_then(Value::as_u64),
        key: data.get("key").and_then(Value::as_str).map(Into::into),
    }
}

/// G1: every accepted command has exactly its events, under its ids; of one key, one of those that were sent.
fn stored_once(sent: &[Sent], facts: &[Fact]) {
    let mut expected = 0;
    let mut keys = BTreeSet::new();
    for one in sent {
        let id = one.id.unwrap();
        let events: Vec<_> = facts.iter().filter(|fact| fact.id.command() == id).collect();
        match &one.command {
            Command::Note { run, n, key: None } => {
                expected += 1;
                assert_eq!(events.len(), 1, "{:?}", one.command);
                assert_eq!(
                    (&events[0].aggregate, events[0].n, events[0].ms, &events[0].tenant),
                    (run, Some(*n), one.ms, &one.tenant)
                );
            }
            Command::Note {
                run, key: Some(key), ..
            } => {
                if keys.insert((one.tenant.clone(), run.clone(), key.clone())) {
                    expected += 1;
                }
                let of_key = |fact: &&Fact| {
                    fact.tenant == one.tenant && fact.aggregate == *run && fact.key.as_ref() == Some(key)
                };
                let stored: Vec<_> = facts.iter().filter(of_key).collect();
                assert_eq!(stored.len(), 1, "{:?}", one.command);
                let from_a_command = |other: &&Sent| {
                    other.id.unwrap() == stored[0].id.command()
                        && other.ms == stored[0].ms
                        && matches!(&other.command, Command::Note { n, .. } if Some(*n) == stored[0].n)
                };
                assert_eq!(sent.iter().filter(from_a_command).count(), 1, "{:?}", stored[0]);
            }
            Command::Finish { run, times } => {
                let times = if run == "no" { 0 } else { *times };
                expected += times;
                assert_eq!(events.len(), times, "{:?}", one.command);
            }
            Command::Count { suite, n } => {
                expected += 1;
                assert_eq!(events.len(), 1, "{:?}", one.command);
                assert_eq!((&events[0].aggregate, events[0].n), (suite, Some(*n)));
            }
            Command::Take { run, n, .. } => {
                expected += events.len();
                for event in events {
                    assert_eq!(
                        (&event.aggregate, event.n, &event.tenant),
                        (run, Some(*n), &one.tenant)
                    );
                }
            }
        }
    }
    assert_eq!(facts.len(), expected, "the log holds something that nobody sent");
    seats(sent, facts);
}

/// G1: of those who asked for a seat, as many have one as there are, each once, however often they asked.
fn seats(sent: &[Sent], facts: &[Fact]) {
    let mut asked: BTreeMap<(&str, &str), BTreeMap<String, BTreeSet<EventId>>> = BTreeMap::new();
    for one in sent {
        if let Command::Take { run, key, .. } = &one.command {
            let id = one.id.unwrap();
            let who = key.clone().unwrap_or_else(|| id.to_string());
            let of_run = asked.entry((&one.tenant, run)).or_default();
            of_run.entry(who).or_default().insert(id.event(0).unwrap());
        }
    }
    for ((owner, run), asked) in asked {
        let of_run = |fact: &&Fact| fact.tenant == owner && fact.aggregate == run;
        let taken: BTreeSet<_> = facts.iter().filter(of_run).map(|fact| fact.id).collect();
        let seats = asked.len().min(usize::try_from(SEATS).unwrap());
        assert_eq!(taken.len(), seats, "{owner}/{run}");
        for (who, ids) in asked {
            assert!(
                ids.intersection(&taken).count() <= 1,
                "{who} has two seats of {owner}/{run}"
            );
        }
    }
}

/// The states of a fold: by key, as JSON, with the number of events.
async fn states<F: Fold>(bench: &Bench, owner: &str) -> BTreeMap<String, (Value, u64)> {
    let page = bench
        .ports
        .folds
        .list(&tenant(owner), F::NAME, None, MANY)
        .await
        .unwrap();
    let state = |row: StateRow| {
        (
            row.key.key.to_string(),
            (serde_json::from_slice(&row.state).unwrap(), row.events),
        )
    };
    page.items.into_iter().map(state).collect()
}

/// G3: each state is the left fold of the distinct events, in canonical order where that matters.
async fn folds(bench: &Bench, owner: &str, facts: &[Fact]) {
    let runs: Vec<_> = facts.iter().filter(|fact| fact.kind == "run").cloned().collect();
    let by = |facts: &[Fact], key: &dyn Fn(&Fact) -> String| {
        let mut groups: BTreeMap<String, Vec<Fact>> = BTreeMap::new();
        for fact in facts {
            groups.entry(key(fact)).or_default().push(fact.clone());
        }
        groups
    };
    let total = |facts: &[Fact]| {
        let total = Total {
            events: facts.len() as u64,
            sum: facts.iter().filter_map(|fact| fact.n).sum(),
        };
        (serde_json::to_value(total).unwrap(), facts.len() as u64)
    };
    let fold = |groups: BTreeMap<String, Vec<Fact>>, fold: &dyn Fn(&[Fact]) -> (Value, u64)| {
        groups
            .into_iter()
            .map(|(key, facts)| (key, fold(&facts)))
            .collect::<BTreeMap<_, _>>()
    };
    let aggregate = |fact: &Fact| fact.aggregate.clone();
    assert_eq!(
        states::<Totals>(bench, owner).await,
        fold(by(&runs, &aggregate), &total)
    );
    let story = |facts: &[Fact]| (serde_json::to_value(numbers(facts)).unwrap(), facts.len() as u64);
    assert_eq!(
        states::<Story>(bench, owner).await,
        fold(by(&runs, &aggregate), &story)
    );
    assert_eq!(
        states::<Supple>(bench, owner).await,
        fold(by(&runs, &aggregate), &story)
    );
    let endings: Vec<_> = runs.iter().filter(|fact| fact.n.is_none()).cloned().collect();
    let count = |facts: &[Fact]| (facts.len().into(), facts.len() as u64);
    assert_eq!(
        states::<Ends>(bench, owner).await,
        fold(by(&endings, &aggregate), &count)
    );
    let parity = |fact: &Fact| (fact.n.unwrap_or(0) % 2).to_string();
    assert_eq!(
        states::<Parity>(bench, owner).await,
        fold(by(&runs, &parity), &total)
    );
    let digit = |fact: &Fact| (fact.n.unwrap_or(0) % 10).to_string();
    assert_eq!(
        states::<Usage>(bench, owner).await,
        fold(by(facts, &digit), &total)
    );
}

/// Numbers in canonical order; an ending is a zero.
fn numbers(facts: &[Fact]) -> Vec<u64> {
    let mut facts = facts.to_vec();
    facts.sort_by_key(|fact| (fact.ms, fact.id));
    facts.iter().map(|fact| fact.n.unwrap_or(0)).collect()
}

/// What a sender is told is what the log says.
async fn answers(sent: &[Sent], facts: &[Fact]) {
    for one in sent {
        let id = one.id.unwrap();
        let own: BTreeSet<_> = facts
            .iter()
            .map(|fact| fact.id)
            .filter(|event| event.command() == id)
            .collect();
        let receipt = one.receipt.as_ref().unwrap();
        let command = &one.command;
        match receipt.decided(Duration::from_secs(5)).await {
            Ok(Answered::Events(stored)) => {
                assert_eq!(
                    stored.ids.into_iter().collect::<BTreeSet<_>>(),
                    own,
                    "{command:?}"
                );
                assert!(!own.is_empty(), "{command:?}");
            }
            Ok(Answered::Duplicate(stored)) => {
                let all: BTreeSet<_> = facts.iter().map(|fact| fact.id).collect();
                assert!(stored.ids.iter().all(|event| all.contains(event)), "{command:?}");
            }
            Ok(Answered::NoEvents | Answered::Rejected(_)) | Err(_) => {
                assert!(own.is_empty(), "{command:?} has events and no answer");
            }
        }
    }
}

/// G7: what a subscriber saw had been stored before.
fn durable_first(ears: &Ears, watch: &Watch) {
    fn seen<S: serde::Serialize>(watch: &Watch, projection: &str, runs: &[Hearing<S>]) {
        for run in runs {
            let state = serde_json::to_vec(&run.state).unwrap();
            assert!(
                watch.was_stored(projection, &state),
                "a run of {projection} saw a state that was never stored: {}",
                String::from_utf8_lossy(&state)
            );
        }
    }
    seen(watch, Totals::NAME, &ears.totals.runs());
    seen(watch, Story::NAME, &ears.story.runs());
    seen(watch, Story::NAME, &ears.settled.runs());
    seen(watch, Usage::NAME, &ears.usage.runs());
}

/// G2: each event has its row in each map that wants it, once.
async fn maps(bench: &Bench, owner: &str, facts: &[Fact]) {
    let odd = facts
        .iter()
        .filter(|fact| fact.kind == "run")
        .filter_map(|fact| fact.n)
        .filter(|n| n % 2 == 1);
    assert_eq!(records::<Odds>(bench, owner).await, sorted(odd.collect()));
    let all = facts.iter().map(|fact| fact.n.unwrap_or(0)).collect();
    assert_eq!(records::<Journal>(bench, owner).await, sorted(all));
}

async fn records<M: Map<Record = u64>>(bench: &Bench, owner: &str) -> Vec<u64> {
    let page = bench
        .reader()
        .records::<M>(&tenant(owner), None, None, MANY)
        .await
        .unwrap();
    sorted(page.items.iter().map(|row| row.record).collect())
}

fn sorted(mut numbers: Vec<u64>) -> Vec<u64> {
    numbers.sort_unstable();
    numbers
}

fn events<S>(runs: &[Hearing<S>]) -> BTreeSet<EventId> {
    runs.iter().map(|run| run.event).collect()
}

/// G7: each subscriber has heard each event that it wants, with a state that holds it.
fn heard(facts: &[Fact], ears: &Ears) {
    let ids = |wanted: &dyn Fn(&Fact) -> bool| {
        facts
            .iter()
            .filter(|fact| wanted(fact))
            .map(|fact| fact.id)
            .collect::<BTreeSet<_>>()
    };
    let of_runs = ids(&|fact| fact.kind == "run");
    assert_eq!(events(&ears.totals.runs()), of_runs);
    assert_eq!(events(&ears.story.runs()), of_runs);
    assert_eq!(events(&ears.usage.runs()), ids(&|_| true));
    assert_eq!(
        events(&ears.odds.runs()),
        ids(&|fact| fact.kind == "run" && fact.n.is_some_and(|n| n % 2 == 1))
    );
    for run in ears.story.runs().iter().chain(&ears.settled.runs()) {
        assert!(run.state.contains(&run.n), "{run:?}");
    }
    for run in ears.totals.runs() {
        assert!(run.state.events > 0 && run.state.sum >= run.n, "{run:?}");
    }
    for run in ears.odds.runs() {
        assert_eq!(run.state, run.n);
    }
}

/// S-11: of each aggregate, a merged run has heard the newest event, and one has seen the final state. It need not be
/// the last one: a run that was handed out before comes again behind it, where its event is later.
async fn settled(bench: &Bench, facts: &[Fact], ears: &Ears) {
    let runs = ears.settled.runs();
    for owner in TENANTS {
        for row in bench
            .ports
            .folds
            .list(&tenant(owner), Story::NAME, None, MANY)
            .await
            .unwrap()
            .items
        {
            let of_row =
                |fact: &&Fact| fact.tenant == owner && fact.kind == "run" && fact.aggregate == *row.key.key;
            let of_row: Vec<_> = facts.iter().filter(of_row).collect();
            let newest = of_row.iter().max_by_key(|fact| (fact.ms, fact.id)).unwrap();
            assert!(
                runs.iter().any(|run| run.event == newest.id),
                "{newest:?} was never heard"
            );
            let state: Vec<u64> = serde_json::from_slice(&row.state).unwrap();
            let saw_it = |run: &&Hearing<Vec<u64>>| {
                run.state == state && of_row.iter().any(|fact| fact.id == run.event)
            };
            assert!(
                runs.iter().any(|run| saw_it(&run)),
                "no merged run saw the final state of {:?}",
                row.key
            );
        }
    }
}
