//! A keyed fold whose keys change with its version.
use crate::support::{Bench, Note, Run, RunEvent, Total, Totals, idle, note};
use foldwright_domain::{Commutative, Fold, KeyedFold, Millis, Recorded};
use foldwright_runtime::Pipeline;
use std::ops::Range;

/// By the last digit instead of by parity.
enum Digits {}

/// Over all numbers, by parity.
enum Parities {}

impl Fold for Parities {
    type On = RunEvent;
    type State = Total;
    type Order = Commutative;
    const NAME: &'static str = "numbers";
    const VERSION: u32 = 1;

    fn init() -> Total {
        Total::default()
    }

    fn apply(total: Total, event: &Recorded<RunEvent>) -> Total {
        Totals::apply(total, event)
    }
}

impl KeyedFold for Parities {
    type Key = u64;

    fn key(event: &Recorded<RunEvent>) -> u64 {
        number(event) % 2
    }

    fn window(_key: &u64) -> Range<Millis> {
        Millis(i64::MIN)..Millis(i64::MAX)
    }
}

impl Fold for Digits {
    type On = RunEvent;
    type State = Total;
    type Order = Commutative;
    const NAME: &'static str = "numbers";
    const VERSION: u32 = 2;

    fn init() -> Total {
        Total::default()
    }

    fn apply(total: Total, event: &Recorded<RunEvent>) -> Total {
        Totals::apply(total, event)
    }
}

impl KeyedFold for Digits {
    type Key = u64;

    fn key(event: &Recorded<RunEvent>) -> u64 {
        number(event) % 10
    }

    fn window(_key: &u64) -> Range<Millis> {
        Millis(i64::MIN)..Millis(i64::MAX)
    }
}

fn number(event: &Recorded<RunEvent>) -> u64 {
    match &event.data {
        RunEvent::Noted(noted) => noted.n,
        RunEvent::Finished(_) => 0,
    }
}

/// X-11: keys may change with the version; a key then holds other events than before.
#[tokio::test(start_paused = true)]
async fn a_keyed_fold_whose_keys_change_is_rebuilt_under_the_new_keys() {
    let bench = Bench::new();
    let old = Pipeline::<Run>::define("runs")
        .declares::<Note>()
        .keyed::<Parities>(|f| f)
        .build()
        .unwrap();
    let old = bench.kernel().pipeline(old).start().unwrap();
    old.send_all((1..=20).map(|n| note("r", n as i64, n)))
        .await
        .unwrap();
    idle(&old).await;
    old.close().await;
    assert_eq!(
        bench.keyed::<Parities>(&1).await,
        Some(Total { events: 10, sum: 100 })
    );
    let new = Pipeline::<Run>::define("runs")
        .declares::<Note>()
        .keyed::<Digits>(|f| f)
        .build()
        .unwrap();
    let new = bench.kernel().pipeline(new).start().unwrap();
    new.send_all([note("r", 21, 21), note("r", 22, 33)])
        .await
        .unwrap();
    idle(&new).await;
    assert!(bench.blocked().await.is_empty());
    assert_eq!(
        bench.keyed::<Digits>(&1).await,
        Some(Total { events: 3, sum: 33 })
    );
}
