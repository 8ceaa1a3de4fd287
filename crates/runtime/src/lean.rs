//! What projections see of an event. Whatever decodes events for folds, maps or subscribers does it here, so that an event
//! from a job and the same event from the log are seen alike.
use crate::{catch::caught, wire::encode_event};
use bytes::Bytes;
use foldwright_domain::{DecodeError, EventSet, RawEvent, Recorded};

/// The event as projections see it: thinned. The outer error is what a panic of users' code said; such an event cannot be
/// read, like one that does not decode.
pub(crate) fn seen<E: EventSet>(raw: &RawEvent) -> Result<Result<E, DecodeError>, String> {
    caught(|| E::decode_lean(&raw.meta.event_type, &raw.meta.version, &raw.data))
}

/// The stored form that a job of the event carries. Where thinning panics it is the whole event: at reading that shows, in
/// the group that it concerns, and the command is not held up.
pub(crate) fn carried<E: EventSet>(raw: &RawEvent) -> Bytes {
    let thinned = caught(|| E::thinned(&raw.meta.event_type, &raw.meta.version, &raw.data));
    match thinned.unwrap_or_else(|message| {
        tracing::warn!(event = %raw.meta.id, %message, "thinning an event panicked, its jobs carry the whole");
        None
    }) {
        Some(data) => encode_event(&Recorded {
            meta: raw.meta.clone(),
            data: data.into(),
        }),
        None => encode_event(raw),
    }
}
