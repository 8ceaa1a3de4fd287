//! Jobs as they are stored.
use super::{record::LeasedJob, tenants::signed};
use crate::{
    error::{Fault, Outcome},
    names::Names,
};
use bytes::Bytes;
use foldwright_domain::{EventId, Millis, Position};
use foldwright_ports::{BlobHash, Body, HandedJob, JobId, NewJob, QueueSettings};
use rusqlite::{Connection, Row, params};

/// Selects what a worker gets of a job, in the order in which [`Stored::read`] takes it.
macro_rules! select_jobs {
    ($rest:literal) => {
        concat!(
            "SELECT seq, tenant, id, route, format, staged_at, position_at, position_id, body_hash, body_bytes,
             context_hash, context_bytes, header, body, context FROM fw_jobs ",
            $rest
        )
    };
}
pub(super) use select_jobs;

/// What a stored job carries, in bytes, as SQL.
macro_rules! stored_bytes {
    () => {
        "(length(header) + coalesce(body_bytes, length(body), 0) + coalesce(context_bytes, length(context), 0))"
    };
}
pub(super) use stored_bytes;

/// A job as it was read.
pub(super) struct Stored {
    pub(super) seq: i64,
    pub(super) tenant: i64,
    pub(super) route: i64,
    pub(super) job: HandedJob,
}

impl Stored {
    pub(super) fn read(db: &Connection, names: &mut Names, row: &Row<'_>) -> Outcome<Self> {
        let route = row.get(3)?;
        Ok(Self {
            seq: row.get(0)?,
            tenant: row.get(1)?,
            route,
            job: HandedJob {
                id: JobId(row.get(2)?),
                route: names.route(db, route)?,
                position: position(row, 6)?,
                staged_at: Millis(row.get(5)?),
                format: row.get(4)?,
                header: row.get::<_, Vec<u8>>(12)?.into(),
                body: body(row, 8, 13)?
                    .ok_or_else(|| Fault::corrupt("a job has neither a body nor a reference"))?,
                context: body(row, 10, 14)?,
            },
        })
    }

    pub(super) fn leased(&self) -> LeasedJob {
        LeasedJob {
            seq: self.seq,
            route: self.route,
            holds: self.job.body.blob().is_some()
                || self.job.context.as_ref().is_some_and(|c| c.blob().is_some()),
            bytes: Some(signed(self.bytes())),
        }
    }

    pub(super) fn bytes(&self) -> u64 {
        self.job.header.len() as u64
            + self.job.body.stored_bytes()
            + self.job.context.as_ref().map_or(0, Body::stored_bytes)
    }
}

/// The position in two columns.
pub(super) fn position(row: &Row<'_>, at: usize) -> Outcome<Option<Position>> {
    let Some(occurred_at) = row.get::<_, Option<i64>>(at)? else {
        return Ok(None);
    };
    Ok(Some(Position {
        occurred_at: Millis(occurred_at),
        id: EventId::from_u128(u128::from_be_bytes(row.get(at + 1)?)),
    }))
}

fn body(row: &Row<'_>, reference: usize, inline: usize) -> Outcome<Option<Body>> {
    if let Some(hash) = row.get::<_, Option<[u8; 32]>>(reference)? {
        let bytes: i64 = row.get(reference + 1)?;
        return Ok(Some(Body::Blob {
            hash: BlobHash(hash),
            bytes: u64::try_from(bytes).unwrap_or(0),
        }));
    }
    let bytes: Option<Vec<u8>> = row.get(inline)?;
    Ok(bytes.map(|bytes| Body::Inline(Bytes::from(bytes))))
}

/// What a job holds or carries, as columns.
struct BodyColumns<'a> {
    hash: Option<&'a [u8]>,
    bytes: Option<i64>,
    inline: Option<&'a [u8]>,
}

impl<'a> BodyColumns<'a> {
    fn of(body: Option<&'a Body>) -> Self {
        let (hash, bytes, inline) = match body {
            None => (None, None, None),
            Some(Body::Inline(bytes)) => (None, None, Some(bytes.as_ref())),
            Some(Body::Blob { hash, bytes }) => (
                Some(hash.0.as_slice()),
                Some(i64::try_from(*bytes).unwrap_or(i64::MAX)),
                None,
            ),
        };
        Self { hash, bytes, inline }
    }
}

/// Where a new job goes.
pub(super) struct Place {
    pub(super) seq: i64,
    pub(super) tenant: i64,
    pub(super) gid: i64,
    pub(super) route: i64,
    pub(super) score: i64,
    pub(super) due: i64,
    pub(super) staged_at: i64,
}

