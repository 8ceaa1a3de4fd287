//! The queue's one row.
use crate::error::{Fault, Outcome};
use rusqlite::Connection;

/// The last numbers that were given, and what is known of all tenants together. Read and written within one
/// transaction, so that processes never give a number twice.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Numbers {
    stored: Row,
    row: Row,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Row {
    fence: i64,
    seq: i64,
    gid: i64,
    jobs: i64,
    bytes: i64,
    tenants: i64,
    pass: i64,
    pauses: i64,
    closed_until: i64,
}

impl Numbers {
    pub(super) fn load(db: &Connection) -> Outcome<Self> {
        let row = db
            .prepare_cached(
                "SELECT fence, seq, gid, jobs, bytes, tenants, pass, pauses, closed_until FROM fw_queue",
            )?
            .query_row([], |row| {
                Ok(Row {
                    fence: row.get(0)?,
                    seq: row.get(1)?,
                    gid: row.get(2)?,
                    jobs: row.get(3)?,
                    bytes: row.get(4)?,
                    tenants: row.get(5)?,
                    pass: row.get(6)?,
                    pauses: row.get(7)?,
                    closed_until: row.get(8)?,
                })
            })?;
        Ok(Self { stored: row, row })
    }

    pub(super) fn next_seq(&mut self) -> i64 {
        self.row.seq += 1;
        self.row.seq
    }

    pub(super) fn next_gid(&mut self) -> i64 {
        self.row.gid += 1;
        self.row.gid
    }

    /// The last token that was given.
    pub(super) fn last_fence(&self) -> Option<i64> {
        (self.row.fence > 0).then_some(self.row.fence)
    }

    /// The next token: the time in microseconds, or the successor of the last one.
    pub(super) fn next_fence(&mut self, now_millis: i64) -> Outcome<i64> {
        let next = self
            .row
            .fence
            .checked_add(1)
            .ok_or_else(|| Fault::invalid("there is no token above the last one"))?;
        self.row.fence = next.max(now_millis.saturating_mul(1_000));
        Ok(self.row.fence)
    }

    pub(super) fn raise_fence(&mut self, floor: i64) {
        self.row.fence = self.row.fence.max(floor);
    }

    /// Jobs of all tenants, the bytes they carry, and how many tenants have some.
    pub(super) fn held(&self) -> [u64; 3] {
        [self.row.jobs, self.row.bytes, self.row.tenants].map(|n| u64::try_from(n).unwrap_or(0))
    }

    /// What a tenant holds has changed.
    pub(super) fn hold(&mut self, jobs: i64, bytes: i64, tenants: i64) {
        self.row.jobs += jobs;
        self.row.bytes += bytes;
        self.row.tenants += tenants;
    }

    /// The highest pass at which a tenant was served.
    pub(super) fn pass(&mut self) -> &mut i64 {
        &mut self.row.pass
    }

    /// How many pauses cover routes.
    pub(super) fn pauses(&mut self) -> &mut i64 {
        &mut self.row.pauses
    }

    /// Whether a route may be closed, for a tenant or for all.
    pub(super) fn may_be_closed(&self, now: i64) -> bool {
        self.row.closed_until > now
    }

    pub(super) fn close(&mut self, until: i64) {
        self.row.closed_until = self.row.closed_until.max(until);
    }

    pub(super) fn save(&mut self, db: &Connection) -> Outcome<()> {
        let row = self.row;
        if row != self.stored {
            db.prepare_cached(
                "UPDATE fw_queue SET fence = ?1, seq = ?2, gid = ?3, jobs = ?4, bytes = ?5, tenants = ?6, pass = ?7,
                 pauses = ?8, closed_until = ?9",
            )?
            .execute([
                row.fence,
                row.seq,
                row.gid,
                row.jobs,
                row.bytes,
                row.tenants,
                row.pass,
                row.pauses,
                row.closed_until,
            ])?;
            self.stored = row;
        }
        Ok(())
    }
}
