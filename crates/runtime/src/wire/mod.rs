//! What jobs carry. These are formats: every version ever released is read for ever, and golden files say so.
mod answer;
mod bodies;
#[cfg(test)]
mod bodies_test;
mod codec;
mod command;
mod event;
#[cfg(test)]
mod fuzz_test;
#[cfg(test)]
mod golden_test;
mod header;
mod wish;

pub(crate) use answer::CommandAnswer;
pub(crate) use bodies::{Bodies, BodyError, Written};
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) use bodies::{pack as pack_body, unpack as unpack_body};
pub use codec::TooLarge;
pub(crate) use codec::{Encoding, MAX_BODY_BYTES};
pub(crate) use command::CommandBody;
pub(crate) use event::{decode_event, encode_event};
#[cfg(test)]
pub(crate) use golden_test::from_hex;
pub(crate) use header::{BodyInfo, Content, FORMAT, Header, HeaderError, OLDEST, RELEASED, Subject};
pub(crate) use wish::Wish;

/// Why bytes that were stored cannot be read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum WireError {
    /// There are none, or too few to tell what they are.
    #[error("the {what} is missing")]
    Missing {
        /// Which part of the job.
        what: &'static str,
    },
    /// They are not what they should be.
    #[error("the {what} does not begin as one of Foldwright")]
    Foreign {
        /// Which part of the job.
        what: &'static str,
    },
    /// A newer build wrote them.
    #[error("the {what} is of version {version}, this build reads up to {newest}: deploy a newer build")]
    Newer {
        /// Which part of the job.
        what: &'static str,
        /// Its version.
        version: u8,
        /// The newest version this build reads.
        newest: u8,
    },
    /// They begin well and do not decode.
    #[error("the {what} does not decode: {source}")]
    Malformed {
        /// Which part of the job.
        what: &'static str,
        /// What the decoder said.
        source: postcard::Error,
    },
    /// A compressed body is broken, or larger than it may be.
    #[error("the body does not inflate to at most {limit} bytes")]
    Inflate {
        /// The largest raw size.
        limit: usize,
    },
}

/// Writes `value` behind a version byte.
#[expect(
    clippy::expect_used,
    reason = "writing into memory fails only for types that postcard cannot express, and the golden tests write each of ours"
)]
pub(crate) fn encode<T: serde::Serialize>(version: u8, value: &T) -> Vec<u8> {
    postcard::to_extend(value, vec![version]).expect("postcard expresses our own types")
}

/// Reads what [`encode`] wrote, if its version is `version`.
pub(crate) fn decode<'a, T: serde::Deserialize<'a>>(
    what: &'static str,
    version: u8,
    bytes: &'a [u8],
) -> Result<T, WireError> {
    match bytes.split_first() {
        None => Err(WireError::Missing { what }),
        Some((found, rest)) if *found == version => match postcard::take_from_bytes(rest) {
            Ok((value, [])) => Ok(value),
            Ok(_) => Err(WireError::Malformed {
                what,
                source: postcard::Error::DeserializeBadEncoding,
            }),
            Err(source) => Err(WireError::Malformed { what, source }),
        },
        Some((0, _)) => Err(WireError::Foreign { what }),
        Some((found, _)) => Err(WireError::Newer {
            what,
            version: *found,
            newest: version,
        }),
    }
}
