//! Small encoded columns. Each begins with the version of its format.
use crate::error::{Fault, Outcome};
use foldwright_ports::Cursor;
use serde::{Serialize, de::DeserializeOwned};

const VERSION: u8 = 1;

pub(crate) fn encode<T: Serialize>(value: &T) -> Outcome<Vec<u8>> {
    postcard::to_extend(value, vec![VERSION])
        .map_err(|error| Fault::invalid(format!("a value cannot be encoded: {error}")))
}

pub(crate) fn decode<T: DeserializeOwned>(bytes: &[u8], what: &'static str) -> Outcome<T> {
    match bytes {
        [VERSION, rest @ ..] => {
            postcard::from_bytes(rest).map_err(|error| Fault::corrupt(format!("{what}: {error}")))
        }
        [newer, ..] => Err(Fault::corrupt(format!(
            "{what} has format {newer}: upgrade this binary"
        ))),
        [] => Err(Fault::corrupt(format!("{what} is empty"))),
    }
}

/// Reads a cursor that this adapter made.
pub(crate) fn cursor<K: DeserializeOwned>(cursor: &Cursor) -> Outcome<K> {
    decode(&cursor.0, "cursor").map_err(|_| Fault::invalid("the cursor is not one of this list"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_encoded_comes_back_and_nothing_else_is_read() {
        let bytes = encode(&(7_u64, "x".to_owned())).unwrap();
        assert_eq!(bytes, [1, 7, 1, b'x'], "a stored format must never change");
        assert_eq!(
            decode::<(u64, String)>(&bytes, "pair").unwrap(),
            (7, "x".to_owned())
        );
        for bad in [&[][..], &[2, 7], &[1], &[1, 0xff]] {
            assert_eq!(
                decode::<(u64, String)>(bad, "pair").unwrap_err().kind(),
                foldwright_ports::Kind::Corrupt
            );
        }
    }
}
