//! What must hold when all is done, computed the plain way from what was sent and what the log held.
use super::{
    facts::{Fact, in_the_log},
    plan::{MIGRATED, PARTS, TENANTS, broken, bulky, finish, later, migrated, numbers, takes, tenant},
    service::{Lines, Parity, SEATS, Shelf, Story, Total, Totals},
    world::open,
};
use foldwright::{
    domain::{Fold, Map, Millis},
    ports::{Depth, GroupFilter, Limits, Ports},
    sqlite::{Sqlite, rusqlite},
};
use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

const MANY: Limits = Limits {
    items: 100_000,
    bytes: usize::MAX,
};

/// Everything that projections and the log hold, to the byte.
#[derive(PartialEq, Eq, Debug)]
pub(super) struct Standing {
    pub(super) facts: BTreeSet<Fact>,
    rows: Vec<String>,
}

/// A row that a subscriber left.
struct Hearing {
    ear: String,
    event: String,
    state: String,
    stored: bool,
}

struct Written {
    cut: Vec<Fact>,
    attempts: BTreeMap<String, usize>,
    heard: Vec<Hearing>,
    shelf: BTreeMap<(String, String), String>,
    notes: BTreeMap<String, String>,
    sound: String,
}

/// After the first half nothing is cut, nothing came later, and bodies are still kept.
pub(super) async fn judge(store: &Path, half: bool) -> Standing {
    let sqlite = open(store);
    let ports = sqlite.ports();
    let written = written(&sqlite).await;
    assert_eq!(written.sound, "ok");
    queue_is_done(&ports).await;
    if !half {
        let bodies = ports.hot_blobs.list(Millis(i64::MAX), None, MANY).await.unwrap();
        assert_eq!(bodies.items, [], "bodies that nobody holds");
    }
    let log = in_the_log(&ports).await;
    let horizon = written
        .notes
        .get("horizon")
        .map_or(0, |noted| noted.parse().unwrap());
    assert_eq!(horizon == 0, half);
    for fact in &log {
        assert!(fact.accepted_at >= horizon, "{fact:?} was not cut");
    }
    let facts: BTreeSet<Fact> = written.cut.iter().chain(&log).cloned().collect();
    for fact in facts.iter().filter(|fact| fact.accepted_at >= horizon) {
        assert!(log.contains(fact), "{fact:?} is lost");
    }
    stored_once(&facts, &written.attempts, half);
    let mut rows = Vec::new();
    for owner in TENANTS {
        let of_tenant: Vec<_> = facts.iter().filter(|fact| fact.tenant == owner).collect();
        folds(&ports, owner, &of_tenant, &written.shelf).await;
        lines(&ports, owner, &of_tenant).await;
        rows.extend(dump(&ports, owner).await);
    }
    rows.extend(written.shelf.iter().map(|row| format!("{row:?}")));
    heard(&facts, &written.heard);
    sqlite.close().await.unwrap();
    Standing { facts, rows }
}

async fn written(sqlite: &Sqlite) -> Written {
    let read = sqlite.read(|db| {
        let mut cut = db.prepare("SELECT fact FROM facts")?;
        let cut = cut.query_map([], |row| row.get::<_, String>(0))?;
        let cut = cut.collect::<rusqlite::Result<Vec<_>>>()?;
        let mut attempts = db.prepare("SELECT by, count(*) FROM attempts GROUP BY by")?;
        let attempts = attempts.query_map([], |row| Ok((row.get(0)?, row.get::<_, i64>(1)? as usize)))?;
        let attempts = attempts.collect::<rusqlite::Result<BTreeMap<_, _>>>()?;
        let mut heard = db.prepare("SELECT ear, event, state, stored FROM heard ORDER BY rowid")?;
        let heard = heard.query_map([], |row| {
            Ok(Hearing {
                ear: row.get(0)?,
                event: row.get(1)?,
                state: row.get(2)?,
                stored: row.get(3)?,
            })
        })?;
        let heard = heard.collect::<rusqlite::Result<Vec<_>>>()?;
        let mut shelf = db.prepare("SELECT tenant, key, state FROM shelf")?;
        let shelf = shelf.query_map([], |row| Ok(((row.get(0)?, row.get(1)?), row.get(2)?)))?;
        let shelf = shelf.collect::<rusqlite::Result<BTreeMap<_, _>>>()?;
        let mut notes = db.prepare("SELECT name, value FROM notes")?;
        let notes = notes.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
        let notes = notes.collect::<rusqlite::Result<BTreeMap<_, _>>>()?;
        let sound = db.query_row("PRAGMA integrity_check", [], |row| row.get(0))?;
        Ok(Written {
            cut: cut
                .iter()
                .map(|fact| serde_json::from_str(fact).unwrap())
                .collect(),
            attempts,
            heard,
            shelf,
            notes,
            sound,
        })
    });
    read.await.unwrap()
}

