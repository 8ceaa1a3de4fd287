//! The queue's encoded columns, for the fuzz targets.
use super::{
    first,
    grants::Member,
    group::{Counts, Group},
    nonces::Remembered,
    record::{LeasedJobs, More},
    workers::Known,
};
#[cfg(test)]
use super::{
    nonces::{Answered, Held, Judged},
    record::{Block, Failed, LeasedJob, Reserved, Window},
};
use crate::{codec, error::Outcome, fuzzing::column};
use foldwright_ports::Trouble;
use rusqlite::Row;

/// Takes the bytes as each of them.
pub(crate) fn columns(bytes: &[u8]) {
    let more = |bytes: &[u8]| codec::decode_either::<first::More, More>(bytes, "a group's record");
    column(bytes, 2, more, codec::encode_second);
    let leased =
        |bytes: &[u8]| codec::decode_either::<first::LeasedJobs, LeasedJobs>(bytes, "a group's lease");
    column(bytes, 2, leased, codec::encode_second);
    column(
        bytes,
        1,
        |bytes| codec::decode::<Counts>(bytes, "a group's counts"),
        codec::encode,
    );
    column(
        bytes,
        1,
        |bytes| codec::decode::<Vec<Member>>(bytes, "a grant"),
        codec::encode,
    );
    column(
        bytes,
        1,
        |bytes| codec::decode::<Remembered>(bytes, "a nonce's answer"),
        codec::encode,
    );
    column(
        bytes,
        1,
        |bytes| codec::decode::<Trouble>(bytes, "a route's failures"),
        codec::encode,
    );
    column(
        bytes,
        1,
        |bytes| codec::decode::<Known>(bytes, "what a worker knows"),
        codec::encode,
    );
}

/// A group's row: nothing but its values can be wrong.
pub(crate) fn group(row: &Row<'_>) -> Outcome<()> {
    let group = Group::read(row)?;
    let _ = group.counts.total();
    group.more_bytes().map(drop)
}

/// One of each column, and of each format.
#[cfg(test)]
pub(crate) fn samples() -> Vec<(&'static str, Vec<u8>)> {
    let more = More {
        failures: 2,
        failed: Some(Failed { seq: 5, id: [6; 24] }),
        streak: 3,
        deaths: 1,
        wary: true,
        need: Some(4),
        blocked: Some(Block {
            since: 7,
            job: [8; 24],
            route: 9,
            error: "no such account".into(),
        }),
        last_error: Some("timed out".into()),
        closed_until: Some(10),
        retrying: true,
        paused: true,
        reserved: Some(Reserved {
            worker: [11; 16],
            until: 12,
        }),
        windows: vec![Window {
            route: 13,
            seq: Some(14),
            until: 15,
            throttled: false,
        }],
        delayed: true,
    };
    let leased = LeasedJobs(vec![LeasedJob {
        seq: 1,
        route: 2,
        holds: true,
        bytes: Some(3),
    }]);
    let member = Member {
        gid: 1,
        name: 2,
        settled: true,
    };
    let known: Known = (1, vec![("a/fold/b".into(), 2)]);
    let first_more = (
        2_u32,
        Some(1_u32),
        None::<Block>,
        Some("x"),
        Some(3_i64),
        [(1_i64, 2_i64, 3_i64)].as_slice(),
        true,
    );
    let samples = [
        ("more.v2", codec::encode_second(&more)),
        ("more.v1", codec::encode(&first_more)),
        ("leased.v2", codec::encode_second(&leased)),
        ("leased.v1", codec::encode(&[(1_i64, 2_i64, true)].as_slice())),
        ("counts", codec::encode(&[(1_i64, u64::MAX), (2, 1)].as_slice())),
        ("grant", codec::encode(&[member].as_slice())),
        (
            "staged",
            codec::encode(&Remembered::Staged(vec![(Answered::Squashed, 2)])),
        ),
        (
            "settled",
            codec::encode(&Remembered::Settled(vec![Judged::Refused("x".into())], Some(1))),
        ),
        (
            "held",
            codec::encode(&Remembered::Held(vec![Held::Granted(1), Held::Waiting])),
        ),
        ("trouble", codec::encode(&Trouble::default())),
        ("known", codec::encode(&known)),
    ];
    samples
        .into_iter()
        .map(|(name, bytes)| (name, bytes.unwrap()))
        .collect()
}
