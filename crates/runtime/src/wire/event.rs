//! The body of a job that brings an event.
use super::WireError;
use bytes::Bytes;
use foldwright_domain::RawEvent;

const VERSION: u8 = 1;

/// The stored form of an event with its envelope.
pub(crate) fn encode_event(event: &RawEvent) -> Bytes {
    super::encode(VERSION, event).into()
}

/// Reads a stored event of any version.
pub(crate) fn decode_event(bytes: &[u8]) -> Result<RawEvent, WireError> {
    super::decode("event", VERSION, bytes)
}
