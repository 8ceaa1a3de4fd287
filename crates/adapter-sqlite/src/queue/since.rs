//! Lists that are ordered by time, of one tenant or of all.
use crate::{codec, error::Outcome, reader::Read};
use foldwright_domain::TenantId;
use foldwright_ports::Cursor;

/// Where a page begins, and whose items it shows.
pub(super) struct Since {
    /// Behind this instant, and of those at it behind this number.
    pub(super) last: (i64, i64),
    /// `None`: of all.
    pub(super) tenant: Option<i64>,
}

impl Since {
    /// `None` where there is no such tenant, and nothing to show.
    pub(super) fn new(
        read: &mut Read<'_>,
        tenant: Option<&TenantId>,
        from: Option<&Cursor>,
    ) -> Outcome<Option<Self>> {
        let last = from.map_or(Ok((i64::MIN, i64::MIN)), codec::cursor)?;
        let tenant = match tenant {
            None => None,
            Some(tenant) => match read.names.find(read.db, tenant.as_str())? {
                None => return Ok(None),
                found => found,
            },
        };
        Ok(Some(Self { last, tenant }))
    }
}
