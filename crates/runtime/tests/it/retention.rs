//! Old events go, and no fold forgets them.
use crate::support::{
    All, Bench, Ear, Faults, Heard, Note, Op, Parity, Run, RunEvent, Story, Total, Totals, What, at, idle,
    note, tenant,
};
use foldwright_domain::{Commutative, Dispatch, Fold, Recorded};
use foldwright_ports::{Kind, Retention, Selection, StateKey};
use foldwright_runtime::{Kernel, Pipeline, RetainError, Retained, Role, WhyNoBase, WithoutBase};
use std::{sync::Arc, time::Duration};

fn pipeline(heard: &Arc<Heard<Vec<u64>>>) -> Pipeline<Run> {
    Pipeline::define("runs")
        .declares::<Note>()
        .fold::<Totals>(|f| f)
        .fold::<Story>(|f| f.subscriber(Ear::<_, _, All>::new(heard), Dispatch::each()))
        .keyed::<Parity>(|f| f)
        .build()
        .unwrap()
}

fn up_to(bench: &Bench) -> Retention {
    Retention {
        tenant: tenant("a"),
        aggregate_types: Vec::new(),
        accepted_before: bench.ports.clock.now(),
    }
}

/// Every step, a few events at a time.
async fn retain(
    kernel: &Kernel,
    retention: &Retention,
    without: WithoutBase,
) -> Result<Retained, RetainError> {
    let (mut all, mut from) = (Retained::default(), None);
    loop {
        let step = kernel.operator().retain(retention, without, from, 3).await?;
        all.read += step.read;
        all.kept += step.kept;
        all.stood += step.stood;
        all.without.extend(step.without);
        all.removed += step.removed;
        match step.next {
            Some(next) => from = Some(next),
            None => return Ok(all),
        }
    }
}

async fn events(bench: &Bench) -> usize {
    let selection = Selection::all(tenant("a"));
    let page = bench
        .ports
        .log
        .scan(&selection, None, foldwright_ports::Limits::items(1_000))
        .await;
    page.unwrap().items.len()
}

async fn later() {
    tokio::time::sleep(Duration::from_secs(1)).await;
}

/// Breaks a stored state, so that it is folded anew with the next event.
async fn spoil<F: Fold>(bench: &Bench, key: &str) {
    let of = StateKey {
        tenant: tenant("a"),
        projection: F::NAME.into(),
        key: key.into(),
    };
    let mut row = bench.ports.folds.load(&[of]).await.unwrap().remove(0).unwrap();
    row.state = "broken".into();
    row.revision.write += 1;
    let stored = bench.ports.folds.store(vec![row]).await.remove(0);
    assert_eq!(stored.unwrap(), foldwright_ports::Stored::Yes);
}

/// Folded anew after its events have gone, whatever the kind of the fold, and cut a second time.
#[tokio::test(start_paused = true)]
async fn a_fold_is_folded_anew_from_what_was_kept_at_the_horizon() {
    let bench = Bench::new();
    let heard = Heard::new();
    let kernel = bench.kernel().pipeline(pipeline(&heard)).start().unwrap();
    for round in 0..3_i64 {
        let first = round * 10;
        kernel
            .send_all((first + 1..=first + 4).map(|n| note("r", n, n as u64)))
            .await
            .unwrap();
        idle(&kernel).await;
        later().await;
        let done = retain(&kernel, &up_to(&bench), WithoutBase::Stop).await.unwrap();
        let left_over = if round == 0 { 0 } else { 2 };
        assert_eq!((done.removed, events(&bench).await), (4 + left_over, 0));
        assert_eq!(done.kept, 4, "two folds of the run, and two keys");
        for key in ["r", "0", "1"] {
            match key {
                "r" => {
                    spoil::<Totals>(&bench, key).await;
                    spoil::<Story>(&bench, key).await;
                }
                _ => spoil::<Parity>(&bench, key).await,
            }
        }
        kernel
            .send_all((first + 5..=first + 6).map(|n| note("r", n, n as u64)))
            .await
            .unwrap();
        idle(&kernel).await;
    }
    assert!(bench.blocked().await.is_empty(), "{:?}", bench.blocked().await);
    let all: Vec<u64> = (0..3)
        .flat_map(|round| (1..=6).map(move |n| round * 10 + n))
        .collect();
    let sum = all.iter().sum::<u64>();
    assert_eq!(bench.state::<Story>("r").await.as_ref(), Some(&all));
    assert_eq!(bench.state::<Totals>("r").await, Some(Total { events: 18, sum }));
    let odd: u64 = all.iter().filter(|n| *n % 2 == 1).sum();
    assert_eq!(
        bench.keyed::<Parity>(&1).await,
        Some(Total { events: 9, sum: odd })
    );
    let mut numbers = heard.numbers();
    numbers.sort_unstable();
    assert_eq!(numbers, all, "each event is brought to the subscriber once");
    assert!(kernel.counters().refolds.get() >= 9);
}

