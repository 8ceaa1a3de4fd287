//! Where the corpus lies.
use std::path::PathBuf;

/// A file of the corpus with its right answers.
#[must_use]
pub fn corpus_file(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("data/otlp")
        .join(name)
}