/// A context, as columns.
struct ContextColumns<'a> {
    of: Option<&'a [u8]>,
    body: BodyColumns<'a>,
}

impl<'a> ContextColumns<'a> {
    fn of(job: &'a NewJob) -> Self {
        let context = job.context.as_ref();
        Self {
            of: context.map(|context| context.of.as_slice()),
            body: BodyColumns::of(context.map(|context| &context.body)),
        }
    }
}

/// Adds a job; answers `false` where its id is there already.
pub(super) fn insert(db: &Connection, place: &Place, job: &NewJob) -> Outcome<bool> {
    let (body, context) = (BodyColumns::of(Some(&job.body)), ContextColumns::of(job));
    let (at, id) = columns_of(job.position);
    let added = db
        .prepare_cached(
            "INSERT INTO fw_jobs (seq, tenant, id, gid, score, due, staged_at, route, format, position_at,
             position_id, body_hash, body_bytes, context_hash, context_bytes, context_of, header, body, context)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19)
             ON CONFLICT (tenant, id) DO NOTHING",
        )?
        .execute(params![
            place.seq,
            place.tenant,
            job.id.0,
            place.gid,
            place.score,
            place.due,
            place.staged_at,
            place.route,
            job.format,
            at,
            id,
            body.hash,
            body.bytes,
            context.body.hash,
            context.body.bytes,
            context.of,
            job.header.as_ref(),
            body.inline,
            context.body.inline
        ])?;
    Ok(added == 1)
}

/// Gives a job all that another one carries; its place, id and times stay.
pub(super) fn replace(db: &Connection, seq: i64, job: &NewJob) -> Outcome<()> {
    let body = BodyColumns::of(Some(&job.body));
    let (at, id) = columns_of(job.position);
    db.prepare_cached(
        "UPDATE fw_jobs SET format = ?2, position_at = ?3, position_id = ?4, body_hash = ?5, body_bytes = ?6,
         header = ?7, body = ?8 WHERE seq = ?1",
    )?
    .execute(params![
        seq,
        job.format,
        at,
        id,
        body.hash,
        body.bytes,
        job.header.as_ref(),
        body.inline
    ])?;
    replace_context(db, seq, job)
}

/// Gives a job the context of another one.
pub(super) fn replace_context(db: &Connection, seq: i64, job: &NewJob) -> Outcome<()> {
    let context = ContextColumns::of(job);
    db.prepare_cached(
        "UPDATE fw_jobs SET context_hash = ?2, context_bytes = ?3, context_of = ?4, context = ?5 WHERE seq = ?1",
    )?
    .execute(params![
        seq,
        context.body.hash,
        context.body.bytes,
        context.of,
        context.body.inline
    ])?;
    Ok(())
}

fn columns_of(position: Option<Position>) -> (Option<i64>, Option<[u8; 16]>) {
    (
        position.map(|p| p.occurred_at.0),
        position.map(|p| p.id.as_u128().to_be_bytes()),
    )
}

pub(super) fn delete(db: &Connection, seq: i64) -> Outcome<()> {
    db.prepare_cached("DELETE FROM fw_jobs WHERE seq = ?1")?
        .execute([seq])?;
    Ok(())
}

pub(super) fn bytes_of(db: &Connection, seq: i64) -> Outcome<i64> {
    Ok(db
        .prepare_cached(concat!(
            "SELECT ",
            stored_bytes!(),
            " FROM fw_jobs WHERE seq = ?1"
        ))?
        .query_row([seq], |row| row.get(0))?)
}

pub(super) fn id_of(db: &Connection, seq: i64) -> Outcome<JobId> {
    let id = db
        .prepare_cached("SELECT id FROM fw_jobs WHERE seq = ?1")?
        .query_row([seq], |row| row.get(0))?;
    Ok(JobId(id))
}

/// A job's score: its business time, clamped to a window around the store's time.
pub(super) fn score(job: &NewJob, now: Millis, settings: &QueueSettings) -> i64 {
    job.position.map_or(now.0, |position| {
        let (earliest, latest) = (now.minus(settings.score_past), now.plus(settings.score_future));
        position.occurred_at.max(earliest).min(latest).0
    })
}

/// Whether a body at `new` is canonically later than one at `old`.
pub(super) fn is_later(new: Option<Position>, old: Option<Position>) -> bool {
    new.is_none() || new > old
}
