//! Calls that come again.
use crate::{
    codec,
    error::{Fault, Outcome},
    page::limit_of,
    writer::Write,
};
use foldwright_domain::Millis;
use foldwright_ports::{Error, Kind, Nonce, Staged, Verdict};
use rusqlite::{OptionalExtension, params};
use serde::{Deserialize, Serialize};

/// What a mutating call answered. Leases are named by their grant and read again.
#[derive(Serialize, Deserialize, Debug)]
pub(super) enum Remembered {
    /// Runs of equal answers.
    Staged(Vec<(Answered, u32)>),
    Claimed(Option<i64>),
    Settled(Vec<Judged>, Option<i64>),
    Held(Vec<Held>),
    /// A settle that merged so many of the jobs that follow. Apart from the others, which older releases wrote.
    SettledMerging(Vec<Judged>, Option<i64>, usize),
}

/// What became of a group that someone wanted to hold.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Debug)]
pub(super) enum Held {
    Granted(i64),
    Reserved(i64),
    Waiting,
}

#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Debug)]
pub(super) enum Answered {
    New,
    Known,
    Squashed,
}

#[derive(Serialize, Deserialize, Debug)]
pub(super) enum Judged {
    Applied,
    Lost,
    Already,
    Refused(String),
}

/// The first answer of the call of this nonce, as long as it is kept.
pub(super) fn recall(write: &Write<'_>, nonce: Nonce) -> Outcome<Option<Remembered>> {
    let nonce = nonce.0.to_be_bytes();
    let found: Option<(i64, i64, Vec<u8>)> = write
        .db
        .prepare_cached("SELECT n, at, answer FROM fw_nonces WHERE nonce = ?1")?
        .query_row([nonce], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
        .optional()?;
    match found {
        None => Ok(None),
        Some((n, at, _)) if Millis(at).plus(write.settings.queue.nonce_ttl) <= write.now => {
            write
                .db
                .prepare_cached("DELETE FROM fw_nonces WHERE n = ?1")?
                .execute([n])?;
            Ok(None)
        }
        Some((_, _, answer)) => codec::decode(&answer, "a nonce's answer").map(Some),
    }
}

/// Keeps an answer.
pub(super) fn remember(write: &Write<'_>, nonce: Nonce, answer: &Remembered) -> Outcome<()> {
    write
        .db
        .prepare_cached("INSERT INTO fw_nonces (nonce, at, answer) VALUES (?1, ?2, ?3)")?
        .execute(params![
            nonce.0.to_be_bytes(),
            write.now.0,
            codec::encode(answer)?
        ])?;
    Ok(())
}

/// Forgets answers that are past their time, the oldest first.
pub(super) fn purge(write: &Write<'_>, limit: usize) -> Outcome<()> {
    write
        .db
        .prepare_cached(
            "DELETE FROM fw_nonces WHERE at <= ?1 AND n IN (SELECT n FROM fw_nonces ORDER BY n LIMIT ?2)",
        )?
        .execute((write.now.minus(write.settings.queue.nonce_ttl).0, limit_of(limit)))?;
    Ok(())
}

/// Another kind of call came under this nonce before.
pub(super) fn misused() -> Fault {
    Fault::invalid("the nonce belongs to another call: make a new one for each call")
}

/// Answers in the form in which they are kept.
pub(super) fn pack(staged: &[Staged]) -> Remembered {
    let mut runs: Vec<(Answered, u32)> = Vec::new();
    for staged in staged {
        let answered = match staged {
            Staged::New => Answered::New,
            Staged::Known => Answered::Known,
            Staged::Squashed => Answered::Squashed,
        };
        match runs.last_mut() {
            Some((last, n)) if *last == answered => *n += 1,
            _ => runs.push((answered, 1)),
        }
    }
    Remembered::Staged(runs)
}

pub(super) fn unpack(runs: Vec<(Answered, u32)>) -> Vec<Staged> {
    runs.into_iter()
        .flat_map(|(answered, n)| {
            let staged = match answered {
                Answered::New => Staged::New,
                Answered::Known => Staged::Known,
                Answered::Squashed => Staged::Squashed,
            };
            std::iter::repeat_n(staged, n as usize)
        })
        .collect()
}

pub(super) fn judged(verdict: &Verdict) -> Judged {
    match verdict {
        Verdict::Applied => Judged::Applied,
        Verdict::Lost => Judged::Lost,
        Verdict::Already => Judged::Already,
        Verdict::Refused(error) => Judged::Refused(error.message().to_owned()),
    }
}

pub(super) fn verdict(judged: Judged) -> Verdict {
    match judged {
        Judged::Applied => Verdict::Applied,
        Judged::Lost => Verdict::Lost,
        Judged::Already => Verdict::Already,
        Judged::Refused(message) => Verdict::Refused(Error::new(Kind::Invalid, "settle", message)),
    }
}
