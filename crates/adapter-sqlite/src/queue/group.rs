//! A group as it is stored.
use crate::{
    codec,
    error::{Fault, Outcome},
};
use foldwright_ports::LeaseEnd;
use rusqlite::Row;
use serde::{Deserialize, Serialize};

/// Selects every column of a group, in the order in which [`Group::read`] takes them.
macro_rules! select_groups {
    ($rest:literal) => {
        concat!(
            "SELECT gid, tenant, path, key, slot, at, head, score, recheck, counts, fence, until, leased, previous,
             completed, more FROM fw_groups ",
            $rest
        )
    };
}
pub(super) use select_groups;

#[derive(Debug)]
pub(super) struct Group {
    pub(super) gid: i64,
    pub(super) tenant: i64,
    pub(super) path: i64,
    pub(super) key: String,
    pub(super) turn: Turn,
    pub(super) counts: Counts,
    pub(super) lease: Option<Leased>,
    pub(super) previous: LeaseEnd,
    /// The token of the last lease that was completed.
    pub(super) completed: Option<i64>,
    pub(super) more: More,
}

/// Its place in line, as far as it can be known without the passing of time.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(super) struct Turn {
    /// The first due job, or the one that comes due first.
    pub(super) head: Option<Head>,
    /// When the place has to be looked at again.
    pub(super) recheck: Option<i64>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Head {
    pub(super) seq: i64,
    pub(super) score: i64,
    pub(super) due: i64,
    pub(super) slot: i64,
}

/// A lease, live or not reaped yet.
#[derive(Debug)]
pub(super) struct Leased {
    pub(super) fence: i64,
    pub(super) until: i64,
    pub(super) jobs: Vec<LeasedJob>,
}

/// What a settle needs to know of a job without reading it.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Debug)]
pub(super) struct LeasedJob {
    pub(super) seq: i64,
    pub(super) route: i64,
    /// Whether it holds a body in a blob store.
    pub(super) holds: bool,
}

/// How many jobs there are, by route: nearly always one route.
#[derive(Clone, PartialEq, Eq, Default, Serialize, Deserialize, Debug)]
pub(super) struct Counts(Vec<(i64, u64)>);

impl Counts {
    pub(super) fn add(&mut self, route: i64) {
        match self.0.iter_mut().find(|(r, _)| *r == route) {
            Some((_, n)) => *n += 1,
            None => self.0.push((route, 1)),
        }
    }

    pub(super) fn remove(&mut self, route: i64) {
        if let Some((_, n)) = self.0.iter_mut().find(|(r, _)| *r == route) {
            *n = n.saturating_sub(1);
        }
        self.0.retain(|(_, n)| *n > 0);
    }

    pub(super) fn total(&self) -> u64 {
        self.0.iter().map(|(_, n)| n).sum()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (i64, i64)> {
        self.0
            .iter()
            .map(|(route, n)| (*route, i64::try_from(*n).unwrap_or(i64::MAX)))
    }
}

/// What most groups have nothing of.
#[derive(Clone, PartialEq, Eq, Default, Serialize, Deserialize, Debug)]
pub(super) struct More {
    pub(super) failures: u32,
    pub(super) need: Option<u32>,
    pub(super) blocked: Option<Block>,
    pub(super) last_error: Option<String>,
    pub(super) closed_until: Option<i64>,
    pub(super) windows: Vec<Window>,
    /// Whether a job was delayed since the group was last empty.
    pub(super) delayed: bool,
}

#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, Debug)]
pub(super) struct Block {
    pub(super) since: i64,
    pub(super) job: [u8; 24],
    pub(super) route: i64,
    pub(super) error: String,
}

/// An open dedup window over a job that waits.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Debug)]
pub(super) struct Window {
    pub(super) route: i64,
    pub(super) seq: i64,
    pub(super) until: i64,
}

impl Group {
    /// `last` is the last token that was given: a new group has nothing open from before.
    pub(super) fn new(gid: i64, tenant: i64, path: i64, key: &str, last: Option<i64>) -> Self {
        Self {
            gid,
            tenant,
            path,
            key: key.to_owned(),
            turn: Turn::default(),
            counts: Counts::default(),
            lease: None,
            previous: LeaseEnd::None,
            completed: last,
            more: More::default(),
        }
    }

