//! Two builds of one service side by side on one SQLite file, each with a handle of its own: one route and one fold
//! version apart.
use foldwright::{
    domain::EventId,
    ports::{Limits, Ports, Selection, StateKey},
    prelude::*,
    sqlite::{Sqlite, SqliteSettings},
};
use serde::{Deserialize, Serialize};
use std::{collections::BTreeMap, path::Path, time::Duration};

enum Meter {}

impl Aggregate for Meter {
    const TYPE: AggregateType = AggregateType::new("meter");
    type Event = MeterEvent;
}

#[derive(Event)]
#[event(aggregate = Meter, prefix = "tests.rolling.meter")]
enum MeterEvent {
    #[event(name = "read", version = "2026-01-01")]
    Read(Reading),
}

#[derive(Clone, Serialize, Deserialize)]
struct Reading {
    meter: u64,
    n: u64,
}

enum Read {}

impl Declares for Read {
    type Of = Meter;
    type Data = Reading;
    const NAME: &'static str = "read";

    fn aggregate_id(data: &Reading) -> Result<AggregateId, InvalidId> {
        AggregateId::parse(data.meter.to_string())
    }
}

/// The sum of what was read, times its version, so that whose state it is can be told.
struct Sum<const VERSION: u32>;

impl<const V: u32> Fold for Sum<V> {
    type On = MeterEvent;
    type State = u64;
    type Order = Commutative;
    const NAME: &'static str = "sum";
    const VERSION: u32 = V;

    fn init() -> u64 {
        0
    }

    fn apply(sum: u64, event: &Recorded<MeterEvent>) -> u64 {
        let MeterEvent::Read(reading) = &event.data;
        sum + reading.n * u64::from(V)
    }
}

/// A route that only the new build has.
enum Newest {}

impl Fold for Newest {
    type On = MeterEvent;
    type State = Option<EventId>;
    type Order = ByOccurrence;
    const NAME: &'static str = "newest";
    const VERSION: u32 = 1;

    fn init() -> Option<EventId> {
        None
    }

    fn apply(_: Option<EventId>, event: &Recorded<MeterEvent>) -> Option<EventId> {
        Some(event.meta.id)
    }
}

const METERS: u64 = 8;

fn tenant() -> TenantId {
    TenantId::parse("a").unwrap()
}

fn open(file: &Path) -> Sqlite {
    Sqlite::open(file, SqliteSettings::default()).unwrap()
}

fn old_build(ports: Ports) -> Kernel {
    let meters = Pipeline::<Meter>::define("meters")
        .declares::<Read>()
        .fold::<Sum<1>>(|f| f);
    Kernel::builder(ports, Role::All)
        .pipeline(meters.build().unwrap())
        .start()
        .unwrap()
}

fn new_build(ports: Ports) -> Kernel {
    let meters = Pipeline::<Meter>::define("meters")
        .declares::<Read>()
        .fold::<Sum<2>>(|f| f)
        .fold::<Newest>(|f| f);
    Kernel::builder(ports, Role::All)
        .pipeline(meters.build().unwrap())
        .start()
        .unwrap()
}

async fn send(kernel: &Kernel, numbers: impl IntoIterator<Item = u64>) {
    let read = |n| {
        let reading = Reading { meter: n % METERS, n };
        Intent::new(
            tenant(),
            Millis(1_700_000_000_000 + n as i64),
            Declared::<Read>(reading),
        )
    };
    kernel.send_all(numbers.into_iter().map(read)).await.unwrap();
}

/// The version and the number of events of each meter's stored sum.
async fn rows(ports: &Ports) -> BTreeMap<u64, (u32, u64)> {
    let key = |meter: u64| StateKey {
        tenant: tenant(),
        projection: "sum".into(),
        key: meter.to_string().into(),
    };
    let keys: Vec<_> = (0..METERS).map(key).collect();
    let rows = ports.folds.load(&keys).await.unwrap();
    let rows = (0..METERS).zip(rows);
    rows.filter_map(|(meter, row)| row.map(|row| (meter, (row.fold_version, row.events))))
        .collect()
}

async fn caught_up(kernel: &Kernel) {
    let left = tokio::time::timeout(Duration::from_secs(60), kernel.caught_up(|_| {})).await;
    let left = left.expect("it catches up").unwrap();
    assert_eq!((left.open(), left.stuck()), (0, 0), "{left:?}");
}

/// X-11, C-14: nothing is lost, completed unseen or overwritten.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_builds_share_one_file() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("meters.db");
    let (of_old, of_new) = (open(&file), open(&file));
    let ports = of_old.ports();
    let old = old_build(of_old.ports());
    send(&old, 0..40).await;
    let new = new_build(of_new.ports());
    let mut highest = BTreeMap::new();
    for batch in 1..6 {
        let numbers = batch * 40..(batch + 1) * 40;
        send(if batch % 2 == 0 { &old } else { &new }, numbers).await;
        for (meter, (version, events)) in rows(&ports).await {
            let (before, had) = highest.insert(meter, (version, events)).unwrap_or_default();
            assert!(
                version >= before && events >= had,
                "{meter}: {before}, {had} -> {version}, {events}"
            );
        }
    }
    caught_up(&new).await;
    // One more of each by the new build alone, then the old one alone.
    old.close().await;
    send(&new, 240..248).await;
    caught_up(&new).await;
    new.close().await;
    let before = rows(&ports).await;
    assert!(before.values().all(|(version, _)| *version == 2), "{before:?}");
    let old = old_build(of_old.ports());
    send(&old, 248..256).await;
    let given_back = async {
        while old.counters().released.get() < METERS {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), given_back)
        .await
        .expect("it meets newer rows");
    assert_eq!(rows(&ports).await, before, "none is overwritten");
    let new = new_build(of_new.ports());
    caught_up(&new).await;
    old.close().await;
    let all = Selection::all(tenant());
    let log = ports.log.scan(&all, None, Limits::items(1_000)).await.unwrap();
    assert_eq!(log.items.len(), 256);
    let (mut sum, mut events) = (0, 0);
    for meter in 0..METERS {
        let key = Key::<Meter>::new(tenant(), AggregateId::parse(meter.to_string()).unwrap());
        let row = new.reader().state::<Sum<2>, Meter>(&key).await.unwrap().unwrap();
        sum += row.state;
        events += row.events;
    }
    assert_eq!((sum, events), (2 * (0..256).sum::<u64>(), 256));
    new.close().await;
    of_old.close().await.unwrap();
    of_new.close().await.unwrap();
}
