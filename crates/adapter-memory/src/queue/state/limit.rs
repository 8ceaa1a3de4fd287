//! What tenants may take.
use super::State;
use crate::{
    cursor::{Reader, Writer},
    pager::page,
};
use foldwright_domain::TenantId;
use foldwright_ports::{Cursor, Error, Kind, Limits, Page, Result, TenantLimits, TenantView};

const CURSOR: u8 = b'w';

impl State {
    pub(in crate::queue) fn limit(&mut self, tenant: &TenantId, limits: Option<TenantLimits>) -> Result<()> {
        if let Some(fault) = limits.and_then(|limits| limits.fault()) {
            return Err(Error::new(Kind::Invalid, "limit", fault));
        }
        let no = self.tenants.number_or_add(tenant);
        if let Some(row) = self.tenants.get_mut(no) {
            row.limits = limits;
        }
        self.rank(no);
        Ok(())
    }

    pub(in crate::queue) fn tenant(&self, tenant: &TenantId) -> TenantView {
        let row = self.tenants.number(tenant).and_then(|no| self.tenants.get(no));
        row.copied().unwrap_or_default().view(tenant.clone())
    }

    pub(in crate::queue) fn tenants(
        &self,
        from: Option<&Cursor>,
        limits: Limits,
    ) -> Result<Page<TenantView>> {
        let from = from.map(to_name).transpose()?;
        let rows = self.tenants.views(from.as_ref());
        let sized = rows.map(|(name, view)| (name, view.map(|view| (view, name.as_str().len()))));
        Ok(page(limits, sized, |name| {
            Writer::new(CURSOR).text(name.as_str()).done()
        }))
    }
}

fn to_name(cursor: &Cursor) -> Result<TenantId> {
    let mut reader = Reader::new(cursor, CURSOR, "list tenants")?;
    let name = TenantId::parse(reader.text()?).map_err(|_| reader.bad())?;
    reader.end()?;
    Ok(name)
}
