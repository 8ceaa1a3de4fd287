//! Starting processes on a file, and seeing them end.
use super::points::Deed;
use rustix::process::{Pid, Signal, kill_process};
use std::{
    io::Write,
    os::unix::process::ExitStatusExt,
    path::{Path, PathBuf},
    process::{Child, Command, ExitStatus, Stdio},
    sync::atomic::{AtomicU32, Ordering},
    time::Duration,
};

pub(super) const STORE: &str = "FOLDWRIGHT_TEST_CRASH";
pub(super) const POINT: &str = "FOLDWRIGHT_TEST_CRASH_POINT";
pub(super) const DEED: &str = "FOLDWRIGHT_TEST_CRASH_DEED";
pub(super) const HALF: &str = "FOLDWRIGHT_TEST_CRASH_HALF";
pub(super) const RECORD: &str = "FOLDWRIGHT_TEST_CRASH_RECORD";

const LOOK: Duration = Duration::from_millis(5);

/// Each life has a file of its own for what it says.
static LIVES: AtomicU32 = AtomicU32::new(0);

/// How a life went.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Went {
    /// To its end: it did not pass the point this time.
    ToTheEnd,
    /// To the point.
    ToThePoint,
}

/// A copy of this test binary at work on a file.
pub(super) struct Life {
    child: Child,
    words: PathBuf,
}

impl Life {
    pub(super) fn start(
        store: &Path,
        half: bool,
        armed: Option<(&str, Deed)>,
        record: Option<&Path>,
    ) -> Self {
        let number = LIVES.fetch_add(1, Ordering::Relaxed);
        let words = store.with_extension(format!("{number}.stderr"));
        let file = std::fs::File::create(&words).unwrap();
        let mut command = Command::new(std::env::current_exe().unwrap());
        command
            .args([
                "--exact",
                "crash_matrix::a_copy_works_until_it_dies",
                "--nocapture",
            ])
            .env(STORE, store)
            // What panics on purpose needs no trace.
            .env("RUST_BACKTRACE", "0")
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(file);
        if let Some((point, deed)) = armed {
            command.env(POINT, point).env(DEED, format!("{deed:?}"));
        }
        if half {
            command.env(HALF, "1");
        }
        if let Some(record) = record {
            command.env(RECORD, record);
        }
        Self {
            child: command.spawn().unwrap(),
            words,
        }
    }

    /// Waits until it was killed or has come to its end.
    pub(super) async fn ends(mut self) -> Went {
        let status = self.status().await;
        if status.signal() == Some(Signal::KILL.as_raw()) {
            return Went::ToThePoint;
        }
        self.is_good(status);
        Went::ToTheEnd
    }

    /// Waits until it stands still or has come to its end.
    pub(super) async fn stops(&mut self) -> Went {
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                self.is_good(status);
                return Went::ToTheEnd;
            }
            let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.child.id())).unwrap();
            let state = stat.rsplit(')').next().unwrap().trim_start().chars().next();
            if state == Some('T') {
                return Went::ToThePoint;
            }
            tokio::time::sleep(LOOK).await;
        }
    }

    /// Lets it go on.
    pub(super) fn goes_on(&mut self) {
        self.child.stdin.take().unwrap().write_all(&[0]).unwrap();
        kill_process(Pid::from_child(&self.child), Signal::CONT).unwrap();
    }

    async fn status(&mut self) -> ExitStatus {
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status;
            }
            tokio::time::sleep(LOOK).await;
        }
    }

    fn is_good(&self, status: ExitStatus) {
        let words = std::fs::read_to_string(&self.words).unwrap();
        assert!(status.success(), "a process failed ({status}): {words}");
    }
}

impl Drop for Life {
    fn drop(&mut self) {
        // A test that stopped half way leaves no process behind.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
