//! No adapter without its suites.
use std::{fs, path::Path};

/// Each adapter crate runs the whole conformance kit on itself; the kit has its own proof that no case is left out.
#[test]
fn every_adapter_runs_every_suite() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates");
    let mut adapters = Vec::new();
    for entry in fs::read_dir(crates).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        if name.starts_with("adapter-") {
            let tests = fs::read_to_string(path.join("tests/it/main.rs")).unwrap_or_default();
            assert!(
                tests
                    .lines()
                    .any(|line| line.starts_with("foldwright_conformance::suites!(")),
                "{name} runs no conformance suite: add `foldwright_conformance::suites!` to its tests/it/main.rs"
            );
            adapters.push(name);
        }
    }
    adapters.sort();
    assert_eq!(adapters, ["adapter-memory", "adapter-sqlite"]);
}
