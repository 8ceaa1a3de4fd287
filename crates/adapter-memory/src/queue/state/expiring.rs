//! What is remembered for a while.
use crate::keyed::Keyed;
use foldwright_domain::Millis;
use std::{collections::VecDeque, hash::Hash, time::Duration};

/// Values that are forgotten `ttl` after they were put, or earlier when there are more than `most` of them; the
/// oldest goes first.
pub(super) struct Expiring<K, V> {
    ttl: Duration,
    most: usize,
    rows: Keyed<K, (Millis, V)>,
    order: VecDeque<(Millis, K)>,
}

impl<K: Hash + Eq + Copy, V> Expiring<K, V> {
    pub(super) fn new(ttl: Duration, most: usize) -> Self {
        Self {
            ttl,
            most,
            rows: Keyed::default(),
            order: VecDeque::new(),
        }
    }

    pub(super) fn put(&mut self, now: Millis, key: K, value: V) {
        self.rows.insert(key, (now, value));
        self.order.push_back((now, key));
        while self.rows.len() > self.most {
            self.forget_oldest();
        }
    }

    pub(super) fn get(&self, now: Millis, key: K) -> Option<&V> {
        let (at, value) = self.rows.get(&key)?;
        (now < at.plus(self.ttl)).then_some(value)
    }

    /// Forgets what is past its time. Each value is forgotten once, so the cost was paid when it was put.
    pub(super) fn expire(&mut self, now: Millis) {
        while self.order.front().is_some_and(|(at, _)| at.plus(self.ttl) <= now) {
            self.forget_oldest();
        }
    }

    fn forget_oldest(&mut self) {
        if let Some((at, key)) = self.order.pop_front() {
            // A value that was put again since is the business of its later entry.
            if self.rows.get(&key).is_some_and(|(put, _)| *put == at) {
                self.rows.remove(&key);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn values_live_for_their_time_from_the_last_put() {
        let mut kept = Expiring::new(SECOND, 10);
        kept.put(Millis(0), 1, 'a');
        kept.put(Millis(500), 1, 'b');
        assert_eq!(kept.get(Millis(999), 1), Some(&'b'));
        kept.expire(Millis(1_200));
        assert_eq!(kept.get(Millis(1_200), 1), Some(&'b'));
        assert_eq!(kept.get(Millis(1_500), 1), None);
        kept.expire(Millis(1_500));
        assert_eq!(kept.rows.len(), 0);
    }

    #[test]
    fn the_oldest_makes_room() {
        let mut kept = Expiring::new(SECOND, 2);
        for n in 0..3 {
            kept.put(Millis(n), n, ());
        }
        assert_eq!(
            [0, 1, 2].map(|n| kept.get(Millis(2), n).is_some()),
            [false, true, true]
        );
    }
}
