//! A clock that stands until it is told to move.
use foldwright_domain::Millis;
use foldwright_ports::Clock;
use std::{
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
    time::Duration,
};

/// A clock for tests. Its clones show one time.
#[derive(Clone, Debug)]
pub struct TestClock(Arc<AtomicI64>);

impl TestClock {
    /// Where a new clock stands.
    pub const START: Millis = Millis(1_764_500_000_000);

    /// A clock that stands at `now`.
    #[must_use]
    pub fn at(now: Millis) -> Self {
        Self(Arc::new(AtomicI64::new(now.0)))
    }

    /// Moves it on.
    pub fn advance(&self, by: Duration) {
        let by = i64::try_from(by.as_millis()).unwrap_or(i64::MAX);
        self.0.fetch_add(by, Ordering::SeqCst);
    }

    /// Moves it anywhere, back as well.
    pub fn set(&self, now: Millis) {
        self.0.store(now.0, Ordering::SeqCst);
    }
}

impl Default for TestClock {
    fn default() -> Self {
        Self::at(Self::START)
    }
}

impl Clock for TestClock {
    fn now(&self) -> Millis {
        Millis(self.0.load(Ordering::SeqCst))
    }
}
