//! Whatever bytes a store hands back, decoders answer with an error or a value: no panic, no memory for a claim.
use super::{
    CommandAnswer, CommandBody, Content, Header, WireError, Wish, decode_event, encode_event,
    golden_test::{command, event, header, ledger},
};
use crate::{fold::Ledger, fuzzing};
use proptest::prelude::*;

/// Hands bytes to the properties of every format.
fn decode_all(bytes: &[u8]) {
    for property in [
        fuzzing::answer,
        fuzzing::base,
        fuzzing::body,
        fuzzing::command,
        fuzzing::event,
        fuzzing::header,
        fuzzing::ledger,
        fuzzing::wish,
    ] {
        property(bytes);
    }
}

/// One valid encoding of each format.
fn valid() -> Vec<Vec<u8>> {
    let answer = CommandAnswer::Rejected {
        code: "a".into(),
        message: "b".into(),
    };
    vec![
        header(Content::Effect).encode(1),
        encode_event(&event()).into(),
        command().encode().into(),
        answer.encode().into(),
        ledger().encode().into(),
    ]
}

proptest! {
    /// B-23
    #[test]
    fn any_bytes_are_an_error_or_a_value(bytes in prop::collection::vec(any::<u8>(), 0..512)) {
        decode_all(&bytes);
        decode_all(&[b"\x01".as_slice(), &bytes].concat());
        decode_all(&[b"FW\x01".as_slice(), &bytes].concat());
        for tag in [1, 2] {
            fuzzing::body(&[&[tag], bytes.as_slice()].concat());
        }
    }

    /// B-23: valid bytes with a few that are not.
    #[test]
    fn spoilt_bytes_are_an_error_or_a_value(
        which in 0_usize..5,
        spoils in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
        cut in any::<prop::sample::Index>(),
        cuts: bool,
    ) {
        let mut bytes = valid().swap_remove(which);
        for (at, byte) in spoils {
            let at = at.index(bytes.len().min(400));
            bytes[at] = byte;
        }
        if cuts {
            bytes.truncate(cut.index(bytes.len()));
        }
        decode_all(&bytes);
    }
}

/// B-23: a length that nobody has memory for.
#[test]
fn a_claimed_length_is_not_allocated() {
    let terabyte = [0x80, 0x80, 0x80, 0x80, 0x80, 0x40];
    for front in ["\x01", "FW\x01", "\x01\x00", "\x01\x00\x00", "\x01\x00\x00\x00"] {
        for zeros in 0..64 {
            let bytes = [front.as_bytes(), &vec![0; zeros], &terabyte, &[0; 64]].concat();
            decode_all(&bytes);
        }
    }
}

/// B-20
#[test]
fn what_is_wrong_with_bytes_is_told_apart() {
    for (bytes, kind) in [
        (&b""[..], "missing"),
        (b"\x00x", "foreign"),
        (b"\x09x", "newer"),
        (b"\x01\xff", "malformed"),
    ] {
        let errors = [
            decode_event(bytes).unwrap_err(),
            CommandBody::decode(bytes).unwrap_err(),
            CommandAnswer::decode(bytes).unwrap_err(),
            Ledger::decode(bytes).unwrap_err(),
            Wish::decode(bytes).unwrap_err(),
        ];
        for error in errors {
            let found = match error {
                WireError::Missing { .. } => "missing",
                WireError::Foreign { .. } => "foreign",
                WireError::Newer {
                    version: 9,
                    newest: 1 | 2,
                    ..
                } => "newer",
                WireError::Malformed { .. } => "malformed",
                WireError::Newer { .. } | WireError::Inflate { .. } => "something else",
            };
            assert_eq!(found, kind, "{error}");
        }
    }
    for bytes in valid() {
        let longer = [bytes.as_slice(), b"x"].concat();
        let errors = [
            Header::decode(&longer).err(),
            decode_event(&longer).err(),
            CommandBody::decode(&longer).err(),
            CommandAnswer::decode(&longer).err(),
            Ledger::decode(&longer).err(),
        ];
        assert!(
            errors.iter().all(Option::is_some),
            "more bytes than the value has"
        );
    }
}
