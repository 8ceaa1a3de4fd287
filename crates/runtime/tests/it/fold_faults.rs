//! Folds while processes die, stores fail and `apply` panics.
use crate::support::{
    All, Bench, Ear, Faults, Heard, Note, Op, Run, Story, Total, Totals, What, at, idle, note, tenant, until,
};
use bytes::Bytes;
use foldwright_domain::{Dispatch, Millis};
use foldwright_ports::{GroupId, JobId, Kind, Route, StateRow, Stored};
use foldwright_runtime::{Kernel, Pipeline, Role, WorkerSettings};
use std::{sync::Arc, time::Duration};

fn pipeline(heard: &Arc<Heard<Total>>) -> Pipeline<Run> {
    Pipeline::define("runs")
        .declares::<Note>()
        .fold::<Totals>(|f| f.subscriber(Ear::<_, _, All>::new(heard), Dispatch::each()))
        .fold::<Story>(|f| f)
        .build()
        .unwrap()
}

fn totals_of(run: &str) -> GroupId {
    GroupId {
        tenant: tenant("a"),
        path: "fold/totals".into(),
        key: format!("run:{run}").into(),
    }
}

async fn failures(bench: &Bench, group: &GroupId) -> u32 {
    bench
        .ports
        .queue_admin
        .group(group)
        .await
        .unwrap()
        .map_or(0, |view| view.failures)
}

/// Waits until so many calls were made.
async fn called(faults: &Faults, op: Op, about: &str, times: usize) {
    until(async || faults.count(op, about) >= times).await;
}

/// X-03, G3: killed between store and settle, twice.
#[tokio::test(start_paused = true)]
async fn an_event_counts_once_whatever_dies_between_store_and_settle() {
    let bench = Bench::new();
    let heard = Heard::new();
    for (op, about) in [(Op::StoreRows, "totals"), (Op::Settle, "fold/totals")] {
        let faults = Arc::new(Faults::new());
        faults.once(
            op,
            about,
            if op == Op::StoreRows {
                What::HangAfter
            } else {
                What::Hang
            },
        );
        let kernel = bench.faulty(&faults).pipeline(pipeline(&heard)).start().unwrap();
        if op == Op::StoreRows {
            kernel.send(note("r", 0, 5)).await.unwrap();
        }
        faults.hung(1).await;
        drop(kernel);
        assert_eq!(
            bench.state::<Totals>("r").await,
            Some(Total { events: 1, sum: 5 })
        );
    }
    let kernel = bench.kernel().pipeline(pipeline(&heard)).start().unwrap();
    idle(&kernel).await;
    assert_eq!(
        bench.state::<Totals>("r").await,
        Some(Total { events: 1, sum: 5 })
    );
    assert_eq!(bench.row::<Totals>("r").await.unwrap().events, 1);
    // Its subscriber may run again after each death, and never not at all.
    assert!(heard.numbers().contains(&5));
}

/// X-04
#[tokio::test(start_paused = true)]
async fn what_was_applied_stays_recorded_while_retries_bring_more() {
    let bench = Bench::new();
    let heard = Heard::new();
    let faults = Arc::new(Faults::new());
    // Each write takes effect and its reply is lost, so that each batch comes again with what arrived meanwhile.
    faults.times(Op::StoreRows, "totals", 0, 3, What::LoseReply(Kind::Timeout));
    let kernel = bench.faulty(&faults).pipeline(pipeline(&heard)).start().unwrap();
    for n in 1..=4 {
        kernel.send(note("r", n, n as u64)).await.unwrap();
        called(&faults, Op::StoreRows, "totals", n as usize).await;
    }
    idle(&kernel).await;
    let row = bench.row::<Totals>("r").await.unwrap();
    assert_eq!((row.state, row.events), (Total { events: 4, sum: 10 }, 4));
    let mut numbers = heard.numbers();
    numbers.sort_unstable();
    numbers.dedup();
    assert_eq!(numbers, [1, 2, 3, 4]);
}

