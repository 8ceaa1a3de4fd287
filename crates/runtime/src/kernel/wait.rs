//! Pauses that grow.
use std::time::Duration;

const SHORTEST: Duration = Duration::from_millis(2);
const LONGEST: Duration = Duration::from_millis(250);

/// The pauses between two looks at something that takes its time.
pub(super) struct Waits {
    next: Duration,
    so_far: u32,
}

impl Waits {
    pub(super) fn new() -> Self {
        Self {
            next: SHORTEST,
            so_far: 0,
        }
    }

    /// How many pauses there were.
    pub(super) fn so_far(&self) -> u32 {
        self.so_far
    }

    /// Twice as long each time, at most [`LONGEST`].
    pub(super) async fn wait(&mut self) {
        tokio::time::sleep(self.next).await;
        self.next = (self.next * 2).min(LONGEST);
        self.so_far = self.so_far.saturating_add(1);
    }
}
