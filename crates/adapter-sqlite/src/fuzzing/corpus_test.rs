//! The corpus, with the plain compiler.
use super::*;
use crate::codec;

#[path = "../../../../fuzz/replay.rs"]
mod replay;

fn samples() {
    for (name, bytes) in crate::queue::fuzzing_samples() {
        replay::sample("sqlite_column", name, &bytes);
    }
    for (name, cursor) in [
        ("nothing", codec::encode(&())),
        ("number", codec::encode(&-3_i64)),
        ("pair", codec::encode(&(7_i64, 9_i64))),
        ("place", codec::encode(&(7_i64, [9_u8; 16], 11_i64))),
        ("text", codec::encode(&"5b8e/ü")),
        ("texts", codec::encode(&("run", "r-1"))),
    ] {
        replay::sample("sqlite_cursor", name, &cursor.unwrap());
    }
    let small = |n: u8| vec![16 + n];
    let blob = |n: u8| [&[32 + n][..], &vec![7; usize::from(n)]].concat();
    let text = |text: &str| [&[64 + text.len() as u8][..], text.as_bytes()].concat();
    let event = [
        small(1),
        small(1),
        small(1),
        small(9),
        blob(16),
        blob(16),
        small(9),
        small(2),
        small(3),
        blob(16),
        blob(16),
        text("k"),
        vec![0],
        blob(9),
    ];
    replay::sample("sqlite_row", "event", &event.concat());
    let group = [
        small(1),
        small(1),
        small(4),
        text("key"),
        small(2),
        small(3),
        small(4),
        small(5),
        vec![0],
        [&[34][..], &[1, 0]].concat(),
        small(6),
        small(7),
        [&[34][..], &[2, 0]].concat(),
        small(1),
        vec![0],
        vec![0],
        small(0),
    ];
    replay::sample("sqlite_row", "group", &group.concat());
}

/// B-20, B-23
#[test]
fn the_corpus_whole_cut_and_spoilt_breaks_no_column_cursor_or_row() {
    samples();
    replay::corpus("sqlite_column", sqlite_column);
    replay::corpus("sqlite_cursor", sqlite_cursor);
    replay::corpus("sqlite_row", sqlite_row);
}
