//! Which workers are alive, and what they know.
use super::grants;
use crate::{
    codec,
    error::{Fault, Outcome},
    page::limit_of,
    reader::Read,
    writer::Write,
};
use foldwright_domain::Millis;
use foldwright_ports::{Capabilities, Capability, Route, WorkerId, WorkerView};
use rusqlite::{Connection, params};
use std::time::Duration;

/// What a worker knows, as it is stored.
pub(super) type Known = (u8, Vec<(String, u32)>);

/// Renews a worker's record; whatever was suspected of its silence is forgotten.
pub(super) fn beat(
    write: &Write<'_>,
    worker: WorkerId,
    capabilities: &Capabilities,
    ttl: Duration,
) -> Outcome<()> {
    let routes = capabilities.routes.iter();
    let known: Known = (
        capabilities.format,
        routes
            .map(|(route, known)| (route.to_string(), known.version))
            .collect(),
    );
    let until = write.now.plus(ttl);
    absolve(write.db, worker)?;
    write
        .db
        .prepare_cached(
            "INSERT INTO fw_workers (worker, until, ttl, capabilities) VALUES (?1, ?2, ?3, ?4)
             ON CONFLICT DO UPDATE SET until = excluded.until, ttl = excluded.ttl, silent_since = NULL,
             capabilities = excluded.capabilities",
        )?
        .execute(params![
            worker.0.to_be_bytes(),
            until.0,
            i64::try_from(ttl.as_millis()).unwrap_or(i64::MAX),
            codec::encode(&known)?
        ])?;
    Ok(())
}

/// Ends a worker's record.
pub(super) fn goodbye(write: &Write<'_>, worker: WorkerId) -> Outcome<()> {
    absolve(write.db, worker)?;
    write
        .db
        .prepare_cached("DELETE FROM fw_workers WHERE worker = ?1")?
        .execute([worker.0.to_be_bytes()])?;
    Ok(())
}

/// It lives: nothing is held against it.
fn absolve(db: &Connection, worker: WorkerId) -> Outcome<()> {
    db.prepare_cached("DELETE FROM fw_suspects WHERE worker = ?1")?
        .execute([worker.0.to_be_bytes()])?;
    Ok(())
}

/// The worker that was given this token, if its record has run out without a goodbye; notes since when that is known.
pub(super) fn fallen_silent(write: &Write<'_>, fence: i64) -> Outcome<Option<WorkerId>> {
    let Some(worker) = grants::worker_of(write.db, fence)? else {
        return Ok(None);
    };
    let silent = write
        .db
        .prepare_cached(
            "UPDATE fw_workers SET silent_since = coalesce(silent_since, ?2) WHERE worker = ?1 AND until <= ?2",
        )?
        .execute(params![worker.0.to_be_bytes(), write.now.0])?;
    Ok((silent == 1).then_some(worker))
}

/// Those that have been silent for as long again as their records were meant to live.
pub(super) fn dead(write: &Write<'_>) -> Outcome<Vec<WorkerId>> {
    let mut select = write.db.prepare_cached(
        "SELECT worker FROM fw_workers WHERE silent_since <= ?1 AND silent_since + ttl <= ?1",
    )?;
    let mut rows = select.query([write.now.0])?;
    let mut dead = Vec::new();
    while let Some(row) = rows.next()? {
        dead.push(WorkerId(u128::from_be_bytes(row.get(0)?)));
    }
    Ok(dead)
}

/// A death was counted where it had to be.
pub(super) fn bury(db: &Connection, worker: WorkerId) -> Outcome<()> {
    absolve(db, worker)?;
    db.prepare_cached("UPDATE fw_workers SET silent_since = NULL WHERE worker = ?1")?
        .execute([worker.0.to_be_bytes()])?;
    Ok(())
}

/// Forgets records that ran out as long ago as they were meant to live, unless a lease or a suspicion still points to
/// them.
pub(super) fn purge(write: &Write<'_>, limit: usize) -> Outcome<()> {
    write
        .db
        .prepare_cached(
            "DELETE FROM fw_workers WHERE worker IN (
                 SELECT w.worker FROM fw_workers w
                 WHERE w.until <= ?1 AND w.until + w.ttl <= ?1 AND w.silent_since IS NULL
                 AND NOT EXISTS (
                     SELECT 1 FROM fw_grants g WHERE g.check_at IS NOT NULL AND g.worker = w.worker
                 ) ORDER BY w.until LIMIT ?2)",
        )?
        .execute((write.now.0, limit_of(limit)))?;
    Ok(())
}

/// Workers with a liveness record, by id.
pub(super) fn all(read: &Read<'_>) -> Outcome<Vec<WorkerView>> {
    let mut select = read
        .db
        .prepare_cached("SELECT worker, until, capabilities FROM fw_workers ORDER BY worker")?;
    let mut rows = select.query([])?;
    let mut workers = Vec::new();
    while let Some(row) = rows.next()? {
        let until = Millis(row.get(1)?);
        workers.push(WorkerView {
            worker: WorkerId(u128::from_be_bytes(row.get(0)?)),
            capabilities: known(
                row.get_ref(2)?
                    .as_blob()
                    .map_err(|e| Fault::corrupt(e.to_string()))?,
            )?,
            until,
            silent: until <= read.now,
        });
    }
    Ok(workers)
}

fn known(bytes: &[u8]) -> Outcome<Capabilities> {
    let (format, routes): Known = codec::decode(bytes, "what a worker knows")?;
    let routes = routes.into_iter().map(|(route, version)| {
        let route = Route::parse(route).map_err(|error| Fault::corrupt(error.to_string()))?;
        Ok((route, Capability { version }))
    });
    Ok(Capabilities {
        routes: routes.collect::<Outcome<_>>()?,
        format,
    })
}
