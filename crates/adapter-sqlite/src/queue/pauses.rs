//! Pauses.
use super::{groups::Named, work::Work};
use crate::{
    error::{Fault, Outcome},
    reader::Read,
};
use foldwright_domain::{Millis, TenantId};
use foldwright_ports::{GroupId, Pause, Route, Scope};
use rusqlite::{Connection, OptionalExtension, Row, params};

/// How a scope is stored.
struct Key<'a> {
    kind: i64,
    tenant: i64,
    path: i64,
    name: &'a str,
}

const ALL: i64 = 0;
const PIPELINE: i64 = 1;
const KIND: i64 = 2;
const ROUTE: i64 = 3;
const TENANT: i64 = 4;
const GROUP: i64 = 5;

/// The pause of a tenant or a group by its numbers; kinds up to [`ROUTE`] have none.
fn key(scope: &Scope, mut number: impl FnMut(&str) -> Outcome<Option<i64>>) -> Outcome<Option<Key<'_>>> {
    let mut of = |kind, tenant: Option<&TenantId>, path: Option<&str>, name| {
        let mut numbered = |text: Option<&str>| match text {
            Some(text) => number(text),
            None => Ok(Some(0)),
        };
        let (tenant, path) = (numbered(tenant.map(TenantId::as_str))?, numbered(path)?);
        Ok(tenant.zip(path).map(|(tenant, path)| Key {
            kind,
            tenant,
            path,
            name,
        }))
    };
    match scope {
        Scope::All => of(ALL, None, None, ""),
        Scope::Pipeline(name) => of(PIPELINE, None, None, name),
        Scope::Kind(name) => of(KIND, None, None, name),
        Scope::Route(route) => of(ROUTE, None, None, route.as_str()),
        Scope::Tenant(tenant) => of(TENANT, Some(tenant), None, ""),
        Scope::Group(group) => of(GROUP, Some(&group.tenant), Some(&group.path), &group.key),
    }
}

/// Pauses a scope; the first reason stays.
pub(super) fn pause(work: &mut Work<'_, '_>, scope: &Scope, reason: &str) -> Outcome<bool> {
    let db = work.write.db;
    let names = &mut *work.write.names;
    let Some(key) = key(scope, |text| names.number(db, text).map(Some))? else {
        return Ok(false);
    };
    let added = db
        .prepare_cached(
            "INSERT INTO fw_pauses (kind, tenant, path, name, reason, since) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
             ON CONFLICT DO NOTHING",
        )?
        .execute(params![
            key.kind,
            key.tenant,
            key.path,
            key.name,
            reason,
            work.write.now.0
        ])?;
    if added == 1 {
        apply(work, &key, true)?;
    }
    Ok(added == 1)
}

/// Ends the pause of exactly this scope.
pub(super) fn resume(work: &mut Work<'_, '_>, scope: &Scope) -> Outcome<bool> {
    let db = work.write.db;
    let names = &mut *work.write.names;
    let Some(key) = key(scope, |text| names.find(db, text))? else {
        return Ok(false);
    };
    let removed = db
        .prepare_cached("DELETE FROM fw_pauses WHERE kind = ?1 AND tenant = ?2 AND path = ?3 AND name = ?4")?
        .execute(params![key.kind, key.tenant, key.path, key.name])?;
    if removed == 1 {
        apply(work, &key, false)?;
        work.write.woke = true;
    }
    Ok(removed == 1)
}

fn apply(work: &mut Work<'_, '_>, key: &Key<'_>, paused: bool) -> Outcome<()> {
    let db = work.write.db;
    match key.kind {
        TENANT => work.tenants.seat(db, key.tenant)?.tenant.paused = paused,
        GROUP => {
            let gid = work
                .groups
                .obtain(db, &mut work.numbers, (key.tenant, key.path, key.name))?;
            work.groups.entry(gid)?.misplace().more.paused = paused;
        }
        _ => *work.numbers.pauses() += if paused { 1 } else { -1 },
    }
    Ok(())
}

/// The pauses that cover routes.
pub(super) fn of_routes(db: &Connection) -> Outcome<Vec<Pause>> {
    let mut select = db.prepare_cached("SELECT kind, name, reason, since FROM fw_pauses WHERE kind <= 3")?;
    let mut rows = select.query([])?;
    let mut pauses = Vec::new();
    while let Some(row) = rows.next()? {
        pauses.push(Pause {
            scope: of_route(row.get(0)?, row.get(1)?)?,
            reason: row.get(2)?,
            since: Millis(row.get(3)?),
        });
    }
    Ok(pauses)
}

fn of_route(kind: i64, name: String) -> Outcome<Scope> {
    Ok(match kind {
        ALL => Scope::All,
        PIPELINE => Scope::Pipeline(name.into()),
        KIND => Scope::Kind(name.into()),
        ROUTE => Scope::Route(Route::parse(name).map_err(|error| Fault::corrupt(error.to_string()))?),
        other => return Err(Fault::corrupt(format!("a pause of kind {other}"))),
    })
}

/// The pauses of a tenant and of a group, with why and since when.
pub(super) fn of_group(read: &mut Read<'_>, id: &GroupId, named: &Named) -> Outcome<Vec<Pause>> {
    let mut found = Vec::new();
    let mut select = read.db.prepare_cached(
        "SELECT reason, since FROM fw_pauses WHERE kind = ?1 AND tenant = ?2 AND path = ?3 AND name = ?4",
    )?;
    let tenant = (Scope::Tenant(id.tenant.clone()), TENANT, 0, "");
    let group = (Scope::Group(id.clone()), GROUP, named.path, &*id.key);
    for (scope, kind, path, name) in [tenant, group] {
        let pause = select
            .query_row(params![kind, named.tenant, path, name], |row| {
                reason_of(row, scope)
            })
            .optional()?;
        found.extend(pause);
    }
    Ok(found)
}

fn reason_of(row: &Row<'_>, scope: Scope) -> rusqlite::Result<Pause> {
    Ok(Pause {
        scope,
        reason: row.get(0)?,
        since: Millis(row.get(1)?),
    })
}

/// Every pause, by scope.
pub(super) fn all(read: &mut Read<'_>) -> Outcome<Vec<Pause>> {
    let db = read.db;
    let mut pauses = of_routes(db)?;
    let mut select =
        db.prepare_cached("SELECT reason, since, kind, tenant, path, name FROM fw_pauses WHERE kind > 3")?;
    let mut rows = select.query([])?;
    while let Some(row) = rows.next()? {
        let tenant = read.names.tenant(db, row.get(3)?)?;
        let scope = if row.get::<_, i64>(2)? == TENANT {
            Scope::Tenant(tenant)
        } else {
            Scope::Group(GroupId {
                tenant,
                path: read.names.text(db, row.get(4)?)?,
                key: row.get::<_, String>(5)?.into(),
            })
        };
        pauses.push(reason_of(row, scope)?);
    }
    pauses.sort_by(|a, b| a.scope.cmp(&b.scope));
    Ok(pauses)
}