/// X-10, G4
#[tokio::test(start_paused = true)]
async fn a_worker_that_wakes_up_late_changes_no_state() {
    let bench = Bench::new();
    let heard = Heard::new();
    let faults = Arc::new(Faults::new());
    faults.once(Op::StoreRows, "totals", What::Hang);
    faults.always(Op::Extend, "", What::Fail(Kind::Unavailable));
    let alone = WorkerSettings {
        bulk_lanes: 1,
        ..WorkerSettings::default()
    };
    let slow = bench
        .faulty(&faults)
        .pipeline(pipeline(&heard))
        .worker(alone)
        .start()
        .unwrap();
    slow.send(note("r", 1, 1)).await.unwrap();
    faults.hung(1).await;
    bench.leases_lapse().await;
    let successor = bench.kernel().pipeline(pipeline(&heard)).start().unwrap();
    successor.send(note("r", 2, 2)).await.unwrap();
    idle(&successor).await;
    let stands = bench.stored::<Totals>("r").await.unwrap();
    assert_eq!(stands.events, 2);
    faults.let_go();
    until(async || slow.counters().superseded.get() != 0).await;
    idle(&successor).await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(bench.stored::<Totals>("r").await.unwrap(), stands);
    // The story's lease was in the same hands, and was settled when its own row was stored.
    assert_eq!(slow.counters().leases_lost.get(), 1);
    assert_eq!(heard.numbers(), [1, 2]);
}

/// Replaces the stored row of run `r` as a disk error would.
async fn spoil(bench: &Bench, spoil: impl FnOnce(&mut StateRow)) -> StateRow {
    let mut row = bench.stored::<Totals>("r").await.unwrap();
    spoil(&mut row);
    row.revision.write += 1;
    let stored = bench
        .ports
        .folds
        .store(vec![row.clone()])
        .await
        .remove(0)
        .unwrap();
    assert_eq!(stored, Stored::Yes);
    row
}

/// X-12
#[tokio::test(start_paused = true)]
async fn an_unreadable_row_stays_until_the_log_can_rebuild_it() {
    for broken in ["state", "ledger", "both"] {
        let bench = Bench::new();
        let heard = Heard::new();
        let faults = Arc::new(Faults::new());
        let kernel = bench.faulty(&faults).pipeline(pipeline(&heard)).start().unwrap();
        kernel.send_all([note("r", 1, 1), note("r", 2, 2)]).await.unwrap();
        idle(&kernel).await;
        let row = spoil(&bench, |row| {
            if broken != "ledger" {
                row.state = Bytes::from_static(b"{\"events\":");
            }
            if broken != "state" {
                row.ledger = Bytes::from_static(b"\x01\xff\xff\xff");
            }
        })
        .await;
        faults.times(Op::LoadEvents, "run:r", 0, 20, What::Fail(Kind::Unavailable));
        kernel.send(note("r", 3, 3)).await.unwrap();
        called(&faults, Op::LoadEvents, "run:r", 20).await;
        assert_eq!(bench.stored::<Totals>("r").await.unwrap(), row, "{broken}");
        assert_eq!(failures(&bench, &totals_of("r")).await, 0, "{broken}");
        idle(&kernel).await;
        let rebuilt = bench.row::<Totals>("r").await.unwrap();
        assert_eq!(
            (rebuilt.state, rebuilt.events),
            (Total { events: 3, sum: 6 }, 3),
            "{broken}"
        );
        assert_eq!(rebuilt.created_at, row.created_at);
        // The events of the replaced row are not decided again.
        assert_eq!(heard.numbers(), [1, 2, 3], "{broken}");
        // The next batch reads the rebuilt row straight back.
        let refolds = kernel.counters().refolds.get();
        kernel.send(note("r", 4, 4)).await.unwrap();
        idle(&kernel).await;
        assert_eq!(kernel.counters().refolds.get(), refolds, "{broken}");
    }
}

/// X-11, X-12: notes of a newer build are not thrown away by an older one.
#[tokio::test(start_paused = true)]
async fn a_ledger_of_a_newer_build_is_left_alone() {
    let bench = Bench::new();
    let heard = Heard::new();
    let kernel = bench.kernel().pipeline(pipeline(&heard)).start().unwrap();
    kernel.send(note("r", 1, 1)).await.unwrap();
    idle(&kernel).await;
    let row = spoil(&bench, |row| {
        row.ledger = Bytes::from_static(b"\x09whatever a newer build notes");
    })
    .await;
    kernel.send(note("r", 2, 2)).await.unwrap();
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert_eq!(bench.stored::<Totals>("r").await.unwrap(), row);
    let view = bench
        .ports
        .queue_admin
        .group(&totals_of("r"))
        .await
        .unwrap()
        .unwrap();
    assert!(view.last_error.unwrap().contains("newer build"));
    assert_eq!(bench.state::<Story>("r").await, Some(vec![1, 2]));
}

