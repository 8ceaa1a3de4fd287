//! What happened in a run, for whoever has to find out why it failed.
use std::{
    fmt::Write as _,
    sync::{Arc, Mutex},
    time::Duration,
};
use tokio::time::Instant;

/// Lines that are shown when a run fails; all of them go to the file that `FOLDWRIGHT_HISTORY` names.
const SHOWN: usize = 200;

/// The steps of one run, each with its virtual time.
#[derive(Clone)]
pub(crate) struct History {
    since: Instant,
    lines: Arc<Mutex<Vec<(Duration, String)>>>,
}

impl History {
    pub(super) fn new() -> Self {
        Self {
            since: Instant::now(),
            lines: Arc::default(),
        }
    }

    pub(crate) fn note(&self, line: impl Into<String>) {
        let line = (self.since.elapsed(), line.into());
        self.lines.lock().unwrap().push(line);
    }

    /// The whole of it.
    pub(super) fn text(&self) -> String {
        self.last(usize::MAX)
    }

    /// Its end, and the whole of it to the file that was asked for.
    pub(super) fn show(&self) -> String {
        if let Ok(path) = std::env::var("FOLDWRIGHT_HISTORY") {
            std::fs::write(path, self.text()).unwrap();
        }
        self.last(SHOWN)
    }

    fn last(&self, count: usize) -> String {
        let lines = self.lines.lock().unwrap();
        let mut text = String::new();
        for (at, line) in lines.iter().skip(lines.len().saturating_sub(count)) {
            writeln!(text, "{:>9} ms  {line}", at.as_millis()).unwrap();
        }
        text
    }
}
