//! Batches that a user's table refuses as a whole.
use crate::support::{All, Bench, Ear, Heard, Note, Odds, Run, RunEvent, Story, idle, note, tenant, until};
use async_trait::async_trait;
use foldwright_domain::Dispatch;
use foldwright_ports::{
    Error, FoldRow, FoldStore, GroupId, Kind, Record, RecordTable, Result, StateKey, StateRow, StateTable,
    Stored,
};
use foldwright_runtime::{Kernel, Pipeline, Role, WorkerSettings};
use std::sync::{
    Arc, Mutex,
    atomic::{AtomicBool, Ordering},
};

/// Stories in the store of the bench, behind a table that refuses some of them.
struct Picky {
    folds: Arc<dyn FoldStore>,
    /// How many new numbers it takes in one row.
    most: usize,
    bad: Option<u64>,
    kind: Kind,
    mended: AtomicBool,
    /// How many new numbers each call brought.
    calls: Mutex<Vec<usize>>,
}

impl Picky {
    fn new(bench: &Bench, most: usize, bad: Option<u64>, kind: Kind) -> Arc<Self> {
        Arc::new(Self {
            folds: bench.ports.folds.clone(),
            most,
            bad,
            kind,
            mended: AtomicBool::new(false),
            calls: Mutex::default(),
        })
    }

    fn calls(&self) -> Vec<usize> {
        self.calls.lock().unwrap().clone()
    }
}

fn with<A, B>(row: StateRow<A>, state: B) -> StateRow<B> {
    StateRow {
        key: row.key,
        state,
        fold_version: row.fold_version,
        revision: row.revision,
        events: row.events,
        last_applied: row.last_applied,
        created_at: row.created_at,
        updated_at: row.updated_at,
        ledger: row.ledger,
    }
}

#[async_trait]
impl StateTable<Vec<u64>> for Picky {
    async fn load(&self, keys: &[StateKey]) -> Result<Vec<Option<FoldRow<Option<Vec<u64>>>>>> {
        let rows = self.folds.load(keys).await?;
        let typed = |row: StateRow| {
            let state = serde_json::from_slice(&row.state).ok();
            with(row, state)
        };
        Ok(rows.into_iter().map(|row| row.map(typed)).collect())
    }

    async fn store(&self, rows: Vec<FoldRow<Vec<u64>>>) -> Vec<Result<Stored>> {
        let mut answers = Vec::new();
        for row in rows {
            let there = self.load(std::slice::from_ref(&row.key)).await.unwrap().remove(0);
            let new = row.state.len() - there.map_or(0, |row| row.events as usize);
            self.calls.lock().unwrap().push(new);
            let is_bad = self.bad.is_some_and(|bad| row.state.contains(&bad));
            if (new > self.most || is_bad) && !self.mended.load(Ordering::Relaxed) {
                answers.push(Err(Error::new(self.kind, "store", "as the test says")));
                continue;
            }
            let json = serde_json::to_vec(&row.state).unwrap().into();
            answers.extend(self.folds.store(vec![with(row, json)]).await);
        }
        answers
    }
}

fn pipeline(heard: &Arc<Heard<Vec<u64>>>) -> Pipeline<Run> {
    Pipeline::define("runs")
        .declares::<Note>()
        .fold::<Story>(|f| f.subscriber(Ear::<RunEvent, _, All>::new(heard), Dispatch::each()))
        .build()
        .unwrap()
}

/// Sends numbers of one run, of which each job is there before the first is worked on.
async fn send(bench: &Bench, heard: &Arc<Heard<Vec<u64>>>, numbers: u64) {
    let web = bench
        .with_role(Role::Web)
        .pipeline(pipeline(heard))
        .start()
        .unwrap();
    web.send_all((1..=numbers).map(|n| note("r", n as i64, n)))
        .await
        .unwrap();
}

fn start(bench: &Bench, heard: &Arc<Heard<Vec<u64>>>, table: &Arc<Picky>, splits: u32) -> Kernel {
    let settings = WorkerSettings {
        splits,
        ..WorkerSettings::default()
    };
    bench
        .kernel()
        .pipeline(pipeline(heard))
        .table::<Story>(table.clone())
        .worker(settings)
        .start()
        .unwrap()
}

