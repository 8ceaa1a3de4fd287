//! What holds of cursors whatever bytes someone hands in: it panics where it does not. Used by the fuzz target and by a
//! plain test. No part of the API.
use crate::cursor::{Reader, of_text, to_text};
use foldwright_ports::{Cursor, Kind};

#[cfg(test)]
#[path = "../../../fuzz/replay.rs"]
mod replay;

/// A cursor of a list, taken for one of each kind.
pub fn memory_cursor(bytes: &[u8]) {
    let cursor = Cursor(bytes.to_vec().into());
    let tag = bytes.first().copied().unwrap_or_default();
    match to_text(&cursor, tag, "list") {
        Ok(text) => assert_eq!(of_text(tag, &text), cursor),
        Err(error) => assert_eq!(error.kind(), Kind::Invalid),
    }
    assert!(
        to_text(&cursor, tag.wrapping_add(1), "list").is_err(),
        "the cursor of another list"
    );
    let Ok(mut reader) = Reader::new(&cursor, tag, "list") else {
        assert!(bytes.is_empty());
        return;
    };
    let mut parts = 0;
    while reader.text().is_ok() || reader.i64().is_ok() || reader.bytes::<3>().is_ok() {
        parts += 1;
    }
    assert!(parts <= bytes.len(), "more parts than bytes");
}

/// B-23
#[cfg(test)]
#[test]
fn the_corpus_whole_cut_and_spoilt_breaks_no_cursor() {
    replay::sample("memory_cursor", "text", &of_text(1, "5b8e/ü").0);
    replay::corpus("memory_cursor", memory_cursor);
}
