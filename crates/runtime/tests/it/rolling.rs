//! Two builds of one service side by side on one store: one route and one fold version apart.
use crate::support::{
    Bench, Finish, Note, Run, RunEvent, Story, Total, Totals, as_new, finish, idle, note, tenant,
};
use foldwright_domain::{Commutative, Fold, Recorded};
use foldwright_ports::{
    Capabilities, Capability, Limits, Nonce, Room, Route, Selection, StateKey, Want, WorkerId,
};
use foldwright_runtime::{Kernel, Pipeline, Role};
use std::{collections::BTreeMap, sync::Arc, time::Duration};

/// Version 2 of the totals counts twice, so that whose state it is can be told.
enum Newer {}

impl Fold for Newer {
    type On = RunEvent;
    type State = Total;
    type Order = Commutative;
    const NAME: &'static str = Totals::NAME;
    const VERSION: u32 = 2;

    fn init() -> Total {
        Totals::init()
    }

    fn apply(total: Total, event: &Recorded<RunEvent>) -> Total {
        let next = Totals::apply(total.clone(), event);
        Total {
            events: next.events,
            sum: next.sum * 2 - total.sum,
        }
    }
}

fn old(bench: &Bench) -> Kernel {
    let runs = Pipeline::<Run>::define("runs")
        .declares::<Note>()
        .fold::<Totals>(|f| f);
    bench.kernel().pipeline(runs.build().unwrap()).start().unwrap()
}

/// It knows a command and a fold more.
fn new(bench: &Bench) -> Kernel {
    let runs = Pipeline::<Run>::define("runs")
        .declares::<Note>()
        .command::<Finish>()
        .fold::<Newer>(|f| f)
        .fold::<Story>(|f| f);
    bench.kernel().pipeline(runs.build().unwrap()).start().unwrap()
}

fn run(n: u64) -> String {
    format!("r{}", n % 20)
}

async fn versions(bench: &Bench) -> BTreeMap<String, (u32, u64)> {
    let mut versions = BTreeMap::new();
    for n in 0..20 {
        let key = StateKey {
            tenant: tenant("a"),
            projection: "totals".into(),
            key: run(n).into(),
        };
        if let Some(row) = bench.ports.folds.load(&[key]).await.unwrap().remove(0) {
            versions.insert(run(n), (row.fold_version, row.events));
        }
    }
    versions
}

async fn logged(bench: &Bench) -> usize {
    let all = Selection::all(tenant("a"));
    bench
        .ports
        .log
        .scan(&all, None, Limits::items(10_000))
        .await
        .unwrap()
        .items
        .len()
}

async fn depth(bench: &Bench) -> u64 {
    let depth = bench.ports.queue_admin.depth().await.unwrap();
    depth
        .values()
        .map(|d| d.waiting + d.leased + d.blocked + d.dead)
        .sum()
}

/// X-11, C-14: nothing is lost, completed unseen or overwritten, whichever of the two takes what.
#[tokio::test(start_paused = true)]
async fn two_builds_share_one_store() {
    let bench = Bench::new();
    let old_one = old(&bench);
    for n in 0..100 {
        old_one.send(note(&run(n), n as i64, n)).await.unwrap();
    }
    let new_one = new(&bench);
    let mut highest = versions(&bench).await;
    for n in 100..400 {
        let by = if n % 3 == 0 { &new_one } else { &old_one };
        by.send(note(&run(n), n as i64, n)).await.unwrap();
        if n % 10 == 0 {
            finish(&new_one, &run(n), 1).await;
            tokio::time::sleep(Duration::from_millis(7)).await;
            for (run, (version, events)) in versions(&bench).await {
                let (before, had) = highest.get(&run).copied().unwrap_or_default();
                assert!(version >= before && events >= had, "{run}: {before} -> {version}");
                highest.insert(run, (version, events));
            }
        }
    }
    idle(&new_one).await;
    // The old build alone: what the new one made stays as it is, and what follows waits for it.
    new_one.close().await;
    let before = versions(&bench).await;
    assert!(before.values().any(|(version, _)| *version == 2), "{before:?}");
    for n in 400..420 {
        old_one.send(note(&run(n), n as i64, n)).await.unwrap();
    }
    tokio::time::sleep(Duration::from_secs(3 * 60 * 60)).await;
    for (run, after) in versions(&bench).await {
        let (version, events) = before[&run];
        let same = if version == 2 {
            after == (2, events)
        } else {
            after == (1, events + 1)
        };
        assert!(same, "{run}: {version}, {events} -> {after:?}");
    }
    assert!(
        old_one.counters().released.get() > 0,
        "it met newer rows and gave them back"
    );
    let new_one = new(&bench);
    idle(&new_one).await;
    // States that the old build stored last are in version 1 until the next event; give each run one more.
    for n in 420..440 {
        new_one.send(note(&run(n), n as i64, n)).await.unwrap();
    }
    idle(&new_one).await;
    assert_eq!(depth(&bench).await, 0, "nothing is left, blocked or dead");
    assert_eq!(logged(&bench).await, 440 + 30);
    let versions = versions(&bench).await;
    assert!(
        versions.values().all(|(version, _)| *version == 2),
        "{versions:?}"
    );
    let events: u64 = versions.values().map(|(_, events)| events).sum();
    assert_eq!(events, 470);
    let mut sum = 0;
    for n in 0..20 {
        sum += bench.state::<Newer>(&run(n)).await.unwrap().sum;
    }
    assert_eq!(
        sum,
        2 * (0..440).sum::<u64>(),
        "every state is wholly version 2's"
    );
    old_one.close().await;
    new_one.close().await;
}

