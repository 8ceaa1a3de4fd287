//! A group as it is stored.
use super::{
    first,
    groups::Named,
    record::{LeasedJobs, More},
    tenants::unsigned,
};
use crate::{
    codec,
    error::{Fault, Outcome},
    names::Names,
};
use foldwright_ports::{GroupId, LeaseEnd};
use rusqlite::{Connection, Row, params};
use serde::{Deserialize, Serialize};

/// Selects every column of a group, in the order in which [`Group::read`] takes them.
macro_rules! select_groups {
    ($rest:literal) => {
        concat!(
            "SELECT gid, tenant, path, key, slot, at, head, score, recheck, counts, fence, until, leased, previous,
             completed, more, bytes FROM fw_groups ",
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
    /// What its jobs carry.
    pub(super) bytes: i64,
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
    /// Empty in a hold, and never else.
    pub(super) jobs: LeasedJobs,
}

impl Leased {
    pub(super) fn is_hold(&self) -> bool {
        self.jobs.0.is_empty()
    }
}

/// How many jobs there are, by route: nearly always one route.
#[derive(Clone, PartialEq, Eq, Default, Serialize, Deserialize, Debug)]
pub(super) struct Counts(Vec<(i64, u64)>);

impl Counts {
    pub(super) fn add(&mut self, route: i64) {
        match self.0.iter_mut().find(|(r, _)| *r == route) {
            Some((_, n)) => *n = n.saturating_add(1),
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
        self.0
            .iter()
            .fold(0, |total: u64, (_, n)| total.saturating_add(*n))
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

impl FromIterator<(i64, i64)> for Counts {
    fn from_iter<T: IntoIterator<Item = (i64, i64)>>(routes: T) -> Self {
        let routes = routes.into_iter();
        Self(routes.map(|(route, n)| (route, unsigned(n))).collect())
    }
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
            bytes: 0,
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
                jobs: leased_jobs(row, 12)?,
            }),
        };
        let more = match row.get_ref(15)?.as_blob_or_null().map_err(of_type)? {
            None => More::default(),
            Some(bytes) => codec::decode_either::<first::More, _>(bytes, "a group's record")?,
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
            bytes: row.get(16)?,
            lease,
            previous: end_of(row.get(13)?)?,
            completed: row.get(14)?,
            more,
        })
    }

    /// The group of this name, if there is one.
    pub(super) fn find(db: &Connection, names: &mut Names, id: &GroupId) -> Outcome<Option<Self>> {
        let Some(named) = Named::find(db, names, id)? else {
            return Ok(None);
        };
        let mut select = db.prepare_cached(select_groups!("WHERE tenant = ?1 AND path = ?2 AND key = ?3"))?;
        let mut rows = select.query(params![named.tenant, named.path, id.key.as_ref()])?;
        rows.next()?.map(Self::read).transpose()
    }

    /// Its name.
    pub(super) fn id(&self, db: &Connection, names: &mut Names) -> Outcome<GroupId> {
        Ok(GroupId {
            tenant: names.tenant(db, self.tenant)?,
            path: names.text(db, self.path)?,
            key: self.key.as_str().into(),
        })
    }

    /// Its record as it is stored: nothing for most groups.
    pub(super) fn more_bytes(&self) -> Outcome<Option<Vec<u8>>> {
        if self.more == More::default() {
            return Ok(None);
        }
        codec::encode_second(&self.more).map(Some)
    }

    /// Whether `seq` is handed out.
    pub(super) fn holds_leased(&self, seq: i64) -> bool {
        self.lease
            .as_ref()
            .is_some_and(|lease| lease.jobs.0.iter().any(|job| job.seq == seq))
    }

    /// An empty group is as good as new, but for a last lease that did not end well, and for what someone asked of it.
    pub(super) fn tidy(&mut self, now: i64) {
        if !self.counts.is_empty() || self.lease.is_some() {
            return;
        }
        self.more = self.more.emptied(now);
        let reserved = self.more.reserved.map(|reserved| reserved.until);
        let windows = self.more.windows.iter().map(|window| window.until);
        self.turn = Turn {
            head: None,
            recheck: windows.chain(reserved).min(),
        };
        if self.previous == LeaseEnd::Completed {
            self.previous = LeaseEnd::None;
            self.completed = None;
        }
    }

    /// Whether nothing of it is worth remembering.
    pub(super) fn is_forgotten(&self) -> bool {
        self.counts.is_empty()
            && self.lease.is_none()
            && self.previous == LeaseEnd::None
            && self.more == More::default()
    }

    /// A group that was emptied, and is staged into before it was removed, is as new as one that was removed.
    pub(super) fn begin_anew(&mut self, last: Option<i64>) {
        if self.counts.is_empty() && self.lease.is_none() && self.previous == LeaseEnd::None {
            self.completed = last;
        }
    }
}

/// The jobs of a lease, in a column.
pub(super) fn leased_jobs(row: &Row<'_>, column: usize) -> Outcome<LeasedJobs> {
    let bytes = row.get_ref(column)?.as_blob().map_err(of_type)?;
    codec::decode_either::<first::LeasedJobs, _>(bytes, "a group's lease")
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

#[cfg(test)]
mod tests {
    use super::*;

    /// B-23: counts that a disk error wrote.
    #[test]
    fn counts_beyond_all_bounds_do_not_overflow() {
        let bytes = codec::encode(&[(1_i64, u64::MAX), (2, 7)].as_slice()).unwrap();
        let mut counts: Counts = codec::decode(&bytes, "a group's counts").unwrap();
        counts.add(1);
        assert_eq!(counts.total(), u64::MAX);
    }
}
