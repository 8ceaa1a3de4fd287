//! Killing the process at any moment.
//!
//! A copy of this test binary works on a file and tells over its standard output what it is about to ask for and what
//! was answered. It is killed again and again; after each death the file must agree with what was told.
mod ledger;
mod victim;

use crate::support::{open, run};
use foldwright_adapter_sqlite::rusqlite::Connection;
use ledger::Ledger;
use std::{
    io::{BufRead, BufReader},
    path::Path,
    process::{Command, Stdio},
};

/// Names the file that the copy works on, and its seed.
pub(crate) const FILE: &str = "FOLDWRIGHT_TEST_KILL";
pub(crate) const SEED: &str = "FOLDWRIGHT_TEST_KILL_SEED";

const DEATHS: u64 = 200;

/// L-01, Q-07, Q-16, Q-23: nothing that was answered is lost, nothing is doubled, order holds, counters equal a recount.
#[test]
fn a_file_survives_death_at_any_moment() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("store.db");
    let mut ledger = Ledger::default();
    for seed in 0..DEATHS {
        live_and_die(&path, seed, &mut ledger);
        run(async {
            let sqlite = open(&path);
            ledger.check(&sqlite).await;
            sqlite.close().await.unwrap();
        });
    }
    assert!(ledger.is_worth_something(), "{ledger:?}");
    let sound: String = Connection::open(&path)
        .unwrap()
        .query_row("PRAGMA integrity_check", [], |row| row.get(0))
        .unwrap();
    assert_eq!(sound, "ok");
}

/// Starts the copy, reads some of what it says, and kills it; what it said until then is read to the end.
fn live_and_die(path: &Path, seed: u64, ledger: &mut Ledger) {
    let mut victim = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "kill::a_copy_works_until_it_is_killed", "--nocapture"])
        .env(FILE, path)
        .env(SEED, seed.to_string())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(victim.stdout.take().unwrap()).lines();
    // Some die before their first answer, some after many.
    let words = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
    for _ in 0..words % 60 {
        ledger.hear(&lines.next().expect("it lives until it is killed").unwrap());
    }
    victim.kill().unwrap();
    // A line that was cut off by the death is no line.
    let rest: Vec<_> = lines.map_while(Result::ok).collect();
    for line in rest.iter().filter(|line| line.ends_with('.')) {
        ledger.hear(line);
    }
    victim.wait().unwrap();
}

/// The other half of [`a_file_survives_death_at_any_moment`]; on its own it has nothing to do.
#[test]
fn a_copy_works_until_it_is_killed() {
    if let (Ok(file), Ok(seed)) = (std::env::var(FILE), std::env::var(SEED)) {
        run(victim::work(Path::new(&file), seed.parse().unwrap()));
    }
}