/// B-21, C-14: a job of a route or an envelope format that nobody alive knows waits, for hours, and runs then.
#[tokio::test(start_paused = true)]
async fn what_only_the_new_build_knows_waits_for_it() {
    let bench = Bench::new();
    let old_one = old(&bench);
    let web = bench
        .with_role(Role::Web)
        .pipeline(
            Pipeline::<Run>::define("runs")
                .command::<Finish>()
                .build()
                .unwrap(),
        )
        .start()
        .unwrap();
    finish(&web, "r", 3).await;
    tokio::time::sleep(Duration::from_secs(3 * 60 * 60)).await;
    assert_eq!(logged(&bench).await, 0);
    assert_eq!(old_one.backlog().await.unwrap().commands.waiting, 1);
    assert_eq!(old_one.counters().jobs_completed.get(), 0);
    let new_one = new(&bench);
    idle(&new_one).await;
    assert_eq!(bench.state::<Newer>("r").await.unwrap().events, 3);
    assert_eq!(bench.state::<Story>("r").await.unwrap(), [0, 0, 0]);

    // The same job in a format that comes next.
    let bench = Bench::new();
    let web = bench.with_role(Role::Web).pipeline(note_only()).start().unwrap();
    web.send(note("r", 1, 1)).await.unwrap();
    let route = Route::parse("runs/command/note").unwrap();
    let want = Want {
        capabilities: Arc::new(Capabilities {
            routes: BTreeMap::from([(route, Capability { version: 0 })]),
            format: 1,
        }),
        max_groups: 1,
        max_jobs_per_group: 1,
        max_bytes: 1 << 20,
        lease: Duration::from_secs(30),
    };
    let lease = bench
        .ports
        .queue
        .claim(Nonce(1), WorkerId(1), &want)
        .await
        .unwrap()
        .remove(0);
    let mut job = as_new(&lease, &lease.jobs[0]);
    job.format = 2;
    job.id.0[0] ^= 0xff;
    let group = job.group.clone();
    bench
        .ports
        .queue
        .stage(Nonce(2), vec![job], Room::Lease)
        .await
        .unwrap();
    let settled = foldwright_ports::Settlement {
        lease: lease.reference(),
        outcome: foldwright_ports::Outcome::complete(1),
        answers: Vec::new(),
        then: Vec::new(),
    };
    bench
        .ports
        .queue
        .settle(Nonce(3), WorkerId(1), vec![settled], None)
        .await
        .unwrap();
    let old_one = old(&bench);
    tokio::time::sleep(Duration::from_secs(3 * 60 * 60)).await;
    assert_eq!(old_one.counters().jobs_completed.get(), 0);
    assert_eq!(
        bench
            .ports
            .queue_admin
            .group(&group)
            .await
            .unwrap()
            .unwrap()
            .depth,
        1
    );
}

fn note_only() -> Pipeline<Run> {
    Pipeline::define("runs").declares::<Note>().build().unwrap()
}

/// B-22: what is written is what the release before reads, and only what this build can write may be asked for.
#[tokio::test(start_paused = true)]
async fn the_envelope_format_is_written_as_configured() {
    let bench = Bench::new();
    let kernel = bench
        .kernel()
        .pipeline(note_only())
        .write_format(1)
        .start()
        .unwrap();
    assert_eq!(kernel.describe().envelope.writes, 1);
    let default = bench.kernel().pipeline(note_only()).start().unwrap();
    assert_eq!(
        default.describe().envelope.writes,
        1,
        "the newest that is released"
    );
    for format in [0, 9] {
        let faults = bench
            .kernel()
            .pipeline(note_only())
            .write_format(format)
            .start()
            .unwrap_err();
        assert!(faults.to_string().contains("cannot be written"), "{faults}");
    }
}
