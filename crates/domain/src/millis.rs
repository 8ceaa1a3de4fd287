//! Time as a value.
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Milliseconds since 1970-01-01T00:00:00Z. May be negative.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Millis(pub i64);

impl Millis {
    /// This instant moved later; stops at the end of time instead of wrapping.
    #[must_use]
    pub fn plus(self, duration: Duration) -> Self {
        Self(self.0.saturating_add(to_millis(duration)))
    }

    /// This instant moved earlier; stops at the beginning of time instead of wrapping.
    #[must_use]
    pub fn minus(self, duration: Duration) -> Self {
        Self(self.0.saturating_sub(to_millis(duration)))
    }

    /// How long after `earlier` this is; zero when it is not after it.
    #[must_use]
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_millis(u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(0))
    }
}

fn to_millis(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arithmetic_saturates() {
        assert_eq!(Millis(5).plus(Duration::from_millis(7)), Millis(12));
        assert_eq!(Millis(i64::MAX).plus(Duration::MAX), Millis(i64::MAX));
        assert_eq!(Millis(i64::MIN).minus(Duration::MAX), Millis(i64::MIN));
        assert_eq!(Millis(12).since(Millis(5)), Duration::from_millis(7));
        assert_eq!(Millis(5).since(Millis(12)), Duration::ZERO);
        assert_eq!(
            Millis(i64::MAX).since(Millis(i64::MIN)),
            Duration::from_millis(i64::MAX as u64)
        );
    }
}
