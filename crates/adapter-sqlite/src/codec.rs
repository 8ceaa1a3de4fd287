//! Small encoded columns. Each begins with the version of its format.
use crate::error::{Fault, Outcome};
use foldwright_ports::Cursor;
use serde::{Serialize, de::DeserializeOwned};

/// The first format of every column; most have only this one.
const FIRST: u8 = 1;
const SECOND: u8 = 2;

pub(crate) fn encode<T: Serialize>(value: &T) -> Outcome<Vec<u8>> {
    encode_as(FIRST, value)
}

/// Encodes a value of a column that has a second format.
pub(crate) fn encode_second<T: Serialize>(value: &T) -> Outcome<Vec<u8>> {
    encode_as(SECOND, value)
}

fn encode_as<T: Serialize>(version: u8, value: &T) -> Outcome<Vec<u8>> {
    postcard::to_extend(value, vec![version])
        .map_err(|error| Fault::invalid(format!("a value cannot be encoded: {error}")))
}

pub(crate) fn decode<T: DeserializeOwned>(bytes: &[u8], what: &'static str) -> Outcome<T> {
    match bytes {
        [FIRST, rest @ ..] => read(rest, what),
        other => Err(unknown(other, what)),
    }
}

/// Decodes a value of a column that has a second format; `F` is its first one.
pub(crate) fn decode_either<F, T>(bytes: &[u8], what: &'static str) -> Outcome<T>
where
    F: DeserializeOwned + Into<T>,
    T: DeserializeOwned,
{
    match bytes {
        [FIRST, rest @ ..] => read::<F>(rest, what).map(Into::into),
        [SECOND, rest @ ..] => read(rest, what),
        other => Err(unknown(other, what)),
    }
}

fn read<T: DeserializeOwned>(bytes: &[u8], what: &'static str) -> Outcome<T> {
    match postcard::take_from_bytes(bytes) {
        Ok((value, [])) => Ok(value),
        Ok(_) => Err(Fault::corrupt(format!("{what} has more bytes than its value"))),
        Err(error) => Err(Fault::corrupt(format!("{what}: {error}"))),
    }
}

fn unknown(bytes: &[u8], what: &'static str) -> Fault {
    match bytes {
        [0, ..] => Fault::corrupt(format!("{what} does not begin as one of Foldwright")),
        [newer, ..] => Fault::corrupt(format!("{what} has format {newer}: upgrade this binary")),
        [] => Fault::corrupt(format!("{what} is empty")),
    }
}

/// Reads a cursor that this adapter made.
pub(crate) fn cursor<K: DeserializeOwned>(cursor: &Cursor) -> Outcome<K> {
    decode(&cursor.0, "cursor").map_err(|_| Fault::invalid("the cursor is not one of this list"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A key of one list may begin as the key of another; it would go on from some other place there.
    #[test]
    fn a_cursor_of_another_list_is_refused() {
        let longer = Cursor(encode(&(7_i64, 9_i64)).unwrap().into());
        assert_eq!(cursor::<(i64, i64)>(&longer).unwrap(), (7, 9));
        assert_eq!(
            cursor::<i64>(&longer).unwrap_err().kind(),
            foldwright_ports::Kind::Invalid
        );
    }

    #[test]
    fn what_was_encoded_comes_back_and_nothing_else_is_read() {
        let bytes = encode(&(7_u64, "x".to_owned())).unwrap();
        assert_eq!(bytes, [1, 7, 1, b'x'], "a stored format must never change");
        assert_eq!(
            decode::<(u64, String)>(&bytes, "pair").unwrap(),
            (7, "x".to_owned())
        );
        for bad in [
            &[][..],
            &[2, 7],
            &[1],
            &[1, 0xff],
            &[0, 7, 1, b'x'],
            &[1, 7, 1, b'x', 0],
        ] {
            assert_eq!(
                decode::<(u64, String)>(bad, "pair").unwrap_err().kind(),
                foldwright_ports::Kind::Corrupt
            );
        }
    }
}