/// R-15, S-01, G7: what those ahead decided goes out with the lease, once, though each of their writes replaced the one
/// before.
#[tokio::test(start_paused = true)]
async fn those_ahead_of_a_bad_event_commit_once_and_it_is_named() {
    let bench = Bench::new();
    let heard = Heard::new();
    let table = Picky::new(&bench, usize::MAX, Some(13), Kind::Full);
    send(&bench, &heard, 20).await;
    let kernel = start(&bench, &heard, &table, 32);
    until(async || heard.calls() == 12).await;
    assert_eq!(bench.state::<Story>("r").await, Some((1..=12).collect()));
    let mut numbers = heard.numbers();
    numbers.sort_unstable();
    assert_eq!(numbers, (1..=12).collect::<Vec<_>>());
    let group = GroupId {
        tenant: tenant("a"),
        path: "fold/story".into(),
        key: "run:r".into(),
    };
    let view = bench.ports.queue_admin.group(&group).await.unwrap().unwrap();
    assert_eq!((view.depth, view.failures), (8, 1));
    let error = view.last_error.unwrap();
    assert!(error.contains(&view.jobs[0].to_string()), "{error}");
    assert!(error.contains("as the test says"), "{error}");
    table.mended.store(true, Ordering::Relaxed);
    idle(&kernel).await;
    let mut numbers = heard.numbers();
    numbers.sort_unstable();
    assert_eq!(numbers, (1..=20).collect::<Vec<_>>());
    assert_eq!(bench.row::<Story>("r").await.unwrap().events, 20);
}

/// R-16
#[tokio::test(start_paused = true)]
async fn a_table_that_takes_eight_at_a_time_sees_smaller_parts_until_it_accepts() {
    let bench = Bench::new();
    let heard = Heard::new();
    let table = Picky::new(&bench, 8, None, Kind::Full);
    send(&bench, &heard, 100).await;
    let kernel = start(&bench, &heard, &table, 32);
    idle(&kernel).await;
    assert_eq!(bench.state::<Story>("r").await, Some((1..=100).collect()));
    assert_eq!(&table.calls()[..5], [100, 50, 25, 12, 6]);
    assert_eq!(heard.calls(), 100);
    assert_eq!(heard.numbers().iter().sum::<u64>(), 5_050);
    let taken: usize = table.calls().iter().filter(|new| **new <= 8).sum();
    assert_eq!(taken, 100, "every event was stored once");
    assert!(bench.blocked().await.is_empty());
}

/// R-17
#[tokio::test(start_paused = true)]
async fn a_lease_is_split_thirty_two_times_then_it_waits() {
    let bench = Bench::new();
    let heard = Heard::new();
    let table = Picky::new(&bench, 1, None, Kind::Full);
    send(&bench, &heard, 500).await;
    let kernel = start(&bench, &heard, &table, 32);
    until(async || heard.calls() != 0).await;
    let refused = table.calls().iter().filter(|new| **new > 1).count();
    assert_eq!(refused, 33);
    idle(&kernel).await;
    assert_eq!(bench.state::<Story>("r").await, Some((1..=500).collect()));
    assert_eq!(heard.calls(), 500);
}

/// R-17: without a budget there is one call; what cannot go better is not split.
#[tokio::test(start_paused = true)]
async fn without_a_budget_or_without_hope_there_is_one_call() {
    for (kind, splits) in [(Kind::Full, 0), (Kind::Invalid, 32)] {
        let bench = Bench::new();
        let heard = Heard::new();
        let table = Picky::new(&bench, usize::MAX, Some(13), kind);
        send(&bench, &heard, 20).await;
        let _kernel = start(&bench, &heard, &table, splits);
        until(async || !table.calls().is_empty()).await;
        tokio::time::sleep(std::time::Duration::from_millis(500)).await;
        assert_eq!(table.calls(), [20]);
        assert_eq!(bench.blocked().await.len(), usize::from(kind == Kind::Invalid));
    }
}

/// Takes at most so many records in a call, of all groups.
#[derive(Default)]
struct Narrow(Mutex<(Vec<usize>, Vec<u64>)>);

#[async_trait]
impl RecordTable<u64> for Narrow {
    async fn append(&self, records: Vec<Record<u64>>) -> Vec<Result<()>> {
        let mut narrow = self.0.lock().unwrap();
        narrow.0.push(records.len());
        if records.len() > 8 {
            let refuse = |_| Err(Error::new(Kind::Full, "append", "as the test says"));
            return records.into_iter().map(refuse).collect();
        }
        narrow.1.extend(records.iter().map(|record| record.record));
        records.into_iter().map(|_| Ok(())).collect()
    }
}

/// R-16: a call for many groups, each with a single job, is made smaller too.
#[tokio::test(start_paused = true)]
async fn a_call_for_many_groups_is_halved_as_well() {
    let bench = Bench::new();
    let narrow = Arc::new(Narrow::default());
    let wire = |role| {
        let pipeline = Pipeline::<Run>::define("runs")
            .declares::<Note>()
            .map::<Odds>(|m| m)
            .build()
            .unwrap();
        let builder = bench.with_role(role).pipeline(pipeline);
        builder.record_table::<Odds>(narrow.clone()).start().unwrap()
    };
    let web = wire(Role::Web);
    web.send_all((0..100).map(|n| note("r", n, 2 * n as u64 + 1)))
        .await
        .unwrap();
    let kernel = wire(Role::All);
    idle(&kernel).await;
    let (calls, mut records) = narrow.0.lock().unwrap().clone();
    records.sort_unstable();
    assert_eq!(records, (0..100).map(|n| 2 * n + 1).collect::<Vec<_>>());
    assert!(calls.iter().filter(|size| **size <= 8).count() < 20, "{calls:?}");
}
