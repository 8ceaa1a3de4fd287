//! Answers of commands, for their receipts.
use super::{jobs, record::LeasedJob, work::Work};
use crate::{
    error::{Fault, Outcome},
    page::limit_of,
    reader::Read,
    writer::Write,
};
use bytes::Bytes;
use foldwright_domain::{Millis, TenantId};
use foldwright_ports::{Answer, JobId};
use rusqlite::{OptionalExtension, params};

/// Keeps the answers of those jobs that are done.
pub(super) fn keep(
    work: &mut Work<'_, '_>,
    tenant: i64,
    done: &[LeasedJob],
    answers: &[Answer],
) -> Outcome<()> {
    let db = work.write.db;
    for job in done {
        let id = jobs::id_of(db, job.seq)?;
        let Some(answer) = answers.iter().find(|answer| answer.job == id) else {
            continue;
        };
        db.prepare_cached(
            "INSERT INTO fw_answers (tenant, id, owner, at, answer) VALUES (?1, ?2, ?1, ?3, ?4)
             ON CONFLICT (tenant, id) DO UPDATE SET at = excluded.at, answer = excluded.answer",
        )?
        .execute(params![tenant, id.0, work.write.now.0, answer.answer.as_ref()])?;
    }
    Ok(())
}

/// The answer of a command, as long as it is kept.
pub(super) fn find(read: &mut Read<'_>, tenant: &TenantId, job: JobId) -> Outcome<Option<Bytes>> {
    let Some(tenant) = read.names.find(read.db, tenant.as_str())? else {
        return Ok(None);
    };
    let found = read
        .db
        .prepare_cached("SELECT owner, at, answer FROM fw_answers WHERE tenant = ?1 AND id = ?2")?
        .query_row(params![tenant, job.0], |row| {
            Ok((row.get::<_, i64>(0)?, row.get(1)?, row.get::<_, Vec<u8>>(2)?))
        })
        .optional()?;
    match found {
        Some((owner, ..)) if owner != tenant => Err(Fault::Foreign("answer")),
        Some((_, at, answer)) if Millis(at).plus(read.settings.queue.answer_ttl) > read.now => {
            Ok(Some(answer.into()))
        }
        _ => Ok(None),
    }
}

/// Forgets answers that are past their time, the oldest first.
pub(super) fn purge(write: &Write<'_>, limit: usize) -> Outcome<()> {
    write
        .db
        .prepare_cached(
            "DELETE FROM fw_answers WHERE at <= ?1 AND n IN (SELECT n FROM fw_answers ORDER BY n LIMIT ?2)",
        )?
        .execute((
            write.now.minus(write.settings.queue.answer_ttl).0,
            limit_of(limit),
        ))?;
    Ok(())
}
