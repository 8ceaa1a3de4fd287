//! The golden corpus: stored data of every version, which has to be readable for ever.
//!
//! `<event type>/<version>.json` is data as it was stored under that version, `<version>.current.json` what it means
//! today. Files are added and never changed, unless the current version itself has changed.
use crate::run::RunEvent;
use foldwright_domain::Event;
use serde_json::Value;
use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

/// What differs from the corpus. Where the meaning has drifted, a `.new` file beside it says what is read now.
fn drifts<E: Event>(corpus: &Path) -> Vec<String> {
    let mut drifts = Vec::new();
    let mut unread = files(corpus);
    for descriptor in E::CATALOG.concat() {
        for version in descriptor.upcast_from.iter().chain([&descriptor.version]) {
            let stored = corpus.join(descriptor.event_type).join(format!("{version}.json"));
            let expected = stored.with_extension("current.json");
            unread.remove(&stored);
            unread.remove(&expected);
            if let Err(drift) = compare::<E>(descriptor.event_type, version, &stored, &expected) {
                drifts.push(format!("{} of {version}: {drift}", descriptor.event_type));
            }
        }
    }
    drifts.extend(
        unread
            .iter()
            .map(|file| format!("{}: no version in the catalogue reads it", file.display())),
    );
    drifts
}

fn compare<E: Event>(event_type: &str, version: &str, stored: &Path, expected: &Path) -> Result<(), String> {
    let data = fs::read(stored).map_err(|e| format!("no golden file: {e}"))?;
    let event = E::decode(event_type, version, &data).map_err(|e| e.to_string())?;
    let now: Value = serde_json::from_slice(&event.encode().unwrap()).unwrap();
    let before: Option<Value> = fs::read(expected)
        .ok()
        .and_then(|text| serde_json::from_slice(&text).ok());
    if before.as_ref() == Some(&now) {
        return Ok(());
    }
    let new = expected.with_extension("json.new");
    fs::write(&new, serde_json::to_string_pretty(&now).unwrap() + "\n").unwrap();
    Err(format!("it means something else now, see {}", new.display()))
}

/// Every committed file of a corpus.
fn files(corpus: &Path) -> BTreeSet<PathBuf> {
    let list = |directory: &Path| -> Vec<PathBuf> {
        fs::read_dir(directory)
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .collect()
    };
    list(corpus)
        .iter()
        .flat_map(|directory| list(directory))
        .filter(|file| file.extension().is_some_and(|extension| extension != "new"))
        .collect()
}

fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden")
}

/// L-12
#[test]
fn every_version_ever_written_means_what_it_meant() {
    assert_eq!(files(&corpus()).len(), 8);
    assert_eq!(drifts::<RunEvent>(&corpus()), Vec::<String>::new());
}

/// A copy of the corpus that a test may spoil.
fn copy(name: &str) -> PathBuf {
    let copy = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&copy);
    for file in files(&corpus()) {
        let target = copy.join(file.strip_prefix(corpus()).unwrap());
        fs::create_dir_all(target.parent().unwrap()).unwrap();
        fs::copy(&file, &target).unwrap();
    }
    copy
}

#[test]
fn a_drift_fails_and_shows_what_is_read_now() {
    let spoilt = copy("golden-drift");
    let expected = spoilt.join("ex.sim.run.queued/2025-01-01.current.json");
    let good = fs::read_to_string(&expected).unwrap();
    fs::write(&expected, good.replace("case-1", "case-0")).unwrap();
    let found = drifts::<RunEvent>(&spoilt);
    assert!(
        matches!(&found[..], [one] if one.starts_with("ex.sim.run.queued of 2025-01-01")),
        "{found:?}"
    );
    assert_eq!(
        fs::read_to_string(expected.with_extension("json.new")).unwrap(),
        good
    );
}

#[test]
fn a_version_without_a_file_and_a_file_without_a_version_fail() {
    let spoilt = copy("golden-missing");
    let stored = spoilt.join("ex.sim.run.queued/2025-06-01.json");
    fs::rename(&stored, stored.with_file_name("2024-06-01.json")).unwrap();
    let found = drifts::<RunEvent>(&spoilt);
    assert!(
        matches!(&found[..], [missing, unread]
        if missing.contains("no golden file") && unread.contains("2024-06-01.json")),
        "{found:?}"
    );
}
