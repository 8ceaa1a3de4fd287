use std::io;
use std::path::{Path, PathBuf};

/// Why a task could not be carried out. A task that ran and found faults reports them itself.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    #[error("cannot run `{command}`: {source}")]
    Spawn { command: String, source: io::Error },
    #[error("`{command}` failed: {detail}")]
    Command { command: String, detail: String },
    #[error("cannot read or write {}: {source}", path.display())]
    File { path: PathBuf, source: io::Error },
    #[error("cannot read the answer of `{command}`: {source}")]
    Json {
        command: String,
        source: serde_json::Error,
    },
    #[error("cannot parse {}: {source}", path.display())]
    Manifest {
        path: PathBuf,
        source: Box<toml::de::Error>,
    },
    #[error("no bench is named `{name}`; the known ones are: {known}")]
    UnknownBench { name: String, known: String },
    #[error("no fuzz target is named `{name}`; the known ones are: {known}")]
    UnknownTarget { name: String, known: String },
    #[error("no package is named `{name}`; the known ones are: {known}")]
    UnknownPackage { name: String, known: String },
}

impl Error {
    /// For `map_err` after an operation on `path`.
    pub(crate) fn file(path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::File {
            path: path.to_path_buf(),
            source,
        }
    }
}
