//! The numbers of a queue.
use crate::{BreakerSettings, Ladder, QueueBounds};
use std::time::Duration;

/// Settings that every adapter of the group queue takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct QueueSettings {
    /// The waits between attempts.
    pub ladder: Ladder,
    /// Scores are clamped to the store's clock minus this; default 24 h.
    pub score_past: Duration,
    /// Scores are clamped to the store's clock plus this; default 5 min.
    pub score_future: Duration,
    /// How long a nonce's answer is kept; default 10 min.
    pub nonce_ttl: Duration,
    /// How long a command's answer is kept for its receipt; default 60 s.
    pub answer_ttl: Duration,
    /// How many failed attempts of a group in a row, whatever job they are at, quarantine it; default 500, 0 never.
    pub streak: u32,
    /// How many confirmed deaths of its workers quarantine a group; default 3, 0 never.
    pub deaths: u32,
    /// When many failures are an outage.
    pub breaker: BreakerSettings,
    /// How much the queue holds before it refuses senders.
    pub bounds: QueueBounds,
}

impl Default for QueueSettings {
    fn default() -> Self {
        Self {
            ladder: Ladder::default(),
            score_past: Duration::from_secs(24 * 60 * 60),
            score_future: Duration::from_secs(5 * 60),
            nonce_ttl: Duration::from_secs(10 * 60),
            answer_ttl: Duration::from_secs(60),
            streak: 500,
            deaths: 3,
            breaker: BreakerSettings::default(),
            bounds: QueueBounds::default(),
        }
    }
}
