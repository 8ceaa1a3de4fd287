//! The corpus, for the plain tests: what the fuzz targets begin with goes through the same properties in every test
//! run, whole, cut short and spoilt.
use std::{env, fs, path::PathBuf};

/// Up to this length a file is cut at every byte; a longer one at its ends and at as many places between.
const CUTS: usize = 512;

/// How often each file is spoilt.
const SPOILS: u64 = 256;

/// Spoilt are the first bytes alone: what is far behind is data that nothing is decided by.
const SPOILT_BYTES: usize = 2_048;

fn directory(target: &str) -> PathBuf {
    // Each crate that includes this file lies two directories below the root.
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("../../fuzz/corpus")
        .join(target)
}

/// Checks that the corpus holds this sample of a valid encoding, or with `FOLDWRIGHT_WRITE_CORPUS` puts it there.
#[track_caller]
pub(crate) fn sample(target: &str, name: &str, bytes: &[u8]) {
    let file = directory(target).join(name);
    if fs::read(&file).is_ok_and(|found| found == bytes) {
        return;
    }
    assert!(
        env::var_os("FOLDWRIGHT_WRITE_CORPUS").is_some(),
        "{} is missing or something else: run this test with FOLDWRIGHT_WRITE_CORPUS=1 and commit the file",
        file.display()
    );
    fs::create_dir_all(directory(target)).unwrap();
    fs::write(file, bytes).unwrap();
}

/// Hands every file of a target's corpus to its property.
#[track_caller]
pub(crate) fn corpus(target: &str, property: fn(&[u8])) {
    let entries =
        fs::read_dir(directory(target)).unwrap_or_else(|error| panic!("{target} has no corpus: {error}"));
    let mut files: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert!(!files.is_empty(), "the corpus of {target} is empty");
    property(&[]);
    for file in files {
        let bytes = fs::read(file).unwrap();
        property(&bytes);
        for cut in cuts(bytes.len()) {
            property(&bytes[..cut]);
        }
        for seed in 0..SPOILS {
            property(&spoilt(&bytes, seed));
        }
    }
}

fn cuts(length: usize) -> impl Iterator<Item = usize> {
    let step = (length / CUTS).max(1);
    (0..length).filter(move |at| at % step == 0 || *at < CUTS / 4 || *at + CUTS / 4 > length)
}

/// One to four bytes are others, and every fourth time some are left out or come twice.
fn spoilt(bytes: &[u8], seed: u64) -> Vec<u8> {
    let mut spoilt = bytes.to_vec();
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 33) as usize % below.max(1)
    };
    for _ in 0..=next(4) {
        let at = next(spoilt.len().min(SPOILT_BYTES));
        if let Some(byte) = spoilt.get_mut(at) {
            *byte = if next(2) == 0 {
                *byte ^ (1 << next(8))
            } else {
                next(256) as u8
            };
        }
    }
    if seed.is_multiple_of(4) {
        let from = next(spoilt.len().min(SPOILT_BYTES));
        let to = (from + next(16)).min(spoilt.len());
        let part = spoilt[from..to].to_vec();
        let put = if next(2) == 0 {
            Vec::new()
        } else {
            [part.clone(), part].concat()
        };
        spoilt.splice(from..to, put);
    }
    spoilt
}
