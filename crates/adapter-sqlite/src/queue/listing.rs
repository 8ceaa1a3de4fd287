//! Groups and jobs in lists.
use super::{
    group::{Group, select_groups},
    jobs::stored_bytes,
    state::{Sight, at},
    tenants::unsigned,
};
use crate::{
    codec,
    error::{Fault, Outcome},
    page::{Filling, limit_of},
    reader::Read,
};
use foldwright_domain::{Millis, TenantId};
use foldwright_ports::{
    Cursor, Fingerprint, GroupFilter, GroupId, GroupLine, JobId, JobState, JobView, Limits, Page,
};
use rusqlite::{OptionalExtension, Row, params};

/// Groups that one page looks at, at most, however few of them are selected: a read must not last for ever.
const LOOKED_AT: usize = 2_000;

/// Selects what [`Job::read`] takes.
macro_rules! select_views {
    ($rest:literal) => {
        concat!(
            "SELECT seq, gid, tenant, id, route, score, staged_at, due, header, ",
            stored_bytes!(),
            " FROM fw_jobs ",
            $rest
        )
    };
}

/// Groups with at least one job, in the order in which they began.
pub(super) fn groups(
    read: &mut Read<'_>,
    filter: &GroupFilter,
    from: Option<&Cursor>,
    limits: Limits,
) -> Outcome<Page<GroupLine>> {
    let mut page = Filling::new(limits);
    let after = from.map_or(Ok(i64::MIN), codec::cursor)?;
    let full = walk(read, filter, after, LOOKED_AT, |line, group| {
        let bytes = line.group.key.len() + line.error.as_ref().map_or(0, String::len);
        page.offer(line, bytes, group.gid)
    })?;
    if let Some(last) = full {
        page.stop_at(last);
    }
    page.finish()
}

/// Shows the selected ones of at most `most` groups behind `after` until one is not taken. Answers how far it came where
/// more may follow that was not looked at.
pub(super) fn walk(
    read: &mut Read<'_>,
    filter: &GroupFilter,
    after: i64,
    most: usize,
    mut show: impl FnMut(GroupLine, &Group) -> bool,
) -> Outcome<Option<i64>> {
    let db = read.db;
    let tenant = match &filter.tenant {
        None => None,
        Some(tenant) => match read.names.find(db, tenant.as_str())? {
            None => return Ok(None),
            found => found,
        },
    };
    let mut sight = Sight::new(read)?;
    let mut select = db.prepare_cached(select_groups!("WHERE gid > ?1 ORDER BY gid LIMIT ?2"))?;
    let mut rows = select.query((after, limit_of(most)))?;
    let (mut looked_at, mut last) = (0, after);
    while let Some(row) = rows.next()? {
        let group = Group::read(row)?;
        (looked_at, last) = (looked_at + 1, group.gid);
        if tenant.is_some_and(|tenant| tenant != group.tenant) {
            continue;
        }
        if let Some(line) = line(read, &mut sight, &group)?
            && selects(filter, &line)
            && !show(line, &group)
        {
            return Ok(None);
        }
    }
    Ok((looked_at == most).then_some(last))
}

/// `None` for a group without a job.
fn line(read: &mut Read<'_>, sight: &mut Sight, group: &Group) -> Outcome<Option<GroupLine>> {
    let seen = sight.look(read, group)?;
    let Some(first) = seen.first else {
        return Ok(None);
    };
    Ok(Some(GroupLine {
        group: group.id(read.db, read.names)?,
        state: seen.state,
        route: read.names.route(read.db, first.route)?,
        jobs: group.counts.total(),
        bytes: unsigned(group.bytes),
        failures: group.more.failures,
        error: group.more.last_error.clone(),
        at: at(&seen),
    }))
}

/// Whether a filter selects a group; its tenant was looked at before.
fn selects(filter: &GroupFilter, line: &GroupLine) -> bool {
    filter.route.as_ref().is_none_or(|route| *route == line.route)
        && filter.state.is_none_or(|state| state == line.state)
        && filter
            .error
            .is_none_or(|error| line.error.as_deref().map(Fingerprint::of) == Some(error))
}

