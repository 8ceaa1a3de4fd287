//! Choices from a seed.

/// A source of choices for generators of events: the same seed makes the same choices on every machine (SplitMix64).
#[derive(Clone, Debug)]
pub struct Seeded(u64);

impl Seeded {
    /// The choices of this seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Any number.
    pub fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `bound`; 0 when `bound` is 0.
    pub fn below(&mut self, bound: u64) -> u64 {
        self.number().checked_rem(bound).unwrap_or(0)
    }

    /// Whether one of so many equal chances came true.
    pub fn one_in(&mut self, chances: u64) -> bool {
        self.below(chances) == 0
    }

    /// One of them, as a copy.
    ///
    /// # Panics
    /// When there is none.
    #[track_caller]
    pub fn pick<T: Clone>(&mut self, from: &[T]) -> T {
        let Some(one) = from.get(self.index(from.len())) else {
            panic!("there is nothing to pick from");
        };
        one.clone()
    }

    /// Puts them into another order.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            let other = self.index(last + 1);
            items.swap(last, other);
        }
    }

    /// An index below `len`; 0 when `len` is 0.
    pub(crate) fn index(&mut self, len: usize) -> usize {
        usize::try_from(self.below(len as u64)).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_is_a_sequence() {
        let draw = |seed| {
            let mut seeded = Seeded::new(seed);
            (0..4).map(|_| seeded.number()).collect::<Vec<_>>()
        };
        assert_eq!(draw(7), draw(7));
        assert_ne!(draw(7), draw(8));
        // Printed seeds must mean the same for ever.
        assert_eq!(Seeded::new(0).number(), 0xe220_a839_7b1d_cdaf);
    }

    #[test]
    fn a_shuffle_loses_nothing() {
        let mut items: Vec<_> = (0..50).collect();
        Seeded::new(3).shuffle(&mut items);
        assert_ne!(items, (0..50).collect::<Vec<_>>());
        items.sort_unstable();
        assert_eq!(items, (0..50).collect::<Vec<_>>());
    }
}