/// The business time of what stays lies among that of what goes.
#[tokio::test(start_paused = true)]
async fn a_fold_by_occurrence_stays_in_order_across_the_horizon() {
    let bench = Bench::new();
    let kernel = bench.kernel().pipeline(pipeline(&Heard::new())).start().unwrap();
    kernel
        .send_all([10, 30, 50].map(|n| note("r", n, n as u64)))
        .await
        .unwrap();
    idle(&kernel).await;
    later().await;
    let horizon = up_to(&bench);
    kernel
        .send_all([20, 40].map(|n| note("r", n, n as u64)))
        .await
        .unwrap();
    idle(&kernel).await;
    retain(&kernel, &horizon, WithoutBase::Stop).await.unwrap();
    assert_eq!(events(&bench).await, 2);
    spoil::<Story>(&bench, "r").await;
    kernel.send(note("r", 45, 45)).await.unwrap();
    idle(&kernel).await;
    assert_eq!(
        bench.state::<Story>("r").await,
        Some(vec![10, 20, 30, 40, 45, 50])
    );
    // Once more: what was behind is folded into the next one.
    later().await;
    retain(&kernel, &up_to(&bench), WithoutBase::Stop).await.unwrap();
    assert_eq!(events(&bench).await, 0);
    spoil::<Story>(&bench, "r").await;
    kernel.send(note("r", 60, 60)).await.unwrap();
    idle(&kernel).await;
    assert_eq!(
        bench.state::<Story>("r").await,
        Some(vec![10, 20, 30, 40, 45, 50, 60])
    );
    // What occurred before all of it comes now: it can be counted, and has no place in the order any more.
    kernel.send(note("r", 15, 15)).await.unwrap();
    idle(&kernel).await;
    assert_eq!(
        bench.state::<Story>("r").await,
        Some(vec![10, 20, 30, 40, 45, 50, 60])
    );
    assert_eq!(bench.state::<Totals>("r").await.unwrap().events, 8);
    let blocked = bench.blocked().await;
    assert_eq!(blocked.len(), 1);
    assert!(
        blocked[0].error.contains("occurred before the horizon"),
        "{}",
        blocked[0].error
    );
}

/// The log is not cut while a fold has not got what is to go.
#[tokio::test(start_paused = true)]
async fn nothing_goes_that_a_fold_does_not_hold_yet() {
    let bench = Bench::new();
    let heard = Heard::new();
    let web = bench
        .with_role(Role::Web)
        .pipeline(pipeline(&heard))
        .start()
        .unwrap();
    let commands = Pipeline::<Run>::define("runs")
        .declares::<Note>()
        .fold::<Totals>(|f| f);
    let part = bench
        .with_role(Role::Worker)
        .pipeline(commands.build().unwrap())
        .start()
        .unwrap();
    web.send_all((1..=3).map(|n| note("r", n, n as u64)))
        .await
        .unwrap();
    idle(&part).await;
    later().await;
    let refused = retain(&web, &up_to(&bench), WithoutBase::Stop).await.unwrap_err();
    let RetainError::NoBase(refused) = refused else {
        panic!("{refused}")
    };
    assert!(
        refused
            .iter()
            .all(|one| matches!(one.why, WhyNoBase::NotApplied { .. }))
    );
    let folds: Vec<_> = refused.iter().map(|one| one.fold).collect();
    assert_eq!(folds, ["story", "parity", "parity"]);
    assert_eq!(events(&bench).await, 3, "nothing was removed");
    part.close().await;
    let kernel = bench.kernel().pipeline(pipeline(&heard)).start().unwrap();
    let mut from = None;
    loop {
        let page = kernel
            .operator()
            .restage(&Selection::all(tenant("a")), at(0), from, 10)
            .await
            .unwrap();
        from = page.next;
        if from.is_none() {
            break;
        }
    }
    idle(&kernel).await;
    let done = retain(&kernel, &up_to(&bench), WithoutBase::Stop).await.unwrap();
    assert_eq!(
        (done.kept, done.stood, done.removed),
        (3, 1, 3),
        "one was kept before it was refused"
    );
    assert_eq!(bench.state::<Story>("r").await, Some(vec![1, 2, 3]));
}

