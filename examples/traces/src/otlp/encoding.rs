use super::decode::{Decoded, decode_json_request, decode_protobuf_request};
use super::error::DecodeError;
use super::weight;

/// The two encodings of OTLP.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Encoding {
    /// OTLP/JSON.
    Json,
    /// Protobuf.
    Protobuf,
}

impl Encoding {
    /// The encoding that a `Content-Type` names; parameters such as `charset` do not count.
    #[must_use]
    pub fn of_content_type(value: &str) -> Option<Self> {
        let essence = value.split(';').next().unwrap_or_default().trim();
        if essence.eq_ignore_ascii_case("application/json") {
            Some(Self::Json)
        } else if essence.eq_ignore_ascii_case("application/x-protobuf") {
            Some(Self::Protobuf)
        } else {
            None
        }
    }

    /// The `Content-Type` of an answer.
    #[must_use]
    pub const fn content_type(self) -> &'static str {
        match self {
            Self::Json => "application/json",
            Self::Protobuf => "application/x-protobuf",
        }
    }

    /// How many bytes of memory [`decode`](Self::decode) takes for this body at most, found without decoding it: a
    /// hostile body holds millions of empty messages, each a few bytes long and a few hundred once it is decoded.
    #[must_use]
    pub fn weigh(self, body: &[u8]) -> usize {
        match self {
            Self::Json => weight::of_json(body),
            Self::Protobuf => weight::of_protobuf(body),
        }
    }

    /// Reads one request and sets faulty spans apart. An empty body is an empty request in both encodings.
    ///
    /// # Errors
    ///
    /// The bytes are no request at all.
    pub fn decode(self, body: &[u8]) -> Result<Decoded, DecodeError> {
        match self {
            _ if body.is_empty() => Ok(Decoded::default()),
            Self::Json => decode_json_request(body),
            Self::Protobuf => decode_protobuf_request(body),
        }
    }
}
