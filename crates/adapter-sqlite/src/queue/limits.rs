//! What tenants may take, and what they have.
use super::{
    tenants::{Tenant, select_tenants, unsigned},
    work::Work,
};
use crate::{codec, error::Outcome, page::Filling, reader::Read};
use foldwright_domain::TenantId;
use foldwright_ports::{Cursor, Limits, Page, TenantLimits, TenantView};

/// Sets a tenant's limits.
pub(super) fn limit(work: &mut Work<'_, '_>, tenant: &TenantId, limits: Option<TenantLimits>) -> Outcome<()> {
    let db = work.write.db;
    let number = match limits {
        Some(_) => Some(work.write.names.number(db, tenant.as_str())?),
        None => work.write.names.find(db, tenant.as_str())?,
    };
    if let Some(number) = number {
        work.tenants.seat(db, number)?.tenant.limits = limits;
        work.write.woke = true;
    }
    Ok(())
}

/// A tenant as the queue sees it.
pub(super) fn tenant(read: &mut Read<'_>, tenant: &TenantId) -> Outcome<TenantView> {
    let row = match read.names.find(read.db, tenant.as_str())? {
        Some(number) => Tenant::find(read.db, number)?,
        None => None,
    };
    Ok(view(tenant.clone(), row.unwrap_or_default()))
}

fn view(tenant: TenantId, row: Tenant) -> TenantView {
    let limits = row.limits();
    TenantView {
        tenant,
        limits,
        in_flight: unsigned(row.in_flight),
        jobs: unsigned(row.jobs),
        bytes: unsigned(row.bytes),
        capped: limits.cap.is_some_and(|cap| row.in_flight >= i64::from(cap)),
    }
}

/// Tenants that have anything, by name.
pub(super) fn tenants(
    read: &mut Read<'_>,
    from: Option<&Cursor>,
    limits: Limits,
) -> Outcome<Page<TenantView>> {
    let db = read.db;
    let after: Option<String> = from.map(codec::cursor).transpose()?;
    let mut select = db.prepare_cached(select_tenants!(
        "JOIN fw_names n ON n.id = t.tenant
         WHERE n.text > ?1 AND (t.jobs <> 0 OR t.in_flight <> 0 OR t.weight IS NOT NULL) ORDER BY n.text"
    ))?;
    // No tenant has an empty name.
    let mut rows = select.query([after.unwrap_or_default()])?;
    let mut page = Filling::new(limits);
    while let Some(row) = rows.next()? {
        let tenant = read.names.tenant(db, row.get(9)?)?;
        let name = tenant.as_str().to_owned();
        if !page.offer(view(tenant, Tenant::read(row)?), name.len(), name) {
            break;
        }
    }
    page.finish()
}
