//! Counting what the figures claim to count.
use super::{SqliteQueue, group, jobs::stored_bytes, work::Work};
use crate::{error::Outcome, reader::Read, writer::Write};
use foldwright_ports::{Drift, Figure, Result};
use rusqlite::Connection;
use std::collections::BTreeMap;

/// Waiting, leased, blocked and dead jobs of a route.
type Depth = [i64; 4];
/// Groups in flight, jobs and bytes of a tenant.
type Load = [i64; 3];

/// All figures, by the number of their route or tenant.
#[derive(Default)]
struct Figures {
    depths: BTreeMap<i64, Depth>,
    loads: BTreeMap<i64, Load>,
}

/// How far the figures are off, and which recount found it.
struct Found {
    drifts: Vec<Drift>,
    depths: Vec<(i64, Depth)>,
    loads: Vec<(i64, Load)>,
    recounts: i64,
}

/// Counts in one view of the file, beside live work, and then moves each figure by what it was off: what was written
/// meanwhile stays counted. Where another recount was written in between, it has done the work, and nothing is answered.
pub(super) async fn recount(queue: &SqliteQueue) -> Result<Vec<Drift>> {
    let found = queue.store.readers.run("recount", count).await?;
    if found.drifts.is_empty() {
        return Ok(found.drifts);
    }
    let Found {
        drifts,
        depths,
        loads,
        recounts,
    } = found;
    let written = queue
        .store
        .writer
        .run("recount", 0, move |write| {
            correct(write, recounts, &depths, &loads)
        })
        .await?;
    Ok(if written { drifts } else { Vec::new() })
}

fn count(read: &mut Read<'_>) -> Outcome<Found> {
    let db = read.db;
    let recounts = db.query_row("SELECT recounts FROM fw_queue", [], |row| row.get(0))?;
    let (said, counted) = (stored(db)?, counted(db)?);
    let mut found = Found {
        drifts: Vec::new(),
        depths: Vec::new(),
        loads: Vec::new(),
        recounts,
    };
    for (number, was, is) in pairs(&said.depths, &counted.depths) {
        let route = read.names.route(db, number)?;
        let figures = [Figure::Waiting, Figure::Leased, Figure::Blocked, Figure::Dead];
        let drifts = figures.map(|figure| figure(route.clone()));
        found.drifts.extend(off(drifts, was, is));
        found.depths.push((number, difference(was, is)));
    }
    for (number, was, is) in pairs(&said.loads, &counted.loads) {
        let tenant = read.names.tenant(db, number)?;
        let figures = [Figure::InFlight, Figure::Jobs, Figure::Bytes];
        let drifts = figures.map(|figure| figure(tenant.clone()));
        found.drifts.extend(off(drifts, was, is));
        found.loads.push((number, difference(was, is)));
    }
    found.drifts.sort_by(|a, b| a.figure.cmp(&b.figure));
    Ok(found)
}

/// What is said and what there is, where the two differ.
fn pairs<const N: usize>(
    said: &BTreeMap<i64, [i64; N]>,
    counted: &BTreeMap<i64, [i64; N]>,
) -> Vec<(i64, [i64; N], [i64; N])> {
    let mut all: BTreeMap<i64, ([i64; N], [i64; N])> = BTreeMap::new();
    for (number, was) in said {
        all.entry(*number).or_insert(([0; N], [0; N])).0 = *was;
    }
    for (number, is) in counted {
        all.entry(*number).or_insert(([0; N], [0; N])).1 = *is;
    }
    let differing = all.into_iter().filter(|(_, (was, is))| was != is);
    differing.map(|(number, (was, is))| (number, was, is)).collect()
}

fn off<const N: usize>(figures: [Figure; N], was: [i64; N], is: [i64; N]) -> impl Iterator<Item = Drift> {
    let drifts = figures.into_iter().zip(was).zip(is);
    drifts
        .filter(|((_, was), is)| was != is)
        .map(|((figure, was), is)| Drift { figure, was, is })
}

