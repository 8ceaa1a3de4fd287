//! What makes two events the same fact.
use crate::{EventId, StreamKey};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// 128 bits that name a fact: a length-framed hash of tenant, aggregate, command name, index and idempotency key
/// where the command has such a key, else of the event's id.
///
/// A log is a set keyed by identity: the first accepted event wins.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Identity(pub [u8; 16]);

impl Identity {
    /// The identity of event `index` of a command that carries an idempotency key.
    #[must_use]
    pub fn keyed(stream: &StreamKey, command: &str, index: usize, idempotency_key: &str) -> Self {
        let index = (index as u64).to_be_bytes();
        Self::hash(
            b"key",
            &[
                stream.tenant.as_str().as_bytes(),
                stream.aggregate_type.as_bytes(),
                stream.id.as_str().as_bytes(),
                command.as_bytes(),
                &index,
                idempotency_key.as_bytes(),
            ],
        )
    }

    /// The identity of an event whose command carries no idempotency key: it is the same fact only as itself.
    #[must_use]
    pub fn of_id(id: EventId) -> Self {
        Self::hash(b"id", &[&id.as_u128().to_be_bytes()])
    }

    /// Each part is preceded by its length, so that no two lists of parts give one input.
    fn hash(kind: &[u8], parts: &[&[u8]]) -> Self {
        let mut hasher = Sha256::new();
        for part in std::iter::once(&kind).chain(parts) {
            hasher.update((part.len() as u64).to_be_bytes());
            hasher.update(part);
        }
        let mut out = [0; 16];
        for (to, from) in out.iter_mut().zip(hasher.finalize()) {
            *to = from;
        }
        Self(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{AggregateId, TenantId};

    fn stream(tenant: &str, id: &str) -> StreamKey {
        StreamKey {
            tenant: TenantId::parse(tenant).unwrap(),
            aggregate_type: "run".into(),
            id: AggregateId::parse(id).unwrap(),
        }
    }

    /// L-04
    #[test]
    fn every_part_counts() {
        let base = Identity::keyed(&stream("a", "1"), "start", 0, "k");
        assert_eq!(base, Identity::keyed(&stream("a", "1"), "start", 0, "k"));
        for other in [
            Identity::keyed(&stream("b", "1"), "start", 0, "k"),
            Identity::keyed(&stream("a", "2"), "start", 0, "k"),
            Identity::keyed(&stream("a", "1"), "stop", 0, "k"),
            Identity::keyed(&stream("a", "1"), "start", 1, "k"),
            Identity::keyed(&stream("a", "1"), "start", 0, "k2"),
        ] {
            assert_ne!(base, other);
        }
    }

    #[test]
    fn parts_cannot_run_into_each_other() {
        let left = Identity::keyed(&stream("a", "1s"), "tart", 0, "k");
        let right = Identity::keyed(&stream("a", "1"), "start", 0, "k");
        assert_ne!(left, right);
    }

    /// The identity is a stored format: it must never change.
    #[test]
    fn the_hash_is_pinned() {
        let Identity(keyed) = Identity::keyed(&stream("acme", "r-1"), "start_run", 2, "order-7");
        let Identity(by_id) = Identity::of_id(EventId::from_u128(7));
        let hex = |bytes: [u8; 16]| bytes.iter().map(|b| format!("{b:02x}")).collect::<String>();
        assert_eq!(hex(keyed), "b76add8195d7b309ba5341eb94576383");
        assert_eq!(hex(by_id), "0fbaf9e86177decf8d91eeeb3a76497a");
    }
}
