//! Deciders while processes die, ports fail and others append.
use crate::support::{
    Bench, Double, Faults, Finish, Note, Op, Run, Seeded, Story, Take, Total, Totals, Trouble, What,
    decide_group, double, finish, idle, key, keyed_take, note, take, until,
};
use foldwright_domain::RawEvent;
use foldwright_ports::{Kind, Limits};
use foldwright_runtime::{Pipeline, Role, WorkerSettings};
use std::{sync::Arc, time::Duration};

fn pipeline() -> Pipeline<Run> {
    Pipeline::define("runs")
        .decider::<Take>()
        .decider::<Double>()
        .declares::<Note>()
        .command::<Finish>()
        .fold::<Totals>(|f| f)
        .fold::<Story>(|f| f)
        .build()
        .unwrap()
}

async fn events(bench: &Bench, run: &str) -> Vec<RawEvent> {
    let stream = key::<Run>("a", run).erase();
    let page = bench.ports.log.load(&stream, None, Limits::items(100_000)).await;
    page.unwrap().items
}

async fn sum(bench: &Bench, run: &str) -> u64 {
    let number = |event: &RawEvent| -> u64 {
        let data: serde_json::Value = serde_json::from_slice(&event.data).unwrap();
        data["n"].as_u64().unwrap_or(0)
    };
    events(bench, run).await.iter().map(number).sum()
}

/// C-02, C-05: killed at each point around the append and the settle, it is decided once.
#[tokio::test(start_paused = true)]
async fn a_decider_whose_process_dies_decides_once() {
    let points = [
        (Op::Append, What::Hang, 0),
        (Op::Append, What::HangAfter, 1),
        (Op::Settle, What::Hang, 1),
        (Op::Settle, What::HangAfter, 0),
    ];
    for (op, what, standing) in points {
        let bench = Bench::new();
        let faults = Arc::new(Faults::new());
        faults.once(op, if op == Op::Settle { "command/" } else { "" }, what);
        let first = bench.faulty(&faults).pipeline(pipeline()).start().unwrap();
        // The seat that it takes is the last one: decided anew it would be refused.
        let receipt = first.send(take("r", 7, 1)).await.unwrap();
        faults.hung(1).await;
        drop(first);
        let second = bench.kernel().pipeline(pipeline()).start().unwrap();
        idle(&second).await;
        let stored = events(&bench, "r").await;
        assert_eq!(stored.len(), 1, "{op:?} {what:?}");
        assert_eq!(stored[0].meta.id, receipt.command.event(0).unwrap());
        assert_eq!(
            bench.state::<Totals>("r").await,
            Some(Total { events: 1, sum: 7 })
        );
        assert_eq!(second.counters().rejected.get(), 0, "{op:?} {what:?}");
        assert_eq!(
            second.counters().decisions_standing.get(),
            standing,
            "{op:?} {what:?}"
        );
    }
}

/// C-03: the settle behind a decision fails or loses its reply; a log that loses the reply of the append.
#[tokio::test(start_paused = true)]
async fn a_decision_outlives_lost_replies() {
    for (op, what, times) in [
        (Op::Settle, What::Fail(Kind::Unavailable), 100),
        (Op::Settle, What::LoseReply(Kind::Unavailable), 100),
        (Op::Append, What::LoseReply(Kind::Timeout), 5),
        (Op::Append, What::Fail(Kind::Full), 5),
        (Op::Find, What::Fail(Kind::Timeout), 3),
    ] {
        let bench = Bench::new();
        let faults = Arc::new(Faults::new());
        faults.times(op, if op == Op::Settle { "command/" } else { "" }, 0, times, what);
        if op == Op::Find {
            faults.once(Op::Append, "", What::LoseReply(Kind::Timeout));
        }
        let kernel = bench.faulty(&faults).pipeline(pipeline()).start().unwrap();
        kernel.send(take("r", 7, 1)).await.unwrap();
        idle(&kernel).await;
        assert_eq!(events(&bench, "r").await.len(), 1, "{op:?} {what:?}");
        assert_eq!(
            bench.state::<Totals>("r").await,
            Some(Total { events: 1, sum: 7 })
        );
        assert_eq!(kernel.counters().rejected.get(), 0, "{op:?} {what:?}");
        assert!(bench.blocked().await.is_empty());
    }
}