/// A group as a list shows it, if the filter selects it now.
pub(super) fn one(read: &mut Read<'_>, filter: &GroupFilter, id: &GroupId) -> Outcome<Option<GroupLine>> {
    let Some(group) = Group::find(read.db, read.names, id)? else {
        return Ok(None);
    };
    let mut sight = Sight::new(read)?;
    Ok(line(read, &mut sight, &group)?.filter(|line| selects(filter, line)))
}

struct Job {
    seq: i64,
    gid: Option<i64>,
    tenant: i64,
    view: JobView,
}

impl Job {
    fn read(read: &mut Read<'_>, row: &Row<'_>, group: GroupId) -> Outcome<Self> {
        Ok(Self {
            seq: row.get(0)?,
            gid: row.get(1)?,
            tenant: row.get(2)?,
            view: JobView {
                id: JobId(row.get(3)?),
                group,
                route: read.names.route(read.db, row.get(4)?)?,
                state: JobState::Waiting,
                score: Millis(row.get(5)?),
                staged_at: Millis(row.get(6)?),
                not_before: Millis(row.get(7)?),
                header: row.get::<_, Vec<u8>>(8)?.into(),
                bytes: unsigned(row.get(9)?),
            },
        })
    }
}

fn state_in(group: &Group, seq: i64) -> JobState {
    if group.holds_leased(seq) {
        JobState::Leased
    } else if group.more.blocked.is_some() {
        JobState::Blocked
    } else {
        JobState::Waiting
    }
}

/// The jobs of a group, in order.
pub(super) fn jobs(
    read: &mut Read<'_>,
    id: &GroupId,
    from: Option<&Cursor>,
    limits: Limits,
) -> Outcome<Page<JobView>> {
    let db = read.db;
    let (score, seq): (i64, i64) = from.map_or(Ok((i64::MIN, i64::MIN)), codec::cursor)?;
    let Some(group) = Group::find(db, read.names, id)? else {
        return Ok(Page::last(Vec::new()));
    };
    let mut select = db.prepare_cached(select_views!(
        "WHERE gid = ?1 AND (score, seq) > (?2, ?3) ORDER BY score, seq"
    ))?;
    let mut rows = select.query((group.gid, score, seq))?;
    let mut page = Filling::new(limits);
    while let Some(row) = rows.next()? {
        let mut job = Job::read(read, row, id.clone())?;
        if job.tenant != group.tenant {
            return Err(Fault::Foreign("stored job"));
        }
        job.view.state = state_in(&group, job.seq);
        let key = (job.view.score.0, job.seq);
        let bytes = job.view.header.len();
        if !page.offer(job.view, bytes, key) {
            break;
        }
    }
    page.finish()
}

/// One job.
pub(super) fn job(read: &mut Read<'_>, tenant: &TenantId, id: JobId) -> Outcome<Option<JobView>> {
    let db = read.db;
    let Some(number) = read.names.find(db, tenant.as_str())? else {
        return Ok(None);
    };
    let mut select = db.prepare_cached(select_views!("WHERE tenant = ?1 AND id = ?2"))?;
    let mut rows = select.query(params![number, id.0])?;
    let Some(row) = rows.next()? else {
        return Ok(None);
    };
    let nameless = GroupId {
        tenant: tenant.clone(),
        path: "".into(),
        key: "".into(),
    };
    let mut job = Job::read(read, row, nameless)?;
    let (owner, path, key, state) = match job.gid {
        Some(gid) => {
            let mut select = db.prepare_cached(select_groups!("WHERE gid = ?1"))?;
            let mut rows = select.query([gid])?;
            let row = rows
                .next()?
                .ok_or_else(|| Fault::corrupt(format!("group {gid} is missing")))?;
            let group = Group::read(row)?;
            let state = state_in(&group, job.seq);
            (group.tenant, group.path, group.key, state)
        }
        None => db
            .prepare_cached("SELECT tenant, path, key FROM fw_dead WHERE seq = ?1")?
            .query_row([job.seq], |row| {
                Ok((row.get(0)?, row.get(1)?, row.get(2)?, JobState::Dead))
            })
            .optional()?
            .ok_or_else(|| Fault::corrupt("a dead letter has lost its record"))?,
    };
    if owner != number {
        return Err(Fault::Foreign("stored job"));
    }
    job.view.state = state;
    job.view.group.path = read.names.text(db, path)?;
    job.view.group.key = key.into();
    Ok(Some(job.view))
}
