//! Failures that many groups share.
use super::work::Work;
use crate::{codec, error::Outcome, page::limit_of, writer::Write};
use foldwright_domain::Millis;
use foldwright_ports::{Closed, Fingerprint, Trouble};
use rusqlite::{Connection, OptionalExtension, params};
use std::collections::{BTreeMap, btree_map::Entry};

/// The troubles that one operation adds to, by tenant and route.
#[derive(Default)]
pub(super) struct Troubles(BTreeMap<(i64, i64), Trouble>);

/// A group of a tenant failed at a job of this route.
pub(super) fn fail(work: &mut Work<'_, '_>, gid: i64, route: i64, error: &str) -> Outcome<()> {
    let (db, now, breaker) = (work.write.db, work.write.now, work.write.settings.queue.breaker);
    if breaker.groups == 0 {
        return Ok(());
    }
    let tenant = work.groups.entry(gid)?.group.tenant;
    let key = (tenant, route);
    let trouble = match work.troubles.0.entry(key) {
        Entry::Occupied(trouble) => trouble.into_mut(),
        Entry::Vacant(place) => place.insert(load(db, key)?.unwrap_or_default()),
    };
    let Some(closed) = trouble.fail(&breaker, now, Fingerprint::of(error), gid.unsigned_abs()) else {
        return Ok(());
    };
    tracing::warn!(
        route,
        tenant,
        fingerprint = %closed.fingerprint,
        "many groups fail alike: the route is closed for the tenant for a while"
    );
    store(work.write, key, trouble)?;
    work.numbers.close(closed.until.0);
    for slot in work.write.slots.of_route(db, route)? {
        work.tenants.seat(db, tenant)?.lines.look_again(slot);
    }
    close_for_all(work, route, closed.fingerprint)
}

/// Closes a route for everybody once enough tenants at a time met the same error.
fn close_for_all(work: &mut Work<'_, '_>, route: i64, fingerprint: Fingerprint) -> Outcome<()> {
    let db = work.write.db;
    let (tenants, until): (u32, Option<i64>) = db
        .prepare_cached(
            "SELECT count(*), max(until) FROM fw_troubles WHERE route = ?1 AND fingerprint = ?2 AND until > ?3",
        )?
        .query_row(
            (route, fingerprint.0.cast_signed(), work.write.now.0),
            |row| Ok((row.get(0)?, row.get(1)?)),
        )?;
    let Some(until) = until.filter(|_| tenants >= work.write.settings.queue.breaker.tenants) else {
        return Ok(());
    };
    tracing::warn!(route, %fingerprint, tenants, "several tenants fail alike: the route is closed for all");
    db.prepare_cached(
        "INSERT INTO fw_outages (route, fingerprint, until) VALUES (?1, ?2, ?3)
         ON CONFLICT DO UPDATE SET fingerprint = excluded.fingerprint, until = excluded.until
         WHERE excluded.until > until",
    )?
    .execute((route, fingerprint.0.cast_signed(), until))?;
    Ok(())
}

fn load(db: &Connection, (tenant, route): (i64, i64)) -> Outcome<Option<Trouble>> {
    let bytes: Option<Vec<u8>> = db
        .prepare_cached("SELECT trouble FROM fw_troubles WHERE tenant = ?1 AND route = ?2")?
        .query_row((tenant, route), |row| row.get(0))
        .optional()?;
    bytes
        .map(|bytes| codec::decode(&bytes, "a route's failures"))
        .transpose()
}

fn store(write: &Write<'_>, (tenant, route): (i64, i64), trouble: &Trouble) -> Outcome<()> {
    let (now, window) = (write.now, write.settings.queue.breaker.window);
    let closed = trouble.closed_at(now);
    // Its failures are not younger than this instant, and its closing counts for a window after its end.
    let over = closed.map_or(now, |closed| closed.until.max(now)).plus(window);
    write
        .db
        .prepare_cached(
            "INSERT INTO fw_troubles (tenant, route, until, fingerprint, over, trouble) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
             ON CONFLICT DO UPDATE SET until = excluded.until, fingerprint = excluded.fingerprint,
             over = max(over, excluded.over), trouble = excluded.trouble",
        )?
        .execute(params![
            tenant,
            route,
            closed.map(|closed| closed.until.0),
            closed.map(|closed| closed.fingerprint.0.cast_signed()),
            over.0,
            codec::encode(trouble)?
        ])?;
    Ok(())
}

/// How a route is closed for a tenant at this instant, if it is.
pub(super) fn closed(db: &Connection, tenant: i64, route: i64, now: i64) -> Outcome<Option<Closed>> {
    Ok(db
        .prepare_cached(
            "SELECT fingerprint, until FROM fw_troubles WHERE tenant = ?1 AND route = ?2 AND until > ?3",
        )?
        .query_row((tenant, route, now), |row| {
            Ok(Closed {
                fingerprint: Fingerprint(row.get::<_, i64>(0)?.cast_unsigned()),
                until: Millis(row.get(1)?),
            })
        })
        .optional()?)
}

/// The routes that are closed for everybody at this instant.
pub(super) fn outages(db: &Connection, now: i64) -> Outcome<BTreeMap<i64, Closed>> {
    let mut select =
        db.prepare_cached("SELECT route, fingerprint, until FROM fw_outages WHERE until > ?1")?;
    let mut rows = select.query([now])?;
    let mut outages = BTreeMap::new();
    while let Some(row) = rows.next()? {
        let closed = Closed {
            fingerprint: Fingerprint(row.get::<_, i64>(1)?.cast_unsigned()),
            until: Millis(row.get(2)?),
        };
        outages.insert(row.get(0)?, closed);
    }
    Ok(outages)
}

/// Forgets what no longer matters.
pub(super) fn purge(write: &Write<'_>, limit: usize) -> Outcome<()> {
    let (db, now) = (write.db, write.now.0);
    db.prepare_cached(
        "DELETE FROM fw_troubles WHERE (tenant, route) IN
         (SELECT tenant, route FROM fw_troubles WHERE over <= ?1 ORDER BY over LIMIT ?2)",
    )?
    .execute((now, limit_of(limit)))?;
    db.prepare_cached("DELETE FROM fw_outages WHERE until <= ?1")?
        .execute([now])?;
    Ok(())
}

impl Troubles {
    pub(super) fn save(&mut self, write: &Write<'_>) -> Outcome<()> {
        for (key, trouble) in std::mem::take(&mut self.0) {
            store(write, key, &trouble)?;
        }
        Ok(())
    }
}
