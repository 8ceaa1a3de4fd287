//! How long a failed job waits.
use std::time::Duration;

/// The waits between attempts: `base × 2ⁿ`, capped, each within ±10 %, up to a number of attempts.
///
/// The defaults, 500 ms doubling to 600 s over 25 attempts, last about 2 h 27 min: long enough for a rolling restart
/// of a database cluster.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ladder {
    /// The first wait.
    pub base: Duration,
    /// The longest wait.
    pub cap: Duration,
    /// How many attempts there are in all; the last failure quarantines the group. At least 1.
    pub attempts: u32,
}

impl Default for Ladder {
    fn default() -> Self {
        Self {
            base: Duration::from_millis(500),
            cap: Duration::from_secs(600),
            attempts: 25,
        }
    }
}

impl Ladder {
    /// The wait after failure number `failures` (from 1); `None` when no attempt is left.
    ///
    /// `salt` spreads the waits of different jobs, and is the only jitter: the same job waits the same time.
    #[must_use]
    pub fn wait(&self, failures: u32, floor: Option<Duration>, salt: u64) -> Option<Duration> {
        if failures >= self.attempts {
            return None;
        }
        let doubled = 1_u32.checked_shl(failures.saturating_sub(1)).unwrap_or(u32::MAX);
        let plain = self.base.saturating_mul(doubled).min(self.cap);
        let mixed = (salt ^ u64::from(failures)).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
        let per_mille = 900 + u32::try_from(mixed % 201).unwrap_or(100);
        let spread = plain / 1_000 * per_mille;
        Some(floor.map_or(spread, |f| f.max(spread)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    ///
    #[test]
    fn the_whole_ladder_takes_about_two_hours_and_a_half() {
        let ladder = Ladder::default();
        let waits: Vec<_> = (1..25).map(|n| ladder.wait(n, None, 7).unwrap()).collect();
        for (n, wait) in waits.iter().enumerate() {
            let exact = Duration::from_millis(500)
                .saturating_mul(1 << n.min(20))
                .min(Duration::from_secs(600));
            assert!(
                *wait >= exact * 9 / 10 && *wait <= exact * 11 / 10,
                "{n}: {wait:?}"
            );
        }
        assert_eq!(ladder.wait(25, None, 7), None);
        let total: Duration = waits.iter().sum();
        assert!(
            total > Duration::from_secs(132 * 60) && total < Duration::from_secs(162 * 60),
            "{total:?}"
        );
    }

    proptest! {
        ///
        #[test]
        fn waits_stay_within_a_tenth_and_above_the_floor(n in 1_u32..25, salt: u64, floor in 0_u64..2_000_000) {
            let ladder = Ladder::default();
            let plain = ladder.wait(n, None, salt).unwrap();
            let exact = Duration::from_millis(500).saturating_mul(1 << (n - 1).min(20)).min(ladder.cap);
            prop_assert!(plain >= exact * 9 / 10 && plain <= exact * 11 / 10);
            let floor = Duration::from_millis(floor);
            prop_assert_eq!(ladder.wait(n, Some(floor), salt).unwrap(), plain.max(floor));
        }
    }
}
