//! The whole kernel under random intents, lost replies and deaths, against a plain oracle.
mod oracle;
mod plan;
mod run;

use run::{Weather, run};

/// Runs seeds from `first` on. `FOLDWRIGHT_SEEDS` says how many, `FOLDWRIGHT_SEED` names a single one.
fn seeds(first: u64, default: u64) -> Vec<u64> {
    let number = |name: &str| {
        std::env::var(name)
            .ok()
            .map(|text| text.parse::<u64>().expect("a number"))
    };
    match number("FOLDWRIGHT_SEED") {
        Some(seed) => vec![seed],
        None => (first..first + number("FOLDWRIGHT_SEEDS").unwrap_or(default)).collect(),
    }
}

fn simulate(weather: Weather, first: u64, default: u64) {
    for seed in seeds(first, default) {
        // Shown only when the test fails; the last line names the seed to repeat with FOLDWRIGHT_SEED.
        println!("{weather:?}, seed {seed}");
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .unwrap();
        runtime.block_on(run(weather, seed));
    }
}

/// G1, G2, G3, G4, G5, G7: processes die at random points, several times over.
#[test]
fn whatever_dies_nothing_is_lost_doubled_or_disordered() {
    simulate(Weather::Deadly, 1_000, 32);
}

/// G1, G2, G3, G4, G5, G7: two processes share a queue, and one call in a few fails or loses its reply.
#[test]
fn whatever_fails_nothing_is_lost_doubled_or_disordered() {
    simulate(Weather::Stormy, 2_000, 24);
}

/// The same seed makes the same run, to the byte.
#[test]
fn a_seed_can_be_repeated() {
    let once = || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .unwrap();
        runtime.block_on(run(Weather::Deadly, 5))
    };
    assert_eq!(once(), once());
}
