//! Cursors as text in an address.
use super::refusal::Refusal;
use foldwright::ports::Cursor;

/// The longest one that is looked at, in hex digits.
const MAX_DIGITS: usize = 4_096;

pub(super) fn to_text(cursor: Option<&Cursor>) -> Option<String> {
    cursor.map(|cursor| hex::encode(&cursor.0))
}

pub(super) fn of_text(text: &str) -> Result<Cursor, Refusal> {
    let bytes = (text.len() <= MAX_DIGITS)
        .then(|| hex::decode(text).ok())
        .flatten();
    bytes
        .map(|bytes| Cursor(bytes.into()))
        .ok_or_else(|| Refusal::bad("the cursor is none: take it from `next` of the page before"))
}