fn difference<const N: usize>(was: [i64; N], is: [i64; N]) -> [i64; N] {
    let mut by = is;
    for (by, was) in by.iter_mut().zip(was) {
        *by -= was;
    }
    by
}

fn stored(db: &Connection) -> Outcome<Figures> {
    let mut figures = Figures::default();
    each(
        db,
        "SELECT route, waiting, leased, blocked, dead FROM fw_depths",
        |row| {
            let depth = [row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?];
            figures.depths.insert(row.get(0)?, depth);
            Ok(())
        },
    )?;
    each(
        db,
        "SELECT tenant, in_flight, jobs, bytes FROM fw_tenants",
        |row| {
            figures
                .loads
                .insert(row.get(0)?, [row.get(1)?, row.get(2)?, row.get(3)?]);
            Ok(())
        },
    )?;
    Ok(figures)
}

fn counted(db: &Connection) -> Outcome<Figures> {
    let mut figures = Figures::default();
    let of_groups = "SELECT j.route, g.blocked_at IS NOT NULL, count(*) FROM fw_jobs j
                     JOIN fw_groups g ON g.gid = j.gid GROUP BY 1, 2";
    each(db, of_groups, |row| {
        let [waiting, _, blocked, _] = figures.depths.entry(row.get(0)?).or_default();
        let state = if row.get(1)? { blocked } else { waiting };
        *state += row.get::<_, i64>(2)?;
        Ok(())
    })?;
    each(
        db,
        "SELECT route, count(*) FROM fw_jobs WHERE gid IS NULL GROUP BY 1",
        |row| {
            let [.., dead] = figures.depths.entry(row.get(0)?).or_default();
            *dead += row.get::<_, i64>(1)?;
            Ok(())
        },
    )?;
    each(
        db,
        "SELECT tenant, leased FROM fw_groups WHERE fence IS NOT NULL",
        |row| {
            let leased = group::leased_jobs(row, 1)?.0;
            for job in &leased {
                let [waiting, leased, ..] = figures.depths.entry(job.route).or_default();
                (*waiting, *leased) = (*waiting - 1, *leased + 1);
            }
            if !leased.is_empty() {
                let [in_flight, ..] = figures.loads.entry(row.get(0)?).or_default();
                *in_flight += 1;
            }
            Ok(())
        },
    )?;
    let of_tenants = concat!(
        "SELECT tenant, count(*), sum(",
        stored_bytes!(),
        ") FROM fw_jobs WHERE gid IS NOT NULL GROUP BY 1"
    );
    each(db, of_tenants, |row| {
        let [_, jobs, bytes] = figures.loads.entry(row.get(0)?).or_default();
        (*jobs, *bytes) = (row.get(1)?, row.get(2)?);
        Ok(())
    })?;
    Ok(figures)
}

fn each(db: &Connection, sql: &str, mut take: impl FnMut(&rusqlite::Row<'_>) -> Outcome<()>) -> Outcome<()> {
    let mut select = db.prepare(sql)?;
    let mut rows = select.query([])?;
    while let Some(row) = rows.next()? {
        take(row)?;
    }
    Ok(())
}

/// Moves the figures by what they were off; answers `false` where another recount was faster.
fn correct(
    write: &mut Write<'_>,
    recounts: i64,
    depths: &[(i64, Depth)],
    loads: &[(i64, Load)],
) -> Outcome<bool> {
    let first = write
        .db
        .prepare_cached("UPDATE fw_queue SET recounts = recounts + 1 WHERE recounts = ?1")?
        .execute([recounts])?;
    if first == 0 {
        return Ok(false);
    }
    let mut work = Work::new(write)?;
    for (route, by) in depths {
        work.depths.shift_all(*route, *by);
    }
    for (tenant, [in_flight, jobs, bytes]) in loads {
        let tenant = &mut work.tenants.seat(work.write.db, *tenant)?.tenant;
        tenant.in_flight += in_flight;
        tenant.jobs += jobs;
        tenant.bytes += bytes;
    }
    work.write.woke = true;
    work.save()?;
    Ok(true)
}
