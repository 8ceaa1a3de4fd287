//! Encoded columns, and cursors that someone hands in.
use crate::{
    codec,
    error::{Fault, Outcome},
    queue,
};
use foldwright_ports::{Cursor, Kind};
use serde::{Serialize, de::DeserializeOwned};

/// A column of which this build reads up to format `newest`, and writes that.
///
/// A value decodes again from what is written of it; what is no value is corruption, and a format that is newer is
/// called so.
pub(crate) fn column<T: Serialize>(
    bytes: &[u8],
    newest: u8,
    decode: impl Fn(&[u8]) -> Outcome<T>,
    encode: impl Fn(&T) -> Outcome<Vec<u8>>,
) {
    match decode(bytes) {
        Ok(value) => {
            assert!(bytes.first().is_some_and(|format| (1..=newest).contains(format)));
            let written = written(encode(&value));
            if bytes.first() == Some(&newest) {
                assert!(written.len() <= bytes.len(), "more is in the value than was read");
            }
            let again = decode(&written).and_then(|again| encode(&again));
            assert_eq!(
                self::written(again),
                written,
                "it is another value when it comes again"
            );
        }
        Err(fault) => {
            assert_eq!(fault.kind(), Kind::Corrupt);
            let Fault::Port(_, message) = fault else {
                panic!("a fault of the codec is none of SQL");
            };
            let newer = bytes.first().is_some_and(|format| *format > newest);
            assert_eq!(message.contains("upgrade this binary"), newer, "{message}");
        }
    }
}

fn written(encoded: Outcome<Vec<u8>>) -> Vec<u8> {
    match encoded {
        Ok(bytes) => bytes,
        Err(fault) => panic!("what decoded does not encode: {fault:?}"),
    }
}

/// Takes the bytes as each column that is encoded.
pub fn sqlite_column(bytes: &[u8]) {
    queue::fuzzing(bytes);
}

/// Takes the bytes as a cursor of each list: only what this adapter itself writes is one.
pub fn sqlite_cursor(bytes: &[u8]) {
    key::<()>(bytes);
    key::<i64>(bytes);
    key::<(i64, i64)>(bytes);
    key::<(i64, [u8; 16], i64)>(bytes);
    key::<String>(bytes);
    key::<(String, String)>(bytes);
}

fn key<K: Serialize + DeserializeOwned + PartialEq>(bytes: &[u8]) {
    match codec::cursor::<K>(&Cursor(bytes.to_vec().into())) {
        Ok(key) => {
            let written = written(codec::encode(&key));
            assert!(written.len() <= bytes.len());
            let again = codec::cursor::<K>(&Cursor(written.into()));
            assert!(again.is_ok_and(|again| again == key));
            assert!(
                codec::cursor::<K>(&Cursor([bytes, b"x"].concat().into())).is_err(),
                "a cursor with more behind it than its key"
            );
        }
        Err(fault) => assert_eq!(fault.kind(), Kind::Invalid),
    }
}
