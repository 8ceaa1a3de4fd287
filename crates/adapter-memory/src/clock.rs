//! Time that a test can hold and move.
use foldwright_domain::Millis;
use foldwright_ports::Clock;
use tokio::time::Instant;

/// A clock that goes by the runtime's timer, so that under paused time the kernel's sleeps and the store's clock
/// agree to the millisecond.
#[derive(Clone, Copy, Debug)]
pub struct VirtualClock {
    origin: Millis,
    started: Instant,
}

impl VirtualClock {
    /// A clock that reads `origin` now.
    #[must_use]
    pub fn new(origin: Millis) -> Self {
        Self {
            origin,
            started: Instant::now(),
        }
    }
}

impl Clock for VirtualClock {
    fn now(&self) -> Millis {
        self.origin.plus(self.started.elapsed())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[tokio::test(start_paused = true)]
    async fn a_sleep_moves_the_clock_by_exactly_its_length() {
        let clock = VirtualClock::new(Millis(1_764_500_000_000));
        tokio::time::sleep(Duration::from_millis(1_234)).await;
        assert_eq!(clock.now(), Millis(1_764_500_001_234));
    }
}
