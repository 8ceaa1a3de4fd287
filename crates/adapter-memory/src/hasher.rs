//! A fast hash for tables in memory.
use std::hash::Hasher;

/// Folds eight bytes at a time into 64 bits by multiplying. Its key is fixed, so that the same run allocates the same way;
/// whoever can choose keys at will could make them collide, which costs time in this process's memory and nothing else.
#[derive(Clone)]
pub(crate) struct FoldHasher(u64);

/// Odd, and with bits spread evenly: the golden ratio's and a square root's.
const SEED: u64 = 0x9e37_79b9_7f4a_7c15;
const FACTOR: u64 = 0xb504_f333_f9de_6485;

impl Default for FoldHasher {
    fn default() -> Self {
        Self(SEED)
    }
}

impl FoldHasher {
    fn mix(&mut self, word: u64) {
        let product = u128::from(self.0 ^ word) * u128::from(FACTOR);
        let high = u64::try_from(product >> 64).unwrap_or(0);
        self.0 = (self.0 ^ word).wrapping_mul(FACTOR) ^ high;
    }
}

impl Hasher for FoldHasher {
    fn write(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks::<8>();
        for word in words {
            self.mix(u64::from_le_bytes(*word));
        }
        if !rest.is_empty() {
            let mut last = [0; 8];
            for (to, from) in last.iter_mut().zip(rest) {
                *to = *from;
            }
            self.mix(u64::from_le_bytes(last) ^ (rest.len() as u64) << 56);
        }
    }

    fn write_u8(&mut self, value: u8) {
        self.mix(u64::from(value));
    }

    fn write_u32(&mut self, value: u32) {
        self.mix(u64::from(value));
    }

    fn write_u64(&mut self, value: u64) {
        self.mix(value);
    }

    fn write_usize(&mut self, value: usize) {
        self.mix(value as u64);
    }

    fn finish(&self) -> u64 {
        // Tables take their buckets from the low bits and their tags from the high ones.
        self.0 ^ self.0 >> 32
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{
        collections::BTreeSet,
        hash::{BuildHasher, BuildHasherDefault},
    };

    fn hash<T: std::hash::Hash>(value: T) -> u64 {
        BuildHasherDefault::<FoldHasher>::default().hash_one(value)
    }

    #[test]
    fn keys_that_differ_little_spread_over_buckets_and_tags() {
        for of in [
            |n: u64| hash(n),
            |n: u64| hash(n << 40),
            |n: u64| hash(format!("fold/totals/trace-{n}")),
            |n: u64| hash((7_u32, n.to_be_bytes())),
        ] {
            let buckets: BTreeSet<_> = (0..4_096).map(|n| of(n) % 4_096).collect();
            let tags: BTreeSet<_> = (0..4_096).map(|n| of(n) >> 57).collect();
            assert!(buckets.len() > 2_400, "{} of 4096 buckets", buckets.len());
            assert_eq!(tags.len(), 128);
        }
    }

    #[test]
    fn texts_that_share_a_beginning_differ() {
        let texts = ["", "a", "a\0", "aaaaaaaa", "aaaaaaaaa", "aaaaaaaa\0"];
        let hashes: BTreeSet<_> = texts.iter().map(hash).collect();
        assert_eq!(hashes.len(), texts.len());
        assert_ne!(hash(("ab", "c")), hash(("a", "bc")));
    }
}
