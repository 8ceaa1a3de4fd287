//! Folds and maps in typed tables of the user's own.
use crate::support::{
    All, Bench, Ear, Heard, Note, Odds, Run, RunEvent, Story, Take, Total, Totals, idle, note, take,
};
use async_trait::async_trait;
use foldwright_domain::Dispatch;
use foldwright_ports::{FoldRow, Record, RecordTable, Result, StateKey, StateTable, Stored};
use foldwright_runtime::{Answered, Pipeline};
use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
};

/// Totals as columns; `sum` is lost where a test says so.
#[derive(Default)]
struct TotalsTable {
    rows: Mutex<BTreeMap<StateKey, FoldRow<Option<Total>>>>,
}

#[async_trait]
impl StateTable<Total> for TotalsTable {
    async fn load(&self, keys: &[StateKey]) -> Result<Vec<Option<FoldRow<Option<Total>>>>> {
        let rows = self.rows.lock().unwrap();
        Ok(keys.iter().map(|key| rows.get(key).cloned()).collect())
    }

    async fn store(&self, new: Vec<FoldRow<Total>>) -> Vec<Result<Stored>> {
        let mut rows = self.rows.lock().unwrap();
        let mut store = |row: FoldRow<Total>| {
            if let Some(there) = rows.get(&row.key).filter(|there| there.revision >= row.revision) {
                return Ok(Stored::Superseded { by: there.revision });
            }
            let FoldRow {
                key,
                state,
                fold_version,
                revision,
                events,
                last_applied,
                created_at,
                updated_at,
                ledger,
            } = row;
            let row = FoldRow {
                key: key.clone(),
                state: Some(state),
                fold_version,
                revision,
                events,
                last_applied,
                created_at,
                updated_at,
                ledger,
            };
            rows.insert(key, row);
            Ok(Stored::Yes)
        };
        new.into_iter().map(&mut store).collect()
    }
}

/// Odds as a list.
#[derive(Default)]
struct OddsTable(Mutex<Vec<u64>>);

#[async_trait]
impl RecordTable<u64> for OddsTable {
    async fn append(&self, records: Vec<Record<u64>>) -> Vec<Result<()>> {
        let mut odds = self.0.lock().unwrap();
        records
            .into_iter()
            .map(|record| odds.push(record.record))
            .map(Ok)
            .collect()
    }
}

/// X-12, M-01
#[tokio::test(start_paused = true)]
async fn a_table_takes_the_place_of_the_kernels_own_store() {
    let bench = Bench::new();
    let (totals, odds): (Arc<TotalsTable>, Arc<OddsTable>) = Default::default();
    let heard = Heard::new();
    let pipeline = Pipeline::<Run>::define("runs")
        .declares::<Note>()
        .fold::<Totals>(|f| f.subscriber(Ear::<RunEvent, _, All>::new(&heard), Dispatch::each()))
        .fold::<Story>(|f| f)
        .map::<Odds>(|m| m)
        .build()
        .unwrap();
    let kernel = bench
        .kernel()
        .pipeline(pipeline)
        .table::<Totals>(totals.clone())
        .record_table::<Odds>(odds.clone());
    let kernel = kernel.start().unwrap();
    kernel
        .send_all((1..=5).map(|n| note("r", n as i64, n)))
        .await
        .unwrap();
    idle(&kernel).await;
    assert_eq!(bench.stored::<Totals>("r").await, None);
    assert_eq!(bench.state::<Story>("r").await, Some(vec![1, 2, 3, 4, 5]));
    let row = |table: &TotalsTable| table.rows.lock().unwrap().values().next().cloned().unwrap();
    assert_eq!(row(&totals).state, Some(Total { events: 5, sum: 15 }));
    let mut odds = odds.0.lock().unwrap().clone();
    odds.sort_unstable();
    assert_eq!(odds, [1, 3, 5]);
    // A state that the table cannot read any more is rebuilt from the log, and nothing is decided again.
    for row in totals.rows.lock().unwrap().values_mut() {
        row.state = None;
    }
    kernel.send(note("r", 9, 0)).await.unwrap();
    idle(&kernel).await;
    assert_eq!(
        (row(&totals).state, row(&totals).events),
        (Some(Total { events: 6, sum: 15 }), 6)
    );
    assert_eq!(kernel.counters().refolds.get(), 1);
    assert_eq!(heard.runs().len(), 6);
}

/// C-05: a decider and a receipt go by the table that the fold is kept in.
#[tokio::test(start_paused = true)]
async fn deciders_and_receipts_read_the_table_of_the_fold() {
    let bench = Bench::new();
    let totals: Arc<TotalsTable> = Arc::default();
    let pipeline = Pipeline::<Run>::define("runs")
        .decider::<Take>()
        .fold::<Totals>(|f| f)
        .build()
        .unwrap();
    let kernel = bench
        .kernel()
        .pipeline(pipeline)
        .table::<Totals>(totals.clone())
        .start()
        .unwrap();
    let wait = std::time::Duration::from_secs(1);
    let first = kernel.ask(take("r", 1, 1)).await.unwrap();
    assert!(matches!(
        first.applied::<Totals>(wait).await.unwrap(),
        Answered::Events(_)
    ));
    assert_eq!(totals.rows.lock().unwrap().len(), 1);
    let second = kernel.ask(take("r", 2, 1)).await.unwrap();
    assert!(matches!(
        second.applied::<Totals>(wait).await.unwrap(),
        Answered::Rejected(_)
    ));
}
