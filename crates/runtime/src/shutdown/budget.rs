//! How long each step of a stop may take.
use std::time::Duration;

/// Clocks of a stop, each within the one outside it: a phase within the stop, the stop within what the process manager
/// waits before it kills.
///
/// The drain is what one chooses; every outer clock follows from it and is longer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ShutdownBudget {
    drain: Duration,
    phase: Duration,
}

/// An outer clock that would end a stop before the stop ends itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "{what} is {given:?}, a drain of {drain:?} needs at least {needed:?}: raise it, or shorten the drain"
)]
pub struct TooShort {
    /// Which clock.
    pub what: &'static str,
    /// What it was set to.
    pub given: Duration,
    /// What it has to be.
    pub needed: Duration,
    /// The drain it has to hold.
    pub drain: Duration,
}

/// How long each phase behind the drain may take.
const PHASE: Duration = Duration::from_secs(3);
/// So many such phases have room in a stop.
const PHASES: u32 = 4;
/// What a process needs beyond its stop to come down.
const EXIT: Duration = Duration::from_secs(3);

/// In production: 25 s of drain.
impl Default for ShutdownBudget {
    fn default() -> Self {
        Self::new(Duration::from_secs(25))
    }
}

impl ShutdownBudget {
    /// A budget whose drain takes at most `drain`.
    #[must_use]
    pub const fn new(drain: Duration) -> Self {
        Self { drain, phase: PHASE }
    }

    /// For development: 5 s of drain.
    #[must_use]
    pub const fn development() -> Self {
        Self::new(Duration::from_secs(5))
    }

    /// How long what has begun may go on.
    #[must_use]
    pub const fn drain(&self) -> Duration {
        self.drain
    }

    /// How long each phase behind the drain may take; 3 s.
    #[must_use]
    pub const fn phase(&self) -> Duration {
        self.phase
    }

    /// When the whole stop is over, counted from its beginning; after that it is given up.
    #[must_use]
    pub fn total(&self) -> Duration {
        self.drain.saturating_add(self.phase * PHASES)
    }

    /// What the process manager has to wait before it kills, for example `terminationGracePeriodSeconds`.
    #[must_use]
    pub fn grace(&self) -> Duration {
        self.total().saturating_add(EXIT)
    }

    /// The same budget, if `outer` (what the process manager waits before it kills) leaves room for it. To be asked at
    /// start, so that a clock that is too short is found then and not in the middle of a stop.
    ///
    /// # Errors
    /// [`TooShort`] when it does not.
    pub fn within(self, outer: Duration) -> Result<Self, TooShort> {
        if outer < self.grace() {
            return Err(TooShort {
                what: "the grace period",
                given: outer,
                needed: self.grace(),
                drain: self.drain,
            });
        }
        Ok(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// H-03
    #[test]
    fn every_outer_clock_follows_from_the_drain_and_is_longer() {
        for budget in [
            ShutdownBudget::default(),
            ShutdownBudget::development(),
            ShutdownBudget::new(Duration::ZERO),
        ] {
            assert!(budget.drain() < budget.total() && budget.total() < budget.grace());
            assert_eq!(budget.within(budget.grace()), Ok(budget));
            let short = budget.grace().saturating_sub(Duration::from_millis(1));
            let refused = budget.within(short).unwrap_err();
            assert_eq!((refused.given, refused.needed), (short, budget.grace()));
        }
        assert_eq!(ShutdownBudget::default().drain(), Duration::from_secs(25));
        assert_eq!(ShutdownBudget::development().drain(), Duration::from_secs(5));
        assert_eq!(
            ShutdownBudget::default()
                .within(Duration::from_secs(30))
                .unwrap_err()
                .to_string(),
            "the grace period is 30s, a drain of 25s needs at least 40s: raise it, or shorten the drain"
        );
    }
}