/// Nothing waits, is leased, blocked, dead or kept for nobody, and every figure is what it counts.
async fn queue_is_done(ports: &Ports) {
    let admin = &ports.queue_admin;
    let mut from = None;
    loop {
        let checked = admin.check(from, 1_000).await.unwrap();
        assert_eq!(checked.violations, []);
        from = checked.next;
        if from.is_none() {
            break;
        }
    }
    assert_eq!(admin.recount().await.unwrap(), []);
    let groups = admin.groups(&GroupFilter::default(), None, MANY).await.unwrap();
    assert_eq!(groups.items, [], "groups that are not done");
    for (route, depth) in admin.depth().await.unwrap() {
        assert_eq!(depth, Depth::default(), "{route}");
    }
}

/// G1: every command has exactly its events; one without a key as often as it was sent, at least once.
fn stored_once(facts: &BTreeSet<Fact>, attempts: &BTreeMap<String, usize>, half: bool) {
    let mut expected = 0;
    let of = |by: &str| -> BTreeMap<&str, Vec<&Fact>> {
        let mut commands: BTreeMap<&str, Vec<&Fact>> = BTreeMap::new();
        for fact in facts.iter().filter(|fact| fact.by == by) {
            commands.entry(fact.command()).or_default().push(fact);
        }
        commands
    };
    let later = if half { Vec::new() } else { later() };
    for one in numbers().into_iter().chain(bulky()).chain(later) {
        let commands = of(&one.by());
        assert!(
            (1..=attempts[&one.by()]).contains(&commands.len()),
            "{one:?}: {commands:?}"
        );
        for events in commands.values() {
            expected += 1;
            let [event] = events.as_slice() else {
                panic!("{one:?}: {events:?}")
            };
            assert_eq!(
                (event.tenant.as_str(), event.run.as_str(), event.n),
                (one.tenant, one.run, Some(one.n))
            );
        }
    }
    let finished = [finish(), broken()].map(|one| one.by());
    for by in finished
        .into_iter()
        .chain([format!("{MIGRATED} {}", migrated().by())])
    {
        let commands = of(&by);
        assert_eq!(commands.len(), 1, "{by}: {commands:?}");
        for events in commands.values() {
            expected += events.len();
            assert_eq!(events.len() as u64, PARTS, "{by}");
        }
    }
    let mut seats = 0;
    for one in takes() {
        let commands = of(&one.by());
        assert!(commands.len() <= 1, "{one:?}: {commands:?}");
        seats += commands.len();
    }
    assert_eq!(seats as u64, SEATS);
    assert_eq!(
        facts.len(),
        expected + seats,
        "the log held something that nobody sent"
    );
}

fn grouped<'a>(facts: &[&'a Fact], key: impl Fn(&Fact) -> String) -> BTreeMap<String, Vec<&'a Fact>> {
    let mut groups: BTreeMap<String, Vec<&Fact>> = BTreeMap::new();
    for fact in facts {
        groups.entry(key(fact)).or_default().push(fact);
    }
    groups
}

fn total(facts: &[&Fact]) -> String {
    let total = Total {
        events: facts.len() as u64,
        sum: facts.iter().map(|fact| fact.number()).sum(),
    };
    serde_json::to_string(&total).unwrap()
}

/// The numbers in canonical order.
fn story(facts: &[&Fact]) -> String {
    let mut facts = facts.to_vec();
    facts.sort_by_key(|fact| (fact.occurred_at, fact.event.clone()));
    let numbers: Vec<_> = facts.iter().map(|fact| fact.number()).collect();
    serde_json::to_string(&numbers).unwrap()
}

