//! Making command ids.
use crate::{CommandId, Millis, ids::INDEX_BITS};

/// Makes strictly increasing command ids from time and randomness that are handed in.
///
/// Layout, from the top: 48 bits of milliseconds, version 7, a 36-bit counter around the two variant bits, 26 bits
/// of randomness, 12 zero bits for the events' index. The counter starts at a random place in its lower half in each
/// new millisecond, so that two processes do not meet, and 2^35 ids fit into one millisecond. A clock that steps
/// back is ignored until it has caught up.
#[derive(Debug, Default)]
pub struct CommandIds {
    millis: u64,
    counter: u64,
}

const COUNTER_BITS: u32 = 36;
const NOISE_BITS: u32 = 26;

impl CommandIds {
    /// The next id. `random` needs to be fresh for each call: 35 bits seed the counter and 26 fill the id.
    pub fn next(&mut self, now: Millis, random: u64) -> CommandId {
        let now = u64::try_from(now.0).unwrap_or(0) & 0xffff_ffff_ffff;
        if now > self.millis {
            self.millis = now;
            self.counter = random >> (64 - (COUNTER_BITS - 1));
        } else {
            self.counter += 1;
            if self.counter >> COUNTER_BITS != 0 {
                self.millis += 1;
                self.counter = 0;
            }
        }
        let (high, low) = (
            u128::from(self.counter >> 24),
            u128::from(self.counter & 0xff_ffff),
        );
        let noise = u128::from(random & ((1 << NOISE_BITS) - 1));
        let bits = u128::from(self.millis) << 80
            | 0x7 << 76
            | high << 64
            | 0b10 << 62
            | low << (NOISE_BITS + INDEX_BITS)
            | noise << INDEX_BITS;
        CommandId::from_u128(bits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// C-19
    #[test]
    fn a_hundred_thousand_ids_in_one_millisecond_increase_strictly() {
        let mut ids = CommandIds::default();
        let mut last = ids.next(Millis(1_764_500_000_000), u64::MAX);
        for n in 0..100_000_u64 {
            let next = ids.next(Millis(1_764_500_000_000), n.wrapping_mul(0x9e37_79b9_7f4a_7c15));
            assert!(next > last);
            last = next;
        }
    }

    proptest! {
        /// C-19
        #[test]
        fn ids_increase_whatever_the_clock_does(steps in prop::collection::vec((any::<i64>(), any::<u64>()), 2..200)) {
            let mut ids = CommandIds::default();
            let made: Vec<_> = steps.iter().map(|(now, random)| ids.next(Millis(*now), *random)).collect();
            for pair in made.windows(2) {
                prop_assert!(pair[0] < pair[1]);
            }
        }

        #[test]
        fn ids_are_uuids_of_version_seven(now in 0..1_i64 << 47, random: u64) {
            let id = CommandIds::default().next(Millis(now), random).as_u128();
            prop_assert_eq!(id >> 76 & 0xf, 7);
            prop_assert_eq!(id >> 62 & 0b11, 0b10);
            prop_assert_eq!(id & 0xfff, 0);
            if now > 0 {
                prop_assert_eq!(i64::try_from(id >> 80).unwrap(), now);
            }
        }
    }
}
