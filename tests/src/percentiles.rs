//! Percentiles of times.
use std::time::Duration;

/// Times of one kind, in the order in which they were taken.
#[derive(Debug, Default)]
pub struct Times(Vec<Duration>);

impl Times {
    /// Takes one more.
    pub fn add(&mut self, time: Duration) {
        self.0.push(time);
    }

    /// How many there are.
    #[must_use]
    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// The time that so many percent of them do not exceed, in milliseconds with three digits behind the point; 0 where
    /// there are none.
    #[must_use]
    pub fn percentile_ms(&self, percent: f64) -> f64 {
        let mut sorted = self.0.clone();
        sorted.sort_unstable();
        let rank = (percent / 100.0 * sorted.len() as f64).ceil() as usize;
        let time = sorted.get(rank.saturating_sub(1)).copied().unwrap_or_default();
        (time.as_secs_f64() * 1_000_000.0).round() / 1_000.0
    }
}

impl Extend<Duration> for Times {
    fn extend<T: IntoIterator<Item = Duration>>(&mut self, times: T) {
        self.0.extend(times);
    }
}

impl FromIterator<Duration> for Times {
    fn from_iter<T: IntoIterator<Item = Duration>>(times: T) -> Self {
        Self(times.into_iter().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_times_that_were_taken() {
        let times: Times = (1..=100).map(Duration::from_millis).collect();
        // As text: figures are printed, and floats are not compared.
        let printed = [50.0, 99.0, 100.0].map(|percent| times.percentile_ms(percent).to_string());
        assert_eq!(printed, ["50", "99", "100"]);
        assert_eq!(Times::default().percentile_ms(99.0).to_string(), "0");
    }
}