/// C-05: neither the fold store nor the log being away costs an attempt, and nothing is decided meanwhile.
#[tokio::test(start_paused = true)]
async fn a_store_that_cannot_answer_is_never_taken_for_an_empty_one() {
    for (op, about) in [
        (Op::LoadRows, "totals"),
        (Op::CountEvents, "run:r"),
        (Op::LoadEvents, "run:r"),
    ] {
        let bench = Bench::new();
        let first = bench.kernel().pipeline(pipeline()).start().unwrap();
        first.send(take("r", 1, 1)).await.unwrap();
        idle(&first).await;
        first.close().await;
        if op == Op::LoadEvents {
            // Its row lags, so that the log has to be read.
            let mut row = bench.stored::<Totals>("r").await.unwrap();
            row.revision.write += 1;
            row.fold_version = 0;
            bench.ports.folds.store(vec![row]).await.remove(0).unwrap();
        }
        let faults = Arc::new(Faults::new());
        faults.times(op, about, 0, 20, What::Fail(Kind::Timeout));
        let kernel = bench.faulty(&faults).pipeline(pipeline()).start().unwrap();
        kernel.send(take("r", 2, 1)).await.unwrap();
        until(async || faults.count(op, about) >= 20).await;
        let view = bench
            .ports
            .queue_admin
            .group(&decide_group("r"))
            .await
            .unwrap()
            .unwrap();
        assert_eq!((view.depth, view.failures), (1, 0), "{op:?}");
        assert_eq!(kernel.counters().rejected.get(), 0, "{op:?}");
        idle(&kernel).await;
        assert_eq!(events(&bench, "r").await.len(), 1, "{op:?}");
        assert_eq!(kernel.counters().rejected.get(), 1, "{op:?}");
    }
}

/// C-05: another command appends between the decision and its append: it is decided again, on what is there then.
#[tokio::test(start_paused = true)]
async fn a_decision_on_an_older_state_is_refused_and_taken_again() {
    let bench = Bench::new();
    let faults = Arc::new(Faults::new());
    faults.once(Op::Append, "run:r", What::Hang);
    let slow = bench.faulty(&faults).pipeline(pipeline()).start().unwrap();
    slow.send_all([double("r", 1, 100), double("r", 2, 100)])
        .await
        .unwrap();
    faults.hung(1).await;
    let other = bench.kernel().pipeline(pipeline()).start().unwrap();
    other.send(note("r", 0, 5)).await.unwrap();
    until(async || events(&bench, "r").await.len() == 1).await;
    faults.let_go();
    idle(&other).await;
    // 5, then doubled twice.
    assert_eq!(sum(&bench, "r").await, 20);
    assert_eq!(slow.counters().decisions_repeated.get(), 1);
    assert_eq!(events(&bench, "r").await.len(), 3);
}

/// C-05, G4: a decider that was paused beyond its lease wakes up late: what it decided then counts for nothing.
#[tokio::test(start_paused = true)]
async fn a_decider_that_wakes_up_late_changes_nothing() {
    let bench = Bench::new();
    let faults = Arc::new(Faults::new());
    faults.once(Op::Append, "run:r", What::Hang);
    faults.always(Op::Extend, "", What::Fail(Kind::Unavailable));
    let slow = bench.faulty(&faults).pipeline(pipeline()).start().unwrap();
    let first = slow.send(double("r", 1, 100)).await.unwrap();
    slow.send(double("r", 2, 100)).await.unwrap();
    faults.hung(1).await;
    let other = bench.kernel().pipeline(pipeline()).start().unwrap();
    other.send(note("r", 0, 5)).await.unwrap();
    until(async || events(&bench, "r").await.len() == 3).await;
    assert_eq!(sum(&bench, "r").await, 20);
    faults.let_go();
    idle(&other).await;
    tokio::time::sleep(Duration::from_secs(120)).await;
    idle(&other).await;
    assert_eq!(sum(&bench, "r").await, 20);
    let stored = events(&bench, "r").await;
    assert_eq!(stored.len(), 3);
    assert!(
        stored
            .iter()
            .any(|event| event.meta.id == first.command.event(0).unwrap())
    );
    assert_eq!(
        bench.state::<Totals>("r").await,
        Some(Total { events: 3, sum: 20 })
    );
}

/// C-05: so much is appended meanwhile that a run gives up deciding; the ladder tries again.
#[tokio::test(start_paused = true)]
async fn deciding_again_is_bounded() {
    let bench = Bench::new();
    let faults = Arc::new(Faults::new());
    let kernel = bench.faulty(&faults).pipeline(pipeline()).start().unwrap();
    finish(&kernel, "r", 1).await;
    idle(&kernel).await;
    let busy = bench
        .with_role(Role::Migration)
        .pipeline(pipeline())
        .start()
        .unwrap();
    let faults_seen = || faults.count(Op::Append, "run:r");
    let before = faults_seen();
    faults.times(Op::Append, "run:r", 0, 9, What::Hang);
    kernel.send(take("r", 1, 1_000)).await.unwrap();
    for n in 1..=8_usize {
        faults.hung(n).await;
        busy.send(note("r", -(n as i64), 2)).await.unwrap();
        faults.let_one_go();
    }
    until(async || {
        bench
            .ports
            .queue_admin
            .group(&decide_group("r"))
            .await
            .unwrap()
            .is_some_and(|g| g.failures == 1)
    })
    .await;
    assert_eq!(faults_seen() - before, 8);
    assert_eq!(kernel.counters().decisions_repeated.get(), 7);
    faults.clear();
    idle(&kernel).await;
    assert_eq!(events(&bench, "r").await.len(), 10);
}

