//! Bytes to store and back.
use super::WireError;
use bytes::Bytes;
use flate2::{Compression, bufread::DeflateDecoder, write::DeflateEncoder};
use std::io::{Read, Write};

/// The largest raw body: 50 MiB. Larger ones are refused before anything is compressed or stored.
pub(crate) const MAX_BODY_BYTES: usize = 50 << 20;

/// From this raw size on a body is compressed, if that makes it smaller: below it the gain is less than the work.
pub(crate) const COMPRESS_FROM_BYTES: usize = 1 << 10;

/// How the bytes of a body are stored.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Encoding {
    /// As they are.
    Plain,
    /// Raw DEFLATE.
    Deflate,
}

/// The body is larger than a body may be.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "a body has at most {limit} bytes, this one has {bytes}: send less, or keep the bulk elsewhere and send a reference"
)]
pub struct TooLarge {
    /// Its raw size.
    pub bytes: usize,
    /// The largest raw size.
    pub limit: usize,
}

/// The stored form of raw bytes.
pub(crate) fn pack(raw: &Bytes) -> Result<(Encoding, Bytes), TooLarge> {
    if raw.len() > MAX_BODY_BYTES {
        return Err(TooLarge {
            bytes: raw.len(),
            limit: MAX_BODY_BYTES,
        });
    }
    if raw.len() < COMPRESS_FROM_BYTES {
        return Ok((Encoding::Plain, raw.clone()));
    }
    let mut encoder = DeflateEncoder::new(Vec::with_capacity(raw.len() / 2), Compression::fast());
    let packed = encoder.write_all(raw).and_then(|()| encoder.finish());
    match packed {
        Ok(packed) if packed.len() < raw.len() => Ok((Encoding::Deflate, packed.into())),
        // Writing into memory does not fail; storing it plain is right in any case.
        Ok(_) | Err(_) => Ok((Encoding::Plain, raw.clone())),
    }
}

/// The raw bytes of a stored body. Never trusts a claimed length: it stops one byte past the limit.
pub(crate) fn unpack(encoding: Encoding, stored: Bytes) -> Result<Bytes, WireError> {
    let limit = MAX_BODY_BYTES;
    match encoding {
        Encoding::Plain if stored.len() > limit => Err(WireError::Inflate { limit }),
        Encoding::Plain => Ok(stored),
        Encoding::Deflate => {
            let mut raw = Vec::new();
            let read = DeflateDecoder::new(stored.as_ref())
                .take(limit as u64 + 1)
                .read_to_end(&mut raw);
            match read {
                Ok(bytes) if bytes <= limit => Ok(raw.into()),
                Ok(_) | Err(_) => Err(WireError::Inflate { limit }),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// B-02
    #[test]
    fn compression_starts_at_a_kibibyte_and_only_when_smaller() {
        let below = Bytes::from(vec![b'a'; 1_023]);
        assert_eq!(pack(&below).unwrap(), (Encoding::Plain, below));
        let (encoding, packed) = pack(&Bytes::from(vec![b'a'; 1_024])).unwrap();
        assert_eq!(encoding, Encoding::Deflate);
        assert!(packed.len() < 100);
        let mut noise = 1_u64;
        let random: Bytes = (0..4_096)
            .map(|_| {
                noise = noise.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                (noise >> 56) as u8
            })
            .collect();
        assert_eq!(pack(&random).unwrap().0, Encoding::Plain);
    }

    /// B-04
    #[test]
    fn fifty_mebibytes_are_the_limit() {
        assert!(pack(&Bytes::from(vec![0; MAX_BODY_BYTES])).is_ok());
        assert_eq!(
            pack(&Bytes::from(vec![0; MAX_BODY_BYTES + 1])),
            Err(TooLarge {
                bytes: MAX_BODY_BYTES + 1,
                limit: MAX_BODY_BYTES
            })
        );
    }

    /// B-23
    #[test]
    fn inflating_stops_at_the_limit() {
        let mut encoder = DeflateEncoder::new(Vec::new(), Compression::best());
        let zeros = vec![0; 1 << 20];
        for _ in 0..51 {
            encoder.write_all(&zeros).unwrap();
        }
        let bomb = Bytes::from(encoder.finish().unwrap());
        assert!(bomb.len() < 100_000);
        assert!(matches!(
            unpack(Encoding::Deflate, bomb),
            Err(WireError::Inflate { .. })
        ));
    }

    proptest! {
        /// B-02
        #[test]
        fn every_body_comes_back(raw in prop::collection::vec(any::<u8>(), 0..6_000)) {
            let raw = Bytes::from(raw);
            let (encoding, stored) = pack(&raw).unwrap();
            prop_assert_eq!(unpack(encoding, stored).unwrap(), raw);
        }

        /// B-23
        #[test]
        fn garbage_does_not_inflate_to_a_panic(bytes in prop::collection::vec(any::<u8>(), 0..256)) {
            let _ = unpack(Encoding::Deflate, bytes.into());
        }
    }
}
