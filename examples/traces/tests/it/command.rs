//! Running the `traces` command.
use flate2::read::GzDecoder;
use std::{
    fs,
    io::Read,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
};

/// The command with a store of its own.
pub(crate) struct Traces {
    dir: tempfile::TempDir,
}

impl Traces {
    pub(crate) fn new() -> Self {
        Self {
            dir: tempfile::tempdir().unwrap(),
        }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// Runs the command to its end, whatever that is.
    pub(crate) fn run(&self, args: &[&str]) -> Output {
        self.command(args).output().unwrap()
    }

    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_traces"));
        command
            .args(args)
            .args(["--store", self.path("traces.db").to_str().unwrap()]);
        command
    }

    /// Ingests and succeeds; answers what it printed.
    pub(crate) fn ingest(&self, file: &Path, requests: &Path) -> String {
        let args = [
            "ingest",
            file.to_str().unwrap(),
            "--requests",
            requests.to_str().unwrap(),
        ];
        printed(&self.run(&args))
    }

    /// Ingests and is killed with SIGKILL as soon as its store has grown by so many bytes, or at its end.
    pub(crate) fn ingest_and_kill(&self, file: &Path, requests: &Path, bytes: u64) {
        let args = [
            "ingest",
            file.to_str().unwrap(),
            "--requests",
            requests.to_str().unwrap(),
        ];
        let size = || {
            ["traces.db", "traces.db-wal"]
                .iter()
                .map(|name| fs::metadata(self.path(name)).map_or(0, |m| m.len()))
                .sum::<u64>()
        };
        let before = size();
        let mut child = self
            .command(&args)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        while size() < before + bytes && child.try_wait().unwrap().is_none() {
            std::thread::yield_now();
        }
        child.kill().unwrap();
        child.wait().unwrap();
    }

    pub(crate) fn show_json(&self) -> String {
        printed(&self.run(&["show", "--json"]))
    }
}

/// What a run that succeeded wrote to its standard output.
pub(crate) fn printed(output: &Output) -> String {
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}: {said}", output.status);
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// A file of the corpus.
pub(crate) fn corpus(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../tests/data/otlp")
        .join(name)
}

/// The right answers.
pub(crate) fn expected_summaries() -> String {
    unzip(&corpus("trace_summaries.jsonl.gz"))
}

pub(crate) fn unzipped_lines(path: &Path) -> Vec<String> {
    unzip(path).lines().map(str::to_owned).collect()
}

fn unzip(path: &Path) -> String {
    String::from_utf8(unzipped(path)).unwrap()
}

pub(crate) fn unzipped(path: &Path) -> Vec<u8> {
    let mut bytes = Vec::new();
    GzDecoder::new(fs::File::open(path).unwrap())
        .read_to_end(&mut bytes)
        .unwrap();
    bytes
}
