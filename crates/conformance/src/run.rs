//! Running one case as an ordinary test.
use crate::Fixture;
use std::{future::Future, pin::Pin};

/// A case that runs.
pub type Running<'a> = Pin<Box<dyn Future<Output = ()> + 'a>>;

/// A case of a suite.
pub type Case = for<'a> fn(&'a dyn Fixture) -> Running<'a>;

/// Runs a case on a runtime of its own, with threads, so that races can happen.
pub fn run(fixture: &dyn Fixture, case: Case) {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .expect("a runtime can be built")
        .block_on(case(fixture));
}

/// Every case of the inventory is a test of the running test binary.
///
/// # Panics
/// When one is missing, or the binary cannot be asked.
pub fn every_case_is_listed() {
    let this = std::env::current_exe().expect("a test binary knows where it lies");
    let listed = std::process::Command::new(this).arg("--list").output();
    let listed = listed.expect("a test binary can be run").stdout;
    let missing = unlisted(&String::from_utf8_lossy(&listed));
    assert!(missing.is_empty(), "not run: {missing:?}");
}

/// The cases, as `suite::case`, that the output of a test binary's `--list` lacks.
#[must_use]
pub fn unlisted(list: &str) -> Vec<String> {
    let names: Vec<_> = list
        .lines()
        .filter_map(|line| line.strip_suffix(": test"))
        .collect();
    crate::inventory()
        .iter()
        .flat_map(|(suite, cases)| {
            cases
                .iter()
                .map(move |case| format!("conformance::{suite}::{case}"))
        })
        .filter(|case| !names.iter().any(|name| name.ends_with(case.as_str())))
        .collect()
}
