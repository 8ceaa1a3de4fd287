//! Small disorder in a fold that keeps its newest events.
use crate::support::{All, Bench, Ear, Faults, Heard, Note, Op, Run, RunEvent, Seeded, Supple, idle, note};
use foldwright_domain::Dispatch;
use foldwright_runtime::{Pipeline, WorkerSettings};
use std::sync::Arc;

fn pipeline(heard: &Arc<Heard<Vec<u64>>>) -> Pipeline<Run> {
    Pipeline::define("runs")
        .declares::<Note>()
        .fold::<Supple>(|f| f.subscriber(Ear::<RunEvent, _, All>::new(heard), Dispatch::each()))
        .build()
        .unwrap()
}

/// X-07
#[tokio::test(start_paused = true)]
async fn a_late_event_within_the_window_is_folded_without_the_log() {
    let bench = Bench::new();
    let heard = Heard::new();
    let faults = Arc::new(Faults::new());
    let kernel = bench.faulty(&faults).pipeline(pipeline(&heard)).start().unwrap();
    for n in [1, 2, 3, 4, 5, 9, 7, 6, 8] {
        kernel.send(note("r", n as i64, n)).await.unwrap();
        idle(&kernel).await;
    }
    assert_eq!(bench.state::<Supple>("r").await, Some((1..=9).collect()));
    assert_eq!(kernel.counters().refolds.get(), 0);
    assert_eq!(kernel.counters().reordered.get(), 3);
    assert_eq!(faults.count(Op::LoadEvents, "") + faults.count(Op::Scan, ""), 0);
    let row = bench.row::<Supple>("r").await.unwrap();
    assert_eq!(
        (row.events, row.last_applied.unwrap().occurred_at),
        (9, crate::support::at(9))
    );
    // Each was heard once, with a state that holds it.
    assert_eq!(heard.numbers(), [1, 2, 3, 4, 5, 9, 7, 6, 8]);
    assert!(heard.runs().iter().all(|run| run.state.contains(&run.n)));
    // One from before the window is a matter for the log, and the window begins anew behind it.
    kernel.send(note("r", 0, 100)).await.unwrap();
    idle(&kernel).await;
    assert_eq!(kernel.counters().refolds.get(), 1);
    for n in [12, 11, 10] {
        kernel.send(note("r", n as i64, n)).await.unwrap();
        idle(&kernel).await;
    }
    let expected: Vec<u64> = std::iter::once(100).chain(1..=12).collect();
    assert_eq!(bench.state::<Supple>("r").await, Some(expected));
    assert_eq!(kernel.counters().refolds.get(), 1);
}

/// X-05, X-07, G3: whatever the order and the batches, and however often an event comes again, the state is that of the
/// canonical fold; the log is read the less for it.
#[test]
fn any_disorder_gives_the_canonical_state() {
    let mut reordered = 0;
    for seed in 0..40 {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .unwrap();
        reordered += runtime.block_on(async {
            let mut seeded = Seeded::new(seed);
            let bench = Bench::seeded(seed);
            let heard = Heard::new();
            let settings = WorkerSettings {
                max_jobs_per_group: *seeded.pick(&[1, 2, 5, 500]),
                ..WorkerSettings::default()
            };
            let kernel = bench
                .kernel()
                .pipeline(pipeline(&heard))
                .worker(settings)
                .start()
                .unwrap();
            let mut sent: Vec<(i64, u64)> = Vec::new();
            for n in 1..=30 {
                let ms = n as i64 * 2 - seeded.below(12) as i64;
                sent.push((ms, n));
                kernel
                    .send(crate::support::keyed_note("r", ms, n, &n.to_string()))
                    .await
                    .unwrap();
                if seeded.one_in(4) {
                    let (ms, n) = *seeded.pick(&sent);
                    kernel
                        .send(crate::support::keyed_note("r", ms, n, &n.to_string()))
                        .await
                        .unwrap();
                }
                if seeded.one_in(2) {
                    idle(&kernel).await;
                }
            }
            idle(&kernel).await;
            let stories = bench.state::<Supple>("r").await.unwrap();
            // Of equal times the ids decide, which follow the order of sending.
            sent.sort_by_key(|(ms, n)| (*ms, *n));
            let canonical: Vec<u64> = sent.iter().map(|(_, n)| *n).collect();
            let by_time = |story: &[u64]| {
                let ms = |n: &u64| sent.iter().find(|(_, m)| m == n).unwrap().0;
                story.iter().map(ms).collect::<Vec<_>>()
            };
            assert_eq!(by_time(&stories), by_time(&canonical), "seed {seed}");
            assert_eq!(bench.row::<Supple>("r").await.unwrap().events, 30, "seed {seed}");
            let mut numbers = heard.numbers();
            numbers.sort_unstable();
            numbers.dedup();
            assert_eq!(numbers, (1..=30).collect::<Vec<_>>(), "seed {seed}");
            kernel.counters().reordered.get()
        });
    }
    assert!(reordered > 40, "{reordered}");
}
