//! Tests of the tests: a case that cannot fail proves nothing.
mod noop;

use foldwright_conformance::{Case, Declares, inventory, run, unlisted};
use noop::Noop;
use std::panic::{AssertUnwindSafe, catch_unwind};

fn cases() -> Vec<(&'static str, Case)> {
    foldwright_conformance::__each_suite! { [foldwright_conformance::__cases] () }
}

/// C-18: whatever the adapter declares.
#[test]
fn an_adapter_that_does_nothing_fails_every_case() {
    std::panic::set_hook(Box::new(|_| {}));
    let mut passed = Vec::new();
    for able in [true, false] {
        let declares = Declares {
            conditional_append: able,
            durable: able,
        };
        for (name, case) in cases() {
            let ran = catch_unwind(AssertUnwindSafe(|| run(&Noop { declares }, case)));
            if ran.is_ok() {
                passed.push((name, able));
            }
        }
    }
    let _ = std::panic::take_hook();
    assert!(passed.is_empty(), "these cases cannot fail: {passed:?}");
}

/// A function of a suite that the list lacks would never run.
#[test]
fn every_case_of_a_suite_is_listed() {
    let suites = concat!(env!("CARGO_MANIFEST_DIR"), "/src/suite");
    let mut written = Vec::new();
    for file in std::fs::read_dir(suites).unwrap() {
        let path = file.unwrap().path();
        let suite = path.file_stem().unwrap().to_str().unwrap().to_owned();
        let source = std::fs::read_to_string(&path).unwrap();
        let cases = source
            .lines()
            .filter_map(|line| line.strip_prefix("pub async fn "));
        let cases: Vec<_> = cases
            .map(|line| line.split('(').next().unwrap().to_owned())
            .collect();
        if suite != "mod" {
            written.push((suite, cases));
        }
    }
    let mut listed: Vec<_> = inventory()
        .iter()
        .map(|(suite, cases)| {
            (
                (*suite).to_owned(),
                cases.iter().map(|case| (*case).to_owned()).collect::<Vec<_>>(),
            )
        })
        .collect();
    for suites in [&mut written, &mut listed] {
        for (_, cases) in &mut *suites {
            cases.sort();
        }
        suites.sort();
    }
    assert_eq!(written, listed);
}

#[test]
fn a_missing_case_is_named() {
    let all: Vec<_> = inventory()
        .iter()
        .flat_map(|(suite, cases)| {
            cases
                .iter()
                .map(move |case| format!("x::conformance::{suite}::{case}: test\n"))
        })
        .collect();
    assert_eq!(unlisted(&all.concat()), Vec::<String>::new());
    assert_eq!(unlisted(&all[1..].concat()).len(), 1);
    assert_eq!(unlisted("").len(), cases().len());
}