/// Asked to cut all the same, a state that was not kept stays as it is, and folding it anew is refused.
#[tokio::test(start_paused = true)]
async fn without_a_base_a_refold_is_refused_for_good() {
    let bench = Bench::new();
    let kernel = bench.kernel().pipeline(pipeline(&Heard::new())).start().unwrap();
    kernel
        .send_all((1..=3).map(|n| note("r", n, n as u64)))
        .await
        .unwrap();
    idle(&kernel).await;
    later().await;
    bench.ports.log.retain(&up_to(&bench), 100).await.unwrap();
    spoil::<Story>(&bench, "r").await;
    kernel.send(note("r", 9, 9)).await.unwrap();
    tokio::time::sleep(Duration::from_secs(3 * 60 * 60)).await;
    let blocked = bench.blocked().await;
    assert_eq!(blocked.len(), 1);
    assert!(
        blocked[0].error.contains("a refold would forget"),
        "{}",
        blocked[0].error
    );
    assert_eq!(
        bench.state::<Totals>("r").await,
        Some(Total { events: 4, sum: 15 })
    );
}

/// Killed between any two steps, and begun again.
#[tokio::test(start_paused = true)]
async fn a_retention_that_dies_anywhere_is_begun_again() {
    for stores in 0..4 {
        let bench = Bench::new();
        let faults = Arc::new(Faults::new());
        let kernel = bench
            .faulty(&faults)
            .pipeline(pipeline(&Heard::new()))
            .start()
            .unwrap();
        kernel
            .send_all((1..=8).map(|n| note("r", n, n as u64)))
            .await
            .unwrap();
        idle(&kernel).await;
        later().await;
        let retention = up_to(&bench);
        faults.times(
            Op::StoreRows,
            "a/base.",
            stores,
            1,
            What::LoseReply(Kind::Unavailable),
        );
        let died = retain(&kernel, &retention, WithoutBase::Stop).await;
        assert!(matches!(died, Err(RetainError::Store(_))), "{died:?}");
        assert_eq!(events(&bench).await, 8, "the log is cut last");
        let operator = kernel.operator();
        let (mut from, mut steps) = (None, 0);
        // The process dies again when the first events have gone.
        while steps < 4 {
            from = operator
                .retain(&retention, WithoutBase::Stop, from, 3)
                .await
                .unwrap()
                .next;
            steps += 1;
        }
        assert_eq!(events(&bench).await, 5);
        retain(&kernel, &retention, WithoutBase::Stop).await.unwrap();
        assert_eq!(events(&bench).await, 0);
        for key in ["0", "1"] {
            spoil::<Parity>(&bench, key).await;
        }
        spoil::<Story>(&bench, "r").await;
        kernel
            .send_all([note("r", 9, 9), note("r", 10, 10)])
            .await
            .unwrap();
        idle(&kernel).await;
        assert_eq!(bench.state::<Story>("r").await, Some((1..=10).collect()));
        assert_eq!(
            bench.keyed::<Parity>(&0).await,
            Some(Total { events: 5, sum: 30 })
        );
    }
}

/// The same fold in its next version.
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
        Totals::apply(total, event)
    }
}

/// What an older version left at the horizon is never taken for this one's, and never silently left out.
#[tokio::test(start_paused = true)]
async fn a_new_version_does_not_go_on_from_an_old_base() {
    let bench = Bench::new();
    let kernel = bench.kernel().pipeline(pipeline(&Heard::new())).start().unwrap();
    kernel
        .send_all((1..=3).map(|n| note("r", n, n as u64)))
        .await
        .unwrap();
    idle(&kernel).await;
    later().await;
    retain(&kernel, &up_to(&bench), WithoutBase::Stop).await.unwrap();
    kernel.close().await;
    let newer = Pipeline::<Run>::define("runs")
        .declares::<Note>()
        .fold::<Newer>(|f| f);
    let newer = bench.kernel().pipeline(newer.build().unwrap()).start().unwrap();
    newer.send(note("r", 4, 4)).await.unwrap();
    idle(&newer).await;
    let blocked = bench.blocked().await;
    assert_eq!(blocked.len(), 1);
    assert!(
        blocked[0].error.contains("is of version 1"),
        "{}",
        blocked[0].error
    );
    assert_eq!(
        bench.state::<Totals>("r").await,
        Some(Total { events: 3, sum: 6 })
    );
}
