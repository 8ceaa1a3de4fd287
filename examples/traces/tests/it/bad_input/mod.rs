//! What a user sees of input that is wrong, and that everything else is in. `docs/bad-input.md` lists the cases.
mod files;
mod requests;
mod spans;
mod stores;

use crate::{command::Traces, http::json_request};
use std::{
    fs,
    path::{Path, PathBuf},
};

/// What a run of `traces` said.
struct Said {
    out: String,
    complained: String,
    succeeded: bool,
}

impl Said {
    /// It failed, and says all of this.
    #[track_caller]
    fn refuses(&self, all: &[&str]) {
        assert!(!self.succeeded, "{}", self.complained);
        for one in all {
            assert!(self.complained.contains(one), "{one}: {}", self.complained);
        }
    }
}

fn ingest(traces: &Traces, file: &Path) -> Said {
    run(traces, &["ingest", file.to_str().unwrap()])
}

fn run(traces: &Traces, args: &[&str]) -> Said {
    let output = traces.run(args);
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    Said {
        out: text(output.stdout),
        complained: text(output.stderr),
        succeeded: output.status.success(),
    }
}

/// A request of one good span, on one line.
fn good(id: u64) -> String {
    String::from_utf8(json_request(1, id)).unwrap().replace('\n', " ")
}

fn file(traces: &Traces, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
    let path = traces.path(name);
    fs::write(&path, content).unwrap();
    path
}

/// How many spans of the one trace are stored.
#[track_caller]
fn stored(traces: &Traces, spans: u64) {
    let shown = traces.show_json();
    assert!(shown.contains(&format!("\"span_count\":{spans},")), "{shown}");
}
