//! What the dead have told.
use super::victim::number;
use foldwright_adapter_sqlite::{Sqlite, rusqlite::Result};
use foldwright_ports::{Depth, JobId};
use std::collections::{BTreeMap, BTreeSet};

/// How far something that was asked for has got.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Known {
    /// It was asked for; whether it took effect is open until the file was looked at.
    Perhaps,
    Surely,
}

/// Everything that was ever asked for and not settled since.
#[derive(Default, Debug)]
pub(super) struct Ledger {
    events: BTreeMap<u64, Known>,
    jobs: BTreeMap<u64, Known>,
    /// Jobs whose end was asked for, and perhaps came.
    ending: BTreeSet<u64>,
    ended: u64,
}

/// What the file holds.
struct Held {
    events: Vec<u64>,
    /// By group, in order.
    jobs: BTreeMap<i64, Vec<u64>>,
    counted: Depth,
}

impl Ledger {
    /// Takes down a line of the victim's; what the test runner prints is none.
    pub(super) fn hear(&mut self, line: &str) {
        let Some((verb, numbers)) = line.rsplit_once('@').and_then(|(_, line)| line.split_once(' ')) else {
            return;
        };
        let numbers = numbers.split(' ').filter_map(|n| n.parse::<u64>().ok());
        for n in numbers {
            match verb {
                "appending" => drop(self.events.insert(n, Known::Perhaps)),
                "appended" => drop(self.events.insert(n, Known::Surely)),
                "staging" => drop(self.jobs.insert(n, Known::Perhaps)),
                "staged" => drop(self.jobs.insert(n, Known::Surely)),
                "unstaged" => drop(self.jobs.remove(&n)),
                "settling" => drop(self.ending.insert(n)),
                "lost" => drop(self.ending.remove(&n)),
                "settled" => {
                    self.ending.remove(&n);
                    self.jobs.remove(&n).expect("what is settled was staged");
                    self.ended += 1;
                }
                other => panic!("the victim said {other}"),
            }
        }
    }

    /// Compares the file with what was told, and learns what was open.
    pub(super) async fn check(&mut self, sqlite: &Sqlite) {
        let held = sqlite.read(Held::read).await.unwrap();
        agree("event", &mut self.events, &held.events, &BTreeSet::new());
        let jobs: Vec<_> = held.jobs.values().flatten().copied().collect();
        agree("job", &mut self.jobs, &jobs, &self.ending);
        self.ending.clear();
        for (group, jobs) in &held.jobs {
            assert!(jobs.is_sorted(), "group {group} is out of order: {jobs:?}");
        }
        let depths = sqlite.ports().queue_admin.depth().await.unwrap();
        let counted = depths.values().fold(Depth::default(), |sum, depth| Depth {
            waiting: sum.waiting + depth.waiting,
            leased: sum.leased + depth.leased,
            blocked: sum.blocked + depth.blocked,
            dead: sum.dead + depth.dead,
        });
        assert_eq!(counted, held.counted, "the counters equal a recount");
    }

    /// Whether enough has happened for the test to mean something.
    pub(super) fn is_worth_something(&self) -> bool {
        self.events.len() > 100 && self.ended > 100
    }
}

/// What was surely done is there, what is there was asked for, and nothing is there twice.
fn agree(what: &str, told: &mut BTreeMap<u64, Known>, held: &[u64], ending: &BTreeSet<u64>) {
    let found: BTreeSet<_> = held.iter().copied().collect();
    assert_eq!(found.len(), held.len(), "an {what} is there twice");
    for n in &found {
        assert!(
            told.contains_key(n),
            "{what} {n} was never asked for, or is settled"
        );
    }
    told.retain(|n, known| {
        let there = found.contains(n);
        assert!(
            there || *known == Known::Perhaps || ending.contains(n),
            "{what} {n} was answered and is lost"
        );
        *known = Known::Surely;
        there
    });
}

impl Held {
    fn read(db: &foldwright_adapter_sqlite::rusqlite::Connection) -> Result<Self> {
        let mut events = db.prepare("SELECT id FROM fw_events")?;
        let events = events.query_map([], |row| {
            let id: [u8; 16] = row.get(0)?;
            Ok(u64::try_from(u128::from_be_bytes(id) >> 12).unwrap())
        })?;
        let mut jobs: BTreeMap<i64, Vec<u64>> = BTreeMap::new();
        let mut select = db.prepare("SELECT gid, id FROM fw_jobs ORDER BY gid, score, seq")?;
        let mut rows = select.query([])?;
        while let Some(row) = rows.next()? {
            jobs.entry(row.get(0)?)
                .or_default()
                .push(number(&JobId(row.get(1)?)));
        }
        let leased: u64 = {
            let mut groups = db.prepare("SELECT leased FROM fw_groups WHERE fence IS NOT NULL")?;
            let rows = groups.query_map([], |row| row.get::<_, Vec<u8>>(0))?;
            // Behind the byte of the format comes how many there are, which is small here.
            rows.map(|row| row.map(|bytes| u64::from(bytes[1])))
                .sum::<Result<u64>>()?
        };
        let all = jobs.values().map(|jobs| jobs.len() as u64).sum::<u64>();
        Ok(Self {
            events: events.collect::<Result<_>>()?,
            jobs,
            counted: Depth {
                waiting: all - leased,
                leased,
                ..Depth::default()
            },
        })
    }
}