/// G3: each state is the left fold of the distinct events, to the byte.
async fn folds(ports: &Ports, owner: &str, facts: &[&Fact], shelf: &BTreeMap<(String, String), String>) {
    let by_run = grouped(facts, |fact| fact.run.clone());
    let by_parity = grouped(facts, |fact| (fact.number() % 2).to_string());
    let expected = |groups: &BTreeMap<String, Vec<&Fact>>, fold: fn(&[&Fact]) -> String| {
        let state = |(key, facts): (&String, &Vec<&Fact>)| (key.clone(), (fold(facts), facts.len() as u64));
        groups.iter().map(state).collect::<BTreeMap<_, _>>()
    };
    assert_eq!(states::<Totals>(ports, owner).await, expected(&by_run, total));
    assert_eq!(states::<Story>(ports, owner).await, expected(&by_run, story));
    assert_eq!(states::<Parity>(ports, owner).await, expected(&by_parity, total));
    let shelf: BTreeMap<_, _> = shelf
        .iter()
        .filter(|((tenant, _), _)| tenant == owner)
        .map(|((_, key), state)| (key.clone(), state.clone()))
        .collect();
    let by_run = by_run.iter().map(|(key, facts)| (key.clone(), total(facts)));
    assert_eq!(shelf, by_run.collect(), "{}", Shelf::NAME);
}

async fn states<F: Fold>(ports: &Ports, owner: &str) -> BTreeMap<String, (String, u64)> {
    let page = ports
        .folds
        .list(&tenant(owner), F::NAME, None, MANY)
        .await
        .unwrap();
    let rows = page.items.into_iter();
    rows.map(|row| {
        let state = String::from_utf8(row.state.to_vec()).unwrap();
        (row.key.key.to_string(), (state, row.events))
    })
    .collect()
}

/// G2: each number has its line, once.
async fn lines(ports: &Ports, owner: &str, facts: &[&Fact]) {
    let page = ports
        .records
        .list(&tenant(owner), Lines::NAME, None, None, MANY)
        .await;
    let records = page.unwrap().items.into_iter().map(|record| {
        let json = String::from_utf8(record.record.to_vec()).unwrap();
        (record.position.id.to_string(), json)
    });
    let mut records: Vec<_> = records.collect();
    records.sort();
    let mut expected: Vec<_> = facts
        .iter()
        .filter_map(|fact| Some((fact.event.clone(), fact.n?.to_string())))
        .collect();
    expected.sort();
    assert_eq!(records, expected);
}

/// G7: each subscriber has heard of each event that it is for, when the projection held it.
fn heard(facts: &BTreeSet<Fact>, heard: &[Hearing]) {
    for run in heard {
        assert!(
            run.stored,
            "{} ran for {} before its projection was stored",
            run.ear, run.event
        );
    }
    let by = |ear: &str| -> BTreeSet<&str> {
        let runs = heard.iter().filter(|run| run.ear == ear);
        runs.map(|run| run.event.as_str()).collect()
    };
    let live: Vec<_> = facts
        .iter()
        .filter(|fact| !fact.by.starts_with(MIGRATED))
        .collect();
    assert_eq!(by("all"), live.iter().map(|fact| fact.event.as_str()).collect());
    let with_line = live.iter().filter(|fact| fact.n.is_some());
    assert_eq!(by("late"), with_line.map(|fact| fact.event.as_str()).collect());
    for ((owner, run), facts) in live
        .iter()
        .fold(BTreeMap::<_, Vec<&Fact>>::new(), |mut groups, fact| {
            groups.entry((&fact.tenant, &fact.run)).or_default().push(fact);
            groups
        })
    {
        let newest = facts
            .iter()
            .max_by_key(|fact| (fact.occurred_at, &fact.event))
            .unwrap();
        let calm = || heard.iter().filter(|run| run.ear == "calm");
        assert!(
            calm().any(|run| run.event == newest.event),
            "{newest:?} was never heard of"
        );
        let state = story(&facts);
        assert!(
            calm().any(|run| run.state == state && facts.iter().any(|fact| fact.event == run.event)),
            "no merged run saw {state} of {owner}/{run}"
        );
    }
}

async fn dump(ports: &Ports, owner: &str) -> Vec<String> {
    let mut rows = Vec::new();
    for fold in [Totals::NAME, Story::NAME, Parity::NAME] {
        let page = ports.folds.list(&tenant(owner), fold, None, MANY).await.unwrap();
        rows.extend(page.items.iter().map(|row| format!("{row:?}")));
    }
    let page = ports
        .records
        .list(&tenant(owner), Lines::NAME, None, None, MANY)
        .await;
    rows.extend(page.unwrap().items.iter().map(|record| format!("{record:?}")));
    rows
}
