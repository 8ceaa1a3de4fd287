//! The numbers of one SQLite file.
use foldwright_ports::{Clock, Error, Kind, QueueSettings, SystemClock};
use std::{fmt, sync::Arc, time::Duration};

/// How a file is opened. Every field has a default that suits one machine; change single ones:
///
/// ```
/// # use foldwright_adapter_sqlite::{SqliteSettings, Synchronous};
/// let settings = SqliteSettings { synchronous: Synchronous::Normal, ..SqliteSettings::default() };
/// ```
#[derive(Clone)]
pub struct SqliteSettings {
    /// What the store goes by; default the machine's clock. Processes that share a file need the same time.
    pub clock: Arc<dyn Clock>,
    /// The numbers of the queue.
    pub queue: QueueSettings,
    /// When a commit reaches the disk; default [`Synchronous::Full`].
    pub synchronous: Synchronous,
    /// How long a write waits for another process that holds the file; default 5 s.
    pub busy_timeout: Duration,
    /// One commit holds at most this many operations; default 256.
    pub batch_operations: usize,
    /// One commit takes no further operation once they carry this many bytes; default 8 MiB.
    pub batch_bytes: usize,
    /// One commit takes no further operation once it has run this long; default 10 ms. Nothing ever waits for a batch
    /// to fill.
    pub batch_time: Duration,
    /// How many operations may wait for the writer before callers wait for room; default 1,024.
    pub waiting_operations: usize,
    /// How many reads run at once, each on a thread of its own; default 2.
    pub readers: usize,
    /// Memory for pages of the writer and of each reader, in bytes; default 16 MiB.
    pub cache_bytes: usize,
    /// Pages (8 KiB) that may be added to the write-ahead file before they are moved into the file itself, beside the
    /// writer; default 256: passes so short that no commit waits long for the disk. Where they fall behind, the writer
    /// waits for them at 64 times as many, which with the pages of one commit bounds the write-ahead file: 128 MiB by
    /// default. It grows beyond only while something reads one view of the file for long, another process moves pages
    /// all the time, or the disk refuses.
    pub checkpoint_pages: u32,
    /// How often a waiting worker looks for what another process staged; default 50 ms.
    pub watch_interval: Duration,
}

/// When a commit reaches the disk.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Synchronous {
    /// Before it is answered: an answer survives the loss of power.
    #[default]
    Full,
    /// Later: an answer survives the death of the process, not the loss of power. The file is never damaged.
    Normal,
}

impl Default for SqliteSettings {
    fn default() -> Self {
        Self {
            clock: Arc::new(SystemClock),
            queue: QueueSettings::default(),
            synchronous: Synchronous::Full,
            busy_timeout: Duration::from_secs(5),
            batch_operations: 256,
            batch_bytes: 8 << 20,
            batch_time: Duration::from_millis(10),
            waiting_operations: 1_024,
            readers: 2,
            cache_bytes: 16 << 20,
            checkpoint_pages: 256,
            watch_interval: Duration::from_millis(50),
        }
    }
}

/// More waiting operations only hide that the disk is behind.
const MOST_WAITING: usize = 1 << 20;
/// Each reader is a thread with a connection.
const MOST_READERS: usize = 64;
/// SQLite counts the time in milliseconds of 32 bits, and nobody waits that long.
const LONGEST_BUSY: Duration = Duration::from_secs(3_600);

impl SqliteSettings {
    /// Every fault at once.
    pub(crate) fn check(&self) -> Result<(), Error> {
        let mut faults = Vec::new();
        for (name, value) in [
            ("batch_operations", self.batch_operations),
            ("batch_bytes", self.batch_bytes),
            ("waiting_operations", self.waiting_operations),
            ("readers", self.readers),
            ("checkpoint_pages", self.checkpoint_pages as usize),
            ("queue.ladder.attempts", self.queue.ladder.attempts as usize),
        ] {
            if value == 0 {
                faults.push(format!("{name} is 0, the least is 1"));
            }
        }
        for (name, value, most) in [
            ("waiting_operations", self.waiting_operations, MOST_WAITING),
            ("readers", self.readers, MOST_READERS),
        ] {
            if value > most {
                faults.push(format!("{name} is {value}, the most is {most}"));
            }
        }
        if self.watch_interval < Duration::from_millis(1) {
            faults.push(format!(
                "watch_interval is {:?}, the least is 1 ms",
                self.watch_interval
            ));
        }
        if self.busy_timeout > LONGEST_BUSY {
            faults.push(format!(
                "busy_timeout is {:?}, the most is {LONGEST_BUSY:?}",
                self.busy_timeout
            ));
        }
        if faults.is_empty() {
            return Ok(());
        }
        Err(Error::new(Kind::Invalid, "open", faults.join("; ")))
    }
}

impl fmt::Debug for SqliteSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SqliteSettings")
            .field("queue", &self.queue)
            .field("synchronous", &self.synchronous)
            .field("busy_timeout", &self.busy_timeout)
            .field("readers", &self.readers)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// G12
    #[test]
    fn every_fault_is_named() {
        let settings = SqliteSettings {
            readers: 0,
            batch_operations: 0,
            watch_interval: Duration::ZERO,
            busy_timeout: Duration::MAX,
            waiting_operations: usize::MAX,
            ..SqliteSettings::default()
        };
        let text = settings.check().unwrap_err().to_string();
        for name in [
            "readers",
            "batch_operations",
            "watch_interval",
            "busy_timeout",
            "waiting_operations",
        ] {
            assert!(text.contains(name), "{text}");
        }
    }
}