/// X-13
#[tokio::test(start_paused = true)]
async fn a_store_that_cannot_answer_is_asked_again_and_never_taken_for_empty() {
    for kind in [Kind::Timeout, Kind::Unavailable, Kind::Full, Kind::Closed] {
        let bench = Bench::new();
        let heard = Heard::new();
        let faults = Arc::new(Faults::new());
        let kernel = bench.faulty(&faults).pipeline(pipeline(&heard)).start().unwrap();
        kernel.send(note("r", 1, 1)).await.unwrap();
        idle(&kernel).await;
        faults.times(Op::LoadRows, "totals", 0, 40, What::Fail(kind));
        kernel.send(note("r", 2, 2)).await.unwrap();
        called(&faults, Op::LoadRows, "totals", 41).await;
        assert_eq!(failures(&bench, &totals_of("r")).await, 0);
        idle(&kernel).await;
        assert_eq!(
            bench.state::<Totals>("r").await,
            Some(Total { events: 2, sum: 3 }),
            "{kind:?}"
        );
        assert_eq!(faults.count(Op::StoreRows, "totals"), 2);
    }
}

/// X-14, S-01
#[tokio::test(start_paused = true)]
async fn while_the_store_fails_the_state_stays_and_no_subscriber_is_staged() {
    let bench = Bench::new();
    let heard = Heard::new();
    let faults = Arc::new(Faults::new());
    let kernel = bench.faulty(&faults).pipeline(pipeline(&heard)).start().unwrap();
    kernel.send(note("r", 1, 1)).await.unwrap();
    idle(&kernel).await;
    let row = bench.stored::<Totals>("r").await.unwrap();
    faults.times(Op::StoreRows, "totals", 0, 30, What::Fail(Kind::Unavailable));
    kernel.send(note("r", 2, 2)).await.unwrap();
    called(&faults, Op::StoreRows, "totals", 10).await;
    kernel.send(note("r", 3, 3)).await.unwrap();
    called(&faults, Op::StoreRows, "totals", 30).await;
    assert_eq!(bench.stored::<Totals>("r").await.unwrap(), row);
    assert_eq!(bench.state::<Story>("r").await, Some(vec![1, 2, 3]));
    assert_eq!(
        heard.numbers(),
        [1],
        "neither a new subscriber nor the old one again"
    );
    idle(&kernel).await;
    assert_eq!(
        bench.state::<Totals>("r").await,
        Some(Total { events: 3, sum: 6 })
    );
    assert_eq!(heard.numbers(), [1, 2, 3]);
}

/// X-14, G6: one row that cannot be stored fails no neighbour.
#[tokio::test(start_paused = true)]
async fn a_row_that_is_refused_fails_its_own_group_alone() {
    let bench = Bench::new();
    let heard = Heard::new();
    let faults = Arc::new(Faults::new());
    faults.always(Op::StoreRows, "totals/bad", What::FailItems(Kind::Invalid));
    let web = bench
        .with_role(Role::Web)
        .pipeline(pipeline(&heard))
        .start()
        .unwrap();
    for run in ["one", "bad", "two"] {
        web.send(note(run, 0, 1)).await.unwrap();
    }
    let kernel = bench.faulty(&faults).pipeline(pipeline(&heard)).start().unwrap();
    idle(&kernel).await;
    for run in ["one", "two"] {
        assert_eq!(
            bench.state::<Totals>(run).await,
            Some(Total { events: 1, sum: 1 })
        );
    }
    assert_eq!(bench.stored::<Totals>("bad").await, None);
    let blocked = bench.blocked().await;
    assert_eq!(
        blocked.iter().map(|b| b.group.clone()).collect::<Vec<_>>(),
        [totals_of("bad")]
    );
    assert_eq!(heard.calls(), 2);
}

async fn panics_at(bench: &Bench, kernel: &Kernel, ahead: &[u64]) {
    let row = bench.row::<Totals>("r").await.unwrap();
    assert_eq!(
        row.state,
        Total {
            events: ahead.len() as u64,
            sum: ahead.iter().sum()
        }
    );
    let blocked = bench.blocked().await;
    assert_eq!(blocked.len(), 1);
    assert_eq!((&blocked[0].group, blocked[0].failures), (&totals_of("r"), 1));
    assert!(
        blocked[0].error.contains("apply refuses 666"),
        "{}",
        blocked[0].error
    );
    assert_eq!(kernel.backlog().await.unwrap().folds.blocked, 2);
}

/// X-15, R-15
#[tokio::test(start_paused = true)]
async fn a_panic_in_apply_quarantines_the_group_at_its_event_and_those_ahead_commit() {
    let bench = Bench::new();
    let heard = Heard::new();
    let web = bench
        .with_role(Role::Web)
        .pipeline(pipeline(&heard))
        .start()
        .unwrap();
    let mut receipts = Vec::new();
    for (ms, n) in [(1, 1), (2, 2), (3, 666), (4, 4)] {
        receipts.push(web.send(note("r", ms, n)).await.unwrap());
    }
    web.send(note("other", 0, 9)).await.unwrap();
    let kernel = bench.kernel().pipeline(pipeline(&heard)).start().unwrap();
    idle(&kernel).await;
    panics_at(&bench, &kernel, &[1, 2]).await;
    let bad = receipts[2].command.event(0).unwrap();
    let route = Route::parse("runs/fold/totals").unwrap();
    assert_eq!(bench.blocked().await[0].job, JobId::of_event(bad, &route));
    assert_eq!(
        bench.state::<Totals>("other").await,
        Some(Total { events: 1, sum: 9 })
    );
    // Its siblings and other folds never notice.
    assert_eq!(bench.state::<Story>("r").await, Some(vec![1, 2, 666, 4]));
    let mut numbers = heard.numbers();
    numbers.sort_unstable();
    assert_eq!(numbers, [1, 2, 9]);
}

