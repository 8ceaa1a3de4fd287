//! Writing a group's row.
use super::group::{Group, Turn, end_number};
use crate::{codec, error::Outcome};
use rusqlite::{Connection, params};

/// What the indexed columns of a group hold.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Stored {
    pub(super) turn: Turn,
    pub(super) blocked_at: Option<i64>,
}

impl Stored {
    pub(super) fn of(group: &Group) -> Self {
        Self {
            turn: group.turn,
            blocked_at: group.more.blocked.as_ref().map(|block| block.since),
        }
    }
}

/// Writes a row; indexed columns only where they changed, because an index is rewritten whenever it is named.
pub(super) fn store(db: &Connection, group: &Group, before: Option<Stored>) -> Outcome<()> {
    let now = Stored::of(group);
    let head = now.turn.head;
    let (slot, due, seq, score) = (
        head.map(|h| h.slot),
        head.map(|h| h.due),
        head.map(|h| h.seq),
        head.map(|h| h.score),
    );
    let counts = codec::encode(&group.counts)?;
    let lease = group.lease.as_ref();
    let (fence, until) = (lease.map(|l| l.fence), lease.map(|l| l.until));
    let leased = lease.map(|l| codec::encode_second(&l.jobs)).transpose()?;
    let end = (end_number(group.previous), group.completed);
    let more = group.more_bytes()?;
    match before {
        Some(before) if before == now => db
            .prepare_cached(
                "UPDATE fw_groups SET counts = ?2, fence = ?3, until = ?4, leased = ?5, previous = ?6, completed = ?7,
                 more = ?8, bytes = ?9 WHERE gid = ?1",
            )?
            .execute(params![group.gid, counts, fence, until, leased, end.0, end.1, more, group.bytes])?,
        Some(before) if before.turn.recheck == now.turn.recheck && before.blocked_at == now.blocked_at => db
            .prepare_cached(
                "UPDATE fw_groups SET counts = ?2, fence = ?3, until = ?4, leased = ?5, previous = ?6, completed = ?7,
                 more = ?8, slot = ?9, at = ?10, head = ?11, score = ?12, bytes = ?13 WHERE gid = ?1",
            )?
            .execute(params![
                group.gid, counts, fence, until, leased, end.0, end.1, more, slot, due, seq, score, group.bytes
            ])?,
        Some(_) => db
            .prepare_cached(
                "UPDATE fw_groups SET counts = ?2, fence = ?3, until = ?4, leased = ?5, previous = ?6, completed = ?7,
                 more = ?8, slot = ?9, at = ?10, head = ?11, score = ?12, recheck = ?13, blocked_at = ?14,
                 bytes = ?15 WHERE gid = ?1",
            )?
            .execute(params![
                group.gid,
                counts,
                fence,
                until,
                leased,
                end.0,
                end.1,
                more,
                slot,
                due,
                seq,
                score,
                now.turn.recheck,
                now.blocked_at,
                group.bytes
            ])?,
        None => db
            .prepare_cached(
                "INSERT INTO fw_groups (gid, counts, fence, until, leased, previous, completed, more, slot, at, head,
                 score, recheck, blocked_at, tenant, path, key, bytes)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18)",
            )?
            .execute(params![
                group.gid,
                counts,
                fence,
                until,
                leased,
                end.0,
                end.1,
                more,
                slot,
                due,
                seq,
                score,
                now.turn.recheck,
                now.blocked_at,
                group.tenant,
                group.path,
                group.key,
                group.bytes
            ])?,
    };
    Ok(())
}
