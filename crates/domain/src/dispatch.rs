//! When a subscriber runs.
use std::time::Duration;

/// How the events of a projection become runs of a subscriber.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Dispatch {
    /// One run for each event, `delay` after the projection's row was stored.
    Each {
        /// How long a run waits; zero runs at once.
        delay: Duration,
    },
    /// One run when nothing has happened for `quiet`; it gets the canonically newest event, and the state as it is when
    /// it starts.
    ///
    /// Runs are merged by the subscriber's dedup id, which is the projection's key unless it says otherwise.
    Debounce {
        /// How long nothing must happen.
        quiet: Duration,
    },
    /// At most one run per `window`: the first at once, and what follows within the window becomes one run at its end,
    /// with the canonically newest event and the state as it is when it starts.
    ///
    /// Runs are merged by the subscriber's dedup id, which is the projection's key unless it says otherwise.
    Throttle {
        /// How long one run stands for what comes; what comes in it does not make it longer.
        window: Duration,
    },
}

impl Dispatch {
    /// One run for each event, at once.
    #[must_use]
    pub const fn each() -> Self {
        Self::Each {
            delay: Duration::ZERO,
        }
    }

    /// One run for each event, `delay` after the row was stored.
    #[must_use]
    pub const fn delayed(delay: Duration) -> Self {
        Self::Each { delay }
    }

    /// One run when nothing has happened for `quiet`.
    #[must_use]
    pub const fn debounce(quiet: Duration) -> Self {
        Self::Debounce { quiet }
    }

    /// One run at once, then at most one per `window`.
    #[must_use]
    pub const fn throttle(window: Duration) -> Self {
        Self::Throttle { window }
    }

    /// Whether one run may stand for many events.
    #[must_use]
    pub const fn merges(&self) -> bool {
        matches!(self, Self::Debounce { .. } | Self::Throttle { .. })
    }
}
