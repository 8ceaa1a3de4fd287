//! What a queue knows of its tenants.
use super::{lines::Lines, numbers::Numbers};
use crate::{error::Outcome, writer::Write};
use foldwright_ports::{Pass, Share, TenantLimits};
use rusqlite::{Connection, OptionalExtension, Row, params};
use std::collections::{BTreeMap, btree_map};

/// Selects what [`Tenant::read`] takes.
macro_rules! select_tenants {
    ($rest:literal) => {
        concat!(
            "SELECT t.in_flight, t.pass, t.jobs, t.bytes, t.weight, t.cap, t.most_jobs, t.most_bytes, t.paused,
             t.tenant FROM fw_tenants t ",
            $rest
        )
    };
}
pub(super) use select_tenants;

/// A tenant's row.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(super) struct Tenant {
    pub(super) in_flight: i64,
    pub(super) pass: i64,
    pub(super) jobs: i64,
    pub(super) bytes: i64,
    /// Its own, if it has some.
    pub(super) limits: Option<TenantLimits>,
    pub(super) paused: bool,
}

/// When a tenant comes: the lowest first.
pub(super) type Turn = (i64, i64);

impl Tenant {
    pub(super) fn find(db: &Connection, tenant: i64) -> Outcome<Option<Self>> {
        Ok(db
            .prepare_cached(select_tenants!("WHERE t.tenant = ?1"))?
            .query_row([tenant], Self::read)
            .optional()?)
    }

    /// Reads a row of [`select_tenants`].
    pub(super) fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        let weight: Option<u32> = row.get(4)?;
        let limits = match weight {
            None => None,
            Some(weight) => Some(TenantLimits {
                weight,
                cap: row.get(5)?,
                jobs: row.get::<_, Option<i64>>(6)?.map(i64::unsigned_abs),
                bytes: row.get::<_, Option<i64>>(7)?.map(i64::unsigned_abs),
            }),
        };
        Ok(Self {
            in_flight: row.get(0)?,
            pass: row.get(1)?,
            jobs: row.get(2)?,
            bytes: row.get(3)?,
            limits,
            paused: row.get(8)?,
        })
    }

    pub(super) fn limits(&self) -> TenantLimits {
        self.limits.unwrap_or_default()
    }

    /// Its turn; `None` while it is at its cap or paused.
    pub(super) fn turn(&self) -> Option<Turn> {
        let limits = self.limits();
        let free = limits.cap.is_none_or(|cap| self.in_flight < i64::from(cap));
        (free && !self.paused).then(|| {
            let share = Share::of(unsigned(self.in_flight), limits.weight);
            (signed(share.0), self.pass)
        })
    }

    /// A group of it is handed out.
    fn serve(&mut self, numbers: &mut Numbers) {
        let clock = numbers.pass();
        let mut pass = Pass(unsigned(*clock));
        let served = Pass(unsigned(self.pass)).serve(&mut pass, self.limits().weight);
        *clock = signed(pass.0);
        self.pass = signed(served.0);
        self.in_flight += 1;
    }

    fn save(&self, db: &Connection, tenant: i64) -> Outcome<()> {
        let limits = self.limits;
        let bound = |n: Option<u64>| n.map(signed);
        db.prepare_cached(
            "INSERT INTO fw_tenants (tenant, in_flight, pass, jobs, bytes, weight, cap, most_jobs, most_bytes, paused)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)
             ON CONFLICT DO UPDATE SET in_flight = excluded.in_flight, pass = excluded.pass, jobs = excluded.jobs,
             bytes = excluded.bytes, weight = excluded.weight, cap = excluded.cap, most_jobs = excluded.most_jobs,
             most_bytes = excluded.most_bytes, paused = excluded.paused",
        )?
        .execute(params![
            tenant,
            self.in_flight,
            self.pass,
            self.jobs,
            self.bytes,
            limits.map(|l| l.weight),
            limits.and_then(|l| l.cap),
            bound(limits.and_then(|l| l.jobs)),
            bound(limits.and_then(|l| l.bytes)),
            self.paused
        ])?;
        Ok(())
    }
}

pub(super) fn unsigned(n: i64) -> u64 {
    u64::try_from(n).unwrap_or(0)
}

pub(super) fn signed(n: u64) -> i64 {
    i64::try_from(n).unwrap_or(i64::MAX)
}

/// The tenants that one operation touches, with their lines: read once and written once.
#[derive(Default)]
pub(super) struct Tenants(BTreeMap<i64, Seat>);

pub(super) struct Seat {
    pub(super) tenant: Tenant,
    stored: Option<Tenant>,
    pub(super) lines: Lines,
}

impl Tenants {
    pub(super) fn seat(&mut self, db: &Connection, tenant: i64) -> Outcome<&mut Seat> {
        match self.0.entry(tenant) {
            btree_map::Entry::Occupied(seat) => Ok(seat.into_mut()),
            btree_map::Entry::Vacant(place) => {
                let stored = Tenant::find(db, tenant)?;
                Ok(place.insert(Seat {
                    tenant: stored.unwrap_or_default(),
                    stored,
                    lines: Lines::default(),
                }))
            }
        }
    }

    /// Those that this operation has touched so far.
    pub(super) fn touched(&self) -> Vec<i64> {
        self.0.keys().copied().collect()
    }

    /// Jobs of a tenant came or went.
    pub(super) fn hold(&mut self, db: &Connection, tenant: i64, jobs: i64, bytes: i64) -> Outcome<()> {
        let tenant = &mut self.seat(db, tenant)?.tenant;
        tenant.jobs += jobs;
        tenant.bytes += bytes;
        Ok(())
    }

    /// A group of this tenant is handed out.
    pub(super) fn serve(&mut self, db: &Connection, numbers: &mut Numbers, tenant: i64) -> Outcome<()> {
        self.seat(db, tenant)?.tenant.serve(numbers);
        Ok(())
    }

    /// A lease of this tenant has ended.
    pub(super) fn land(&mut self, db: &Connection, tenant: i64) -> Outcome<()> {
        self.seat(db, tenant)?.tenant.in_flight -= 1;
        Ok(())
    }

    /// Writes what was changed. Groups must have been saved before.
    pub(super) fn save(&mut self, write: &mut Write<'_>, numbers: &mut Numbers) -> Outcome<()> {
        for (number, mut seat) in std::mem::take(&mut self.0) {
            let (now, before) = (seat.tenant, seat.stored.unwrap_or_default());
            if seat.stored != Some(now) {
                now.save(write.db, number)?;
                let had = |tenant: &Tenant| i64::from(tenant.jobs > 0);
                numbers.hold(
                    now.jobs - before.jobs,
                    now.bytes - before.bytes,
                    had(&now) - had(&before),
                );
            }
            let moved = now.turn() != before.turn();
            seat.lines.save(write, numbers, number, now.turn(), moved)?;
        }
        Ok(())
    }
}