/// C-05, C-06, G1, G4: two kernels with lost replies, handlers appending beside, some commands sent twice: the seats are
/// never oversold, and each accepted decision saw all before it.
#[tokio::test(start_paused = true)]
async fn racing_deciders_decide_once_each() {
    let (mut repeated, mut standing) = (0, 0);
    for seed in 0..12 {
        let mut seeded = Seeded::new(seed);
        let bench = Bench::seeded(seed);
        let web = bench.with_role(Role::Web).pipeline(pipeline()).start().unwrap();
        let trouble: Vec<_> = (0..2)
            .map(|_| {
                let faults = Faults::random(seeded.next(), Trouble::failures(5), |_| ());
                let slow = What::Slow(Duration::from_millis(40));
                faults.times(Op::Append, "run:mixed", seeded.below(5) as usize, 12, slow);
                Arc::new(faults)
            })
            .collect();
        let kernels: Vec<_> = trouble
            .iter()
            .map(|faults| {
                let settings = WorkerSettings {
                    max_jobs_per_group: *seeded.pick(&[1, 3, 500]),
                    ..WorkerSettings::default()
                };
                let builder = bench.faulty(faults).worker(settings);
                builder.pipeline(pipeline()).start().unwrap()
            })
            .collect();
        for n in 20..60 {
            if seeded.one_in(4) {
                web.send(note("mixed", n as i64, 0)).await.unwrap();
            }
            web.send(take("sold", n, 15)).await.unwrap();
            web.send(double("mixed", n as i64, 1 << 12)).await.unwrap();
            for _ in 0..2 {
                web.send(keyed_take("keyed", n, 9, &format!("k{}", n % 10)))
                    .await
                    .unwrap();
            }
            if seeded.one_in(3) {
                tokio::time::sleep(Duration::from_millis(seeded.below(400))).await;
            }
        }
        idle(&kernels[0]).await;
        assert_eq!(events(&bench, "sold").await.len(), 15, "seed {seed}");
        assert_eq!(sum(&bench, "mixed").await, 1 << 12, "seed {seed}");
        let keyed = events(&bench, "keyed").await;
        let keys: std::collections::BTreeSet<_> =
            keyed.iter().map(|e| e.meta.idempotency_key.clone()).collect();
        assert_eq!((keyed.len(), keys.len()), (9, 9), "seed {seed}");
        for run in ["sold", "mixed", "keyed"] {
            let stored = events(&bench, run).await.len() as u64;
            assert_eq!(
                bench.state::<Totals>(run).await.unwrap().events,
                stored,
                "seed {seed}"
            );
        }
        assert!(bench.blocked().await.is_empty());
        for kernel in &kernels {
            repeated += kernel.counters().decisions_repeated.get();
            standing += kernel.counters().decisions_standing.get();
        }
    }
    assert!(repeated > 0 && standing > 0, "nothing was put to the test");
}

/// C-05, G6: a decision that panics fails alone and climbs the ladder; other runs go on.
#[tokio::test(start_paused = true)]
async fn a_decision_that_panics_climbs_the_ladder() {
    let bench = Bench::new();
    let web = bench.with_role(Role::Web).pipeline(pipeline()).start().unwrap();
    web.send_all([
        take("bad", 1, 9),
        take("bad", 13, 9),
        take("bad", 14, 9),
        take("good", 2, 9),
    ])
    .await
    .unwrap();
    let kernel = bench.kernel().pipeline(pipeline()).start().unwrap();
    tokio::time::sleep(Duration::from_secs(3 * 60 * 60)).await;
    let blocked = bench.blocked().await;
    assert_eq!((blocked.len(), blocked[0].failures), (1, 25));
    assert!(
        blocked[0].error.contains("`take` panicked: 13 is not decided"),
        "{}",
        blocked[0].error
    );
    assert_eq!(
        (
            events(&bench, "bad").await.len(),
            events(&bench, "good").await.len()
        ),
        (1, 1)
    );
    assert_eq!(kernel.backlog().await.unwrap().commands.blocked, 2);
}
