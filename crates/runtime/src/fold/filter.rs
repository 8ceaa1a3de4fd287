//! Remembering many identities in little space.
use foldwright_domain::Identity;
use serde::{Deserialize, Serialize};

/// A set without false negatives that grows in layers: absent is surely absent, present is likely.
///
/// 32 bits and 22 probes per identity give about two false positives in ten million, so that a fold with a long
/// history is almost never refolded for nothing.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Filter {
    layers: Vec<Layer>,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
struct Layer {
    capacity: u32,
    held: u32,
    #[serde(with = "bytes_of")]
    bits: Vec<u8>,
}

/// The first layer holds this many identities (32 KiB); each further one twice as many.
const FIRST_LAYER: u32 = 8_192;
/// Layers stop doubling here: 262,144 identities (1 MiB).
const LARGEST_LAYER: u32 = 1 << 18;
/// All layers together hold at most this many identities: 16 MiB. Beyond it every identity is likely present.
pub(crate) const MAX_IDENTITIES: u32 = 1 << 22;
const BYTES_PER_IDENTITY: usize = 4;
const PROBES: u64 = 22;

impl Filter {
    /// Whether `identity` may have been inserted; `false` is certain.
    pub(crate) fn may_contain(&self, identity: &Identity) -> bool {
        self.is_full() || self.layers.iter().any(|layer| layer.contains(identity))
    }

    /// Remembers `identity`. Does nothing when the filter is full, because then everything counts as present.
    pub(crate) fn insert(&mut self, identity: &Identity) {
        if self.is_full() {
            return;
        }
        let next = match self.layers.last() {
            None => Some(FIRST_LAYER),
            Some(last) if last.held >= last.capacity => {
                Some(last.capacity.saturating_mul(2).min(LARGEST_LAYER))
            }
            Some(_) => None,
        };
        if let Some(capacity) = next {
            let bits = vec![0; capacity as usize * BYTES_PER_IDENTITY];
            self.layers.push(Layer {
                capacity,
                held: 0,
                bits,
            });
        }
        if let Some(layer) = self.layers.last_mut() {
            layer.insert(identity);
        }
    }

    fn is_full(&self) -> bool {
        self.layers
            .iter()
            .fold(0, |held: u32, layer| held.saturating_add(layer.held))
            >= MAX_IDENTITIES
    }
}

impl Layer {
    fn contains(&self, identity: &Identity) -> bool {
        self.probes(identity)
            .all(|(byte, mask)| self.bits.get(byte).is_none_or(|b| b & mask != 0))
    }

    fn insert(&mut self, identity: &Identity) {
        for (byte, mask) in self.probes(identity).collect::<Vec<_>>() {
            if let Some(b) = self.bits.get_mut(byte) {
                *b |= mask;
            }
        }
        self.held = self.held.saturating_add(1);
    }

    /// Double hashing over the identity itself, which is a hash already.
    fn probes(&self, identity: &Identity) -> impl Iterator<Item = (usize, u8)> + use<> {
        let (first, second) = halves(identity);
        let bits = (self.bits.len() as u64 * 8).max(1);
        (0..PROBES).map(move |n| {
            let bit = first.wrapping_add(n.wrapping_mul(second | 1)) % bits;
            ((bit / 8) as usize, 1 << (bit % 8))
        })
    }
}

fn halves(Identity(bytes): &Identity) -> (u64, u64) {
    let number = u128::from_be_bytes(*bytes);
    ((number >> 64) as u64, number as u64)
}

/// Writes bits as one byte string instead of a list of numbers.
mod bytes_of {
    use bytes::Bytes;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(super) fn serialize<S: Serializer>(bits: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
        Bytes::copy_from_slice(bits).serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
        Bytes::deserialize(deserializer).map(Into::into)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use foldwright_domain::EventId;

    fn identity(n: u128) -> Identity {
        Identity::of_id(EventId::from_u128(n))
    }

    #[test]
    fn nothing_inserted_is_ever_absent_and_strangers_rarely_are_present() {
        let mut filter = Filter::default();
        for n in 0..40_000 {
            filter.insert(&identity(n));
        }
        assert_eq!(filter.layers.len(), 3);
        assert!((0..40_000).all(|n| filter.may_contain(&identity(n))));
        let strangers = (1_000_000..1_100_000)
            .filter(|n| filter.may_contain(&identity(*n)))
            .count();
        assert!(strangers <= 5, "{strangers} of 100,000 strangers look present");
    }

    /// The probes are a stored format: a filter that was written must answer the same for ever.
    ///
    /// B-22
    #[test]
    fn the_probes_are_pinned() {
        let mut filter = Filter::default();
        filter.insert(&identity(7));
        let bits = &filter.layers[0].bits;
        let set: Vec<usize> = (0..bits.len() * 8)
            .filter(|bit| bits[bit / 8] & (1 << (bit % 8)) != 0)
            .collect();
        assert_eq!(set, PROBES_OF_7);
    }

    /// The bits of identity 7 in a first layer.
    pub(crate) const PROBES_OF_7: [usize; 22] = [
        29125, 29730, 30335, 66747, 67352, 67957, 104369, 104974, 105579, 141386, 141991, 142596, 179008,
        179613, 180218, 216630, 217235, 217840, 253647, 254252, 254857, 255462,
    ];

    /// B-23: a row that a disk error wrote.
    #[test]
    fn counts_beyond_all_bounds_do_not_overflow() {
        let layer = || Layer {
            capacity: u32::MAX,
            held: u32::MAX,
            bits: vec![0; 8],
        };
        let full = Filter {
            layers: vec![layer(), layer()],
        };
        assert!(full.may_contain(&identity(1)));
        let mut odd = Filter {
            layers: vec![Layer {
                held: 0,
                capacity: 0,
                bits: Vec::new(),
            }],
        };
        odd.insert(&identity(1));
        assert!(odd.may_contain(&identity(1)));
    }

    #[test]
    fn a_full_filter_is_never_sure_of_absence() {
        let layer = |held| Layer {
            capacity: held,
            held,
            bits: vec![0; 8],
        };
        let filter = Filter {
            layers: vec![layer(MAX_IDENTITIES)],
        };
        assert!(filter.may_contain(&identity(1)));
        let nearly = Filter {
            layers: vec![layer(MAX_IDENTITIES - 1)],
        };
        assert!(!nearly.may_contain(&identity(1)));
    }
}
