//! One verb for many groups.
use super::{SqliteQueue, admin, dead, listing, work::Work};
use crate::{
    codec,
    error::{Fault, Outcome},
    page::limit_of,
    reader::Read,
};
use foldwright_domain::TenantId;
use foldwright_ports::{Cursor, GroupFilter, GroupId, JobId, Result, Swept, Verb};
use rusqlite::params;
use std::collections::BTreeSet;

/// Jobs that one write removes at most: other calls go on in between.
const STEP: usize = 1_000;

/// Why a group's jobs are dead letters that were given up with many others.
const REASON: &str = "given up by an operator, with other groups";

/// What a verb would touch in a group.
struct Touch {
    group: GroupId,
    jobs: u64,
}

/// Does a verb to a page of groups. They are looked for by a reader, and each is looked at again when it is written to.
pub(super) async fn sweep(
    queue: &SqliteQueue,
    verb: Verb,
    filter: &GroupFilter,
    dry_run: bool,
    from: Option<Cursor>,
    groups: usize,
) -> Result<Swept> {
    let wanted = filter.clone();
    let (found, next) = queue
        .store
        .readers
        .run("sweep", move |read| {
            look(read, verb, &wanted, from.as_ref(), groups)
        })
        .await?;
    let mut swept = Swept {
        next,
        ..Swept::default()
    };
    for touch in found {
        let jobs = if dry_run {
            touch.jobs
        } else {
            apply(queue, verb, filter, touch.group).await?
        };
        if jobs > 0 {
            swept.groups += 1;
            swept.jobs += jobs;
        }
    }
    Ok(swept)
}

fn look(
    read: &mut Read<'_>,
    verb: Verb,
    filter: &GroupFilter,
    from: Option<&Cursor>,
    groups: usize,
) -> Outcome<(Vec<Touch>, Option<Cursor>)> {
    let after = from.map_or(Ok(i64::MIN), codec::cursor)?;
    let mut found = Vec::new();
    let last = listing::walk(read, filter, after, groups, |line, group| {
        let jobs = match verb {
            Verb::Unblock if group.more.blocked.is_none() => 0,
            Verb::Unblock => line.jobs,
            Verb::Drain | Verb::Bury => {
                let leased = group.lease.as_ref().map_or(0, |lease| lease.jobs.0.len());
                line.jobs.saturating_sub(leased as u64)
            }
        };
        found.push(Touch {
            group: line.group,
            jobs,
        });
        true
    })?;
    let next = last.map(|last| codec::encode(&last)).transpose()?;
    Ok((found, next.map(|bytes| Cursor(bytes.into()))))
}

/// Does a verb to a group if the filter still selects it; answers how many jobs it touched.
async fn apply(queue: &SqliteQueue, verb: Verb, filter: &GroupFilter, group: GroupId) -> Result<u64> {
    let mut touched = 0;
    loop {
        let (first, filter, group) = (touched == 0, filter.clone(), group.clone());
        let step = queue
            .change("sweep", move |work| {
                let line = listing::one(&mut work.write.read(), &filter, &group)?;
                match (line, verb) {
                    (None, _) if first => Ok(0),
                    (line, Verb::Unblock) => {
                        let jobs = line.map_or(0, |line| line.jobs);
                        Ok(if admin::unblock(work, &group)? { jobs } else { 0 })
                    }
                    (_, Verb::Drain) => admin::drain(work, &group, STEP).map(|jobs| jobs as u64),
                    (_, Verb::Bury) => admin::bury(work, &group, REASON, STEP).map(|jobs| jobs as u64),
                }
            })
            .await?;
        touched += step;
        if step < STEP as u64 || verb == Verb::Unblock {
            return Ok(touched);
        }
    }
}

/// Puts back the oldest dead letters, at most `letters` of them.
pub(super) fn requeue_all(
    work: &mut Work<'_, '_>,
    tenant: Option<&TenantId>,
    letters: usize,
) -> Outcome<Swept> {
    let mut swept = Swept::default();
    let tenant = match tenant {
        None => None,
        Some(tenant) => match work.write.names.find(work.write.db, tenant.as_str())? {
            None => return Ok(swept),
            found => found,
        },
    };
    let mut groups = BTreeSet::new();
    let mut found = oldest(work, tenant, letters.saturating_add(1))?;
    if found.len() > letters {
        found.truncate(letters);
        // Those put back are gone from the list, so the next page begins where this one did.
        swept.next = Some(Cursor(codec::encode(&())?.into()));
    }
    for letter in found {
        let owner = work.write.names.tenant(work.write.db, letter.tenant)?;
        if !dead::requeue(work, &owner, letter.job)? {
            return Err(Fault::Foreign("dead letter"));
        }
        groups.insert((letter.tenant, letter.path, letter.key));
        swept.jobs += 1;
    }
    swept.groups = groups.len() as u64;
    Ok(swept)
}

struct Letter {
    tenant: i64,
    path: i64,
    key: String,
    job: JobId,
}

fn oldest(work: &Work<'_, '_>, tenant: Option<i64>, most: usize) -> Outcome<Vec<Letter>> {
    let mut select = work.write.db.prepare_cached(if tenant.is_some() {
        "SELECT d.tenant, d.path, d.key, j.id FROM fw_dead d JOIN fw_jobs j ON j.seq = d.seq
         WHERE d.tenant = ?1 ORDER BY d.since, d.seq LIMIT ?2"
    } else {
        "SELECT d.tenant, d.path, d.key, j.id FROM fw_dead d JOIN fw_jobs j ON j.seq = d.seq
         WHERE ?1 IS NULL ORDER BY d.since, d.seq LIMIT ?2"
    })?;
    let mut rows = select.query(params![tenant, limit_of(most)])?;
    let mut letters = Vec::new();
    while let Some(row) = rows.next()? {
        letters.push(Letter {
            tenant: row.get(0)?,
            path: row.get(1)?,
            key: row.get(2)?,
            job: JobId(row.get(3)?),
        });
    }
    Ok(letters)
}
