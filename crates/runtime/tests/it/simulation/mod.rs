//! The whole kernel in memory, under virtual time and a seeded scheduler: random commands while processes die, freeze and
//! wake up late, calls fail or lose their replies, the clock jumps and an operator is at work. Each step is watched, and in
//! the end everything is compared with what a plain fold of the stored events gives.
mod clock;
mod history;
mod operator;
mod oracle;
mod plan;
mod run;
mod watch;
mod weather;

use history::History;
use run::run;
use std::cell::RefCell;

/// How many failed seeds are shown before a run of many gives up.
const FAILURES: usize = 5;

/// How many seeds the ordinary suite runs; `cargo xtask simulate` runs as many as it is told to.
const SEEDS: u64 = 60;

/// A number from the environment.
fn number(name: &str) -> Option<u64> {
    let text = std::env::var(name).ok()?;
    Some(text.parse().expect("a number"))
}

thread_local! {
    /// What panicked last: subscribers panic on purpose, so that nothing is printed of it unless the run fails.
    static LAST_PANIC: RefCell<String> = RefCell::default();
}

/// Panics are kept and not printed.
fn quietly() {
    std::panic::set_hook(Box::new(|panic| {
        LAST_PANIC.with_borrow_mut(|last| *last = panic.to_string());
    }));
}

/// Runs one seed and answers its history; the error is the history of a run that failed.
fn simulate(seed: u64) -> Result<String, String> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .unwrap();
    runtime.block_on(async {
        let history = History::new();
        let fails = {
            let history = history.clone();
            let mut task = tokio::task::JoinSet::new();
            task.spawn(async move { run(seed, &history).await });
            task.join_next().await.is_none_or(|ended| ended.is_err())
        };
        if fails {
            let panic = LAST_PANIC.with_borrow(String::clone);
            Err(format!("{}{panic}\n", history.show()))
        } else {
            Ok(history.text())
        }
    })
}

/// G1, G2, G3, G4, G5, G7, G11: `FOLDWRIGHT_SEED` names a single seed, `FOLDWRIGHT_FIRST` and `FOLDWRIGHT_SEEDS` say which
/// ones and how many; `FOLDWRIGHT_HISTORY` names a file for the whole history of one that fails.
#[test]
fn whatever_happens_nothing_is_lost_doubled_or_disordered() {
    let seeds = match number("FOLDWRIGHT_SEED") {
        Some(seed) => seed..seed + 1,
        None => {
            let first = number("FOLDWRIGHT_FIRST").unwrap_or(1_000);
            first..first + number("FOLDWRIGHT_SEEDS").unwrap_or(SEEDS)
        }
    };
    quietly();
    let mut failed = Vec::new();
    for seed in seeds {
        if let Err(history) = simulate(seed) {
            println!("{history}seed {seed} failed: repeat it with FOLDWRIGHT_SEED={seed}");
            failed.push(seed);
            if failed.len() == FAILURES {
                break;
            }
        }
    }
    drop(std::panic::take_hook());
    assert!(failed.is_empty(), "failed seeds: {failed:?}");
}

/// The same seed makes the same run, step by step.
#[test]
fn a_seed_can_be_repeated() {
    for seed in 0..8 {
        assert_eq!(simulate(seed), simulate(seed), "seed {seed}");
    }
}