    /// Reads a row of [`select_groups`].
    pub(super) fn read(row: &Row<'_>) -> Outcome<Self> {
        let slot: Option<i64> = row.get(4)?;
        let head = match slot {
            None => None,
            Some(slot) => Some(Head {
                slot,
                due: row.get(5)?,
                seq: row.get(6)?,
                score: row.get(7)?,
            }),
        };
        let fence: Option<i64> = row.get(10)?;
        let lease = match fence {
            None => None,
            Some(fence) => Some(Leased {
                fence,
                until: row.get(11)?,
                jobs: codec::decode(row.get_ref(12)?.as_blob().map_err(of_type)?, "a group's lease")?,
            }),
        };
        let more = match row.get_ref(15)?.as_blob_or_null().map_err(of_type)? {
            None => More::default(),
            Some(bytes) => codec::decode(bytes, "a group's record")?,
        };
        Ok(Self {
            gid: row.get(0)?,
            tenant: row.get(1)?,
            path: row.get(2)?,
            key: row.get(3)?,
            turn: Turn {
                head,
                recheck: row.get(8)?,
            },
            counts: codec::decode(row.get_ref(9)?.as_blob().map_err(of_type)?, "a group's counts")?,
            lease,
            previous: end_of(row.get(13)?)?,
            completed: row.get(14)?,
            more,
        })
    }

    /// Its record as it is stored: nothing for most groups.
    pub(super) fn more_bytes(&self) -> Outcome<Option<Vec<u8>>> {
        if self.more == More::default() {
            return Ok(None);
        }
        codec::encode(&self.more).map(Some)
    }

    /// Whether `seq` is handed out.
    pub(super) fn holds_leased(&self, seq: i64) -> bool {
        self.lease
            .as_ref()
            .is_some_and(|lease| lease.jobs.iter().any(|job| job.seq == seq))
    }

    /// An empty group is as good as new, but for a last lease that did not end well.
    pub(super) fn tidy(&mut self) {
        if !self.counts.is_empty() {
            return;
        }
        self.turn = Turn::default();
        self.more = More::default();
        if self.previous == LeaseEnd::Completed {
            self.previous = LeaseEnd::None;
            self.completed = None;
        }
    }

    /// A group that was emptied, and is staged into before it was removed, is as new as one that was removed.
    pub(super) fn begin_anew(&mut self, last: Option<i64>) {
        if self.counts.is_empty() && self.lease.is_none() && self.previous == LeaseEnd::None {
            self.completed = last;
        }
    }

    /// Starts the ladder anew.
    pub(super) fn forgive(&mut self) {
        self.more.failures = 0;
    }
}

fn of_type(error: rusqlite::types::FromSqlError) -> Fault {
    Fault::corrupt(format!("a group's row: {error}"))
}

/// As it is stored.
pub(super) const fn end_number(end: LeaseEnd) -> i64 {
    match end {
        LeaseEnd::None => 0,
        LeaseEnd::Completed => 1,
        LeaseEnd::Retried => 2,
        LeaseEnd::Released => 3,
        LeaseEnd::Lapsed => 4,
    }
}

fn end_of(number: i64) -> Outcome<LeaseEnd> {
    Ok(match number {
        0 => LeaseEnd::None,
        1 => LeaseEnd::Completed,
        2 => LeaseEnd::Retried,
        3 => LeaseEnd::Released,
        4 => LeaseEnd::Lapsed,
        other => return Err(Fault::corrupt(format!("a group's lease ended as {other}"))),
    })
}
