//! Which jobs hold which bodies.
use crate::{error::Outcome, reader::Read, writer::Write};
use foldwright_domain::Millis;
use foldwright_ports::{BlobHash, BlobRef, Held, NewJob};
use rusqlite::{Connection, OptionalExtension, params};

/// The bodies that a job holds.
pub(super) fn of_job(job: &NewJob) -> impl Iterator<Item = BlobHash> {
    let context = job.context.as_ref().and_then(|context| context.body.blob());
    job.body.blob().into_iter().chain(context)
}

/// The bodies that a stored job holds.
pub(super) fn of_stored(db: &Connection, seq: i64) -> Outcome<Vec<BlobHash>> {
    let [body, context] = db
        .prepare_cached("SELECT body_hash, context_hash FROM fw_jobs WHERE seq = ?1")?
        .query_row([seq], |row| Ok([row.get::<_, Option<[u8; 32]>>(0)?, row.get(1)?]))?;
    Ok([body, context].into_iter().flatten().map(BlobHash).collect())
}

pub(super) fn take(db: &Connection, tenant: i64, hash: BlobHash, seq: i64) -> Outcome<()> {
    db.prepare_cached("INSERT INTO fw_holds (tenant, hash, seq) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING")?
        .execute(params![tenant, hash.0, seq])?;
    Ok(())
}

/// Lets go of a body, and notes when the last one did.
pub(super) fn release(write: &Write<'_>, tenant: i64, hash: BlobHash, seq: i64) -> Outcome<()> {
    let released = write
        .db
        .prepare_cached("DELETE FROM fw_holds WHERE tenant = ?1 AND hash = ?2 AND seq = ?3")?
        .execute(params![tenant, hash.0, seq])?;
    if released == 1 && !is_held(write.db, tenant, hash)? {
        write
            .db
            .prepare_cached(
                "INSERT INTO fw_released (tenant, hash, at) VALUES (?1, ?2, ?3)
                 ON CONFLICT DO UPDATE SET at = excluded.at",
            )?
            .execute(params![tenant, hash.0, write.now.0])?;
    }
    Ok(())
}

fn is_held(db: &Connection, tenant: i64, hash: BlobHash) -> Outcome<bool> {
    Ok(db
        .prepare_cached("SELECT EXISTS (SELECT 1 FROM fw_holds WHERE tenant = ?1 AND hash = ?2)")?
        .query_row(params![tenant, hash.0], |row| row.get(0))?)
}

/// Who holds these bodies.
pub(super) fn held(read: &mut Read<'_>, blobs: &[BlobRef]) -> Outcome<Vec<Held>> {
    blobs
        .iter()
        .map(|blob| {
            let Some(tenant) = read.names.find(read.db, blob.tenant.as_str())? else {
                return Ok(Held::Never);
            };
            if is_held(read.db, tenant, blob.hash)? {
                return Ok(Held::Yes);
            }
            let at = read
                .db
                .prepare_cached("SELECT at FROM fw_released WHERE tenant = ?1 AND hash = ?2")?
                .query_row(params![tenant, blob.hash.0], |row| row.get(0))
                .optional()?;
            Ok(at.map_or(Held::Never, |at| Held::Released(Millis(at))))
        })
        .collect()
}

/// Forgets when these bodies were last released.
pub(super) fn forget(write: &mut Write<'_>, blobs: &[BlobRef]) -> Outcome<()> {
    for blob in blobs {
        if let Some(tenant) = write.names.find(write.db, blob.tenant.as_str())? {
            write
                .db
                .prepare_cached("DELETE FROM fw_released WHERE tenant = ?1 AND hash = ?2")?
                .execute(params![tenant, blob.hash.0])?;
        }
    }
    Ok(())
}