/// X-15: the line is not in canonical order, because it lies behind the window of scores.
#[tokio::test(start_paused = true)]
async fn a_panic_in_apply_spares_those_ahead_in_line_also_where_they_are_canonically_later() {
    const LONG_AGO: i64 = -40 * 60 * 60 * 1_000;
    let bench = Bench::new();
    let heard = Heard::new();
    let web = bench
        .with_role(Role::Web)
        .pipeline(pipeline(&heard))
        .start()
        .unwrap();
    for (ms, n) in [(8, 1), (9, 2), (3, 666), (4, 4)] {
        web.send(note("r", LONG_AGO + ms, n)).await.unwrap();
    }
    let kernel = bench.kernel().pipeline(pipeline(&heard)).start().unwrap();
    idle(&kernel).await;
    panics_at(&bench, &kernel, &[1, 2]).await;
    assert_eq!(bench.state::<Story>("r").await, Some(vec![666, 4, 1, 2]));
}

/// A later build repairs `apply`; the operator opens the group and nothing was lost.
///
/// X-15, S-12
#[tokio::test(start_paused = true)]
async fn a_repaired_build_goes_on_where_the_panic_stopped() {
    let bench = Bench::new();
    let heard = Heard::new();
    let kernel = bench.kernel().pipeline(pipeline(&heard)).start().unwrap();
    kernel
        .send_all([note("r", 1, 1), note("r", 2, 666), note("r", 3, 3)])
        .await
        .unwrap();
    idle(&kernel).await;
    kernel.close().await;
    let repaired = Pipeline::<Run>::define("runs")
        .declares::<Note>()
        .fold::<repaired::Totals>(|f| f.subscriber(Ear::<_, _, All>::new(&heard), Dispatch::each()))
        .build()
        .unwrap();
    let kernel = bench.kernel().pipeline(repaired).start().unwrap();
    assert!(bench.ports.queue_admin.unblock(&totals_of("r")).await.unwrap());
    idle(&kernel).await;
    assert_eq!(
        bench.state::<Totals>("r").await,
        Some(Total { events: 3, sum: 670 })
    );
    assert_eq!(heard.numbers(), [1, 666, 3]);
}

mod repaired {
    use crate::support::{RunEvent, Total};
    use foldwright_domain::{Commutative, Fold, Recorded};

    pub(super) enum Totals {}

    impl Fold for Totals {
        type On = RunEvent;
        type State = Total;
        type Order = Commutative;
        const NAME: &'static str = "totals";
        const VERSION: u32 = 1;

        fn init() -> Total {
            Total::default()
        }

        fn apply(total: Total, event: &Recorded<RunEvent>) -> Total {
            match &event.data {
                RunEvent::Noted(noted) => Total {
                    events: total.events + 1,
                    sum: total.sum + noted.n,
                },
                RunEvent::Finished(_) => Total {
                    events: total.events + 1,
                    ..total
                },
            }
        }
    }
}

/// A worker that is handed a token not above the row's stores nothing, and the store's next token is above.
///
/// G4
#[tokio::test(start_paused = true)]
async fn a_queue_whose_tokens_fell_behind_is_told_so() {
    let bench = Bench::new();
    let heard = Heard::new();
    let kernel = bench.kernel().pipeline(pipeline(&heard)).start().unwrap();
    kernel.send(note("r", 1, 1)).await.unwrap();
    idle(&kernel).await;
    let far = spoil(&bench, |row| row.revision.fence.0 += 1_000_000_000_000).await;
    kernel.send(note("r", 2, 2)).await.unwrap();
    idle(&kernel).await;
    let row = bench.stored::<Totals>("r").await.unwrap();
    assert!(row.revision.fence > far.revision.fence);
    assert_eq!(kernel.counters().released.get(), 1);
    assert_eq!(
        bench.state::<Totals>("r").await,
        Some(Total { events: 2, sum: 3 })
    );
    assert!(bench.ports.clock.now() < Millis(at(0).0 + 60_000));
}
