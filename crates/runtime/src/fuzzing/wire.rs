//! What stores hand back: headers, bodies, answers and the notes beside a state.
use super::upcast::Newest;
use crate::{
    fold::{BaseNotes, Ledger, Membership},
    wire::{
        BodyError, CommandAnswer, CommandBody, Header, MAX_BODY_BYTES, WireError, Wish, decode_event,
        encode_event, pack_body, unpack_body,
    },
};
use bytes::Bytes;
use foldwright_domain::{EventId, Identity, Millis, Position};
use std::fmt::Debug;

/// A format behind a version byte of which this build reads up to `newest`.
///
/// A value decodes again from what is written of it, which is no longer than what was read: nothing in it is made of a
/// claim. What is missing, foreign, newer or malformed is told apart by the first byte alone.
fn versioned<T: PartialEq + Debug>(
    bytes: &[u8],
    newest: u8,
    decode: impl Fn(&[u8]) -> Result<T, WireError>,
    encode: impl Fn(&T) -> Vec<u8>,
) -> Option<T> {
    match decode(bytes) {
        Ok(value) => {
            assert!(
                bytes
                    .first()
                    .is_some_and(|version| (1..=newest).contains(version)),
                "a value of no known version"
            );
            let written = encode(&value);
            assert!(written.len() <= bytes.len(), "more is in the value than was read");
            match decode(&written) {
                Ok(again) => assert_eq!(again, value, "it means something else when it comes again"),
                Err(error) => panic!("what was written does not decode: {error}"),
            }
            Some(value)
        }
        Err(error) => {
            let as_expected = match (bytes.first(), &error) {
                (None, WireError::Missing { .. }) | (Some(0), WireError::Foreign { .. }) => true,
                (
                    Some(found),
                    WireError::Newer {
                        version,
                        newest: known,
                        ..
                    },
                ) => found == version && *found > newest && *known == newest,
                (Some(found), WireError::Malformed { .. }) => (1..=newest).contains(found),
                _ => false,
            };
            assert!(as_expected, "{:?} is called: {error}", bytes.first());
            None
        }
    }
}

/// The header of a job.
pub fn header(bytes: &[u8]) {
    match bytes {
        [b'F', b'W', rest @ ..] => {
            let decode = |rest: &[u8]| Header::decode(&[b"FW", rest].concat());
            let encode = |header: &Header| header.encode(1).split_off(2);
            if let Some(header) = versioned(rest, 1, decode, encode) {
                assert_eq!(header.stream().tenant, header.tenant);
            }
        }
        [] => assert!(matches!(Header::decode(bytes), Err(WireError::Missing { .. }))),
        _ => assert!(matches!(Header::decode(bytes), Err(WireError::Foreign { .. }))),
    }
}

/// An event with its envelope.
pub fn event(bytes: &[u8]) {
    versioned(bytes, 1, decode_event, |event| encode_event(event).into());
}

/// An accepted command.
pub fn command(bytes: &[u8]) {
    versioned(bytes, 1, CommandBody::decode, |command| command.encode().into());
}

/// The answer of a command.
pub fn answer(bytes: &[u8]) {
    versioned(bytes, 2, CommandAnswer::decode, |answer| answer.encode().into());
}

/// What a sender wants beside its command.
pub fn wish(bytes: &[u8]) {
    versioned(bytes, 1, Wish::decode, |wish| wish.encode().into());
}

/// The notes at the horizon.
pub fn base(bytes: &[u8]) {
    let notes = versioned(bytes, 1, BaseNotes::decode, |notes| notes.encode().into());
    for stored in notes.into_iter().flat_map(|notes| notes.tail) {
        event(&stored);
    }
}

/// The notes beside a state. Whatever they say, what is in them is never surely absent, and one more event goes in.
pub fn ledger(bytes: &[u8]) {
    let Some(mut ledger) = versioned(bytes, 2, Ledger::decode, |ledger| ledger.encode().into()) else {
        return;
    };
    let index = ledger.applied.index();
    for identity in ledger.applied.exact() {
        assert_eq!(index.contains(identity), Membership::Yes);
    }
    for n in 0..2 {
        let identity = Identity::of_id(EventId::from_u128(n));
        ledger.applied.insert(identity);
        assert_eq!(ledger.applied.index().contains(&identity), Membership::Yes);
    }
    for job in &ledger.pending {
        event(&job.event);
    }
    let last = Position {
        occurred_at: Millis(i64::MAX),
        id: EventId::from_u128(u128::MAX),
    };
    let opened = ledger
        .window
        .as_ref()
        .and_then(|window| window.open::<Newest>(last));
    if let Some(opened) = opened {
        let closed = opened.close();
        assert!(
            closed.is_some_and(|closed| closed.open::<Newest>(last).is_some()),
            "a window that was opened and closed does not open"
        );
    }
}

/// A stored body, compressed or not, and the same bytes as a body that is to be stored.
pub fn body(bytes: &[u8]) {
    match unpack_body(Bytes::copy_from_slice(bytes)) {
        Ok(raw) => {
            assert!(raw.len() <= MAX_BODY_BYTES, "a body over the limit");
            comes_back(&raw);
        }
        Err(BodyError::Wire(error)) => {
            let as_expected = match (bytes.first(), &error) {
                (None, WireError::Missing { .. })
                | (Some(0), WireError::Foreign { .. })
                | (Some(1 | 2), WireError::Inflate { .. }) => true,
                (
                    Some(found),
                    WireError::Newer {
                        version, newest: 2, ..
                    },
                ) => found == version && *found > 2,
                _ => false,
            };
            assert!(as_expected, "{:?} is called: {error}", bytes.first());
        }
        Err(error) => panic!("nothing but the bytes can be wrong: {error}"),
    }
    comes_back(&Bytes::copy_from_slice(bytes));
}

fn comes_back(raw: &Bytes) {
    match pack_body(raw).map(unpack_body) {
        Ok(Ok(again)) => assert_eq!(again, *raw, "a body came back as another"),
        Ok(Err(error)) => panic!("a body does not come back: {error}"),
        Err(error) => panic!("a body within the limit is refused: {error}"),
    }
}
