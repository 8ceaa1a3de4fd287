//! The event log in memory.
mod cursors;
mod stream;
mod tenant_log;

use crate::lock::lock;
use async_trait::async_trait;
use foldwright_domain::{RawEvent, StreamKey, TenantId};
use foldwright_ports::{
    Append, AppendError, Appended, Cursor, EventLog, EventRef, Limits, LogCapabilities, Page, Result,
    Retention, Selection,
};
use std::{
    collections::BTreeMap,
    ops::Bound,
    sync::{Mutex, MutexGuard},
};
use tenant_log::TenantLog;

/// Events by tenant, then by identity. Whatever a call does starts from the tenant's own log, so no other tenant's
/// event can be met.
#[derive(Debug, Default)]
pub(crate) struct MemoryLog {
    tenants: Mutex<BTreeMap<TenantId, TenantLog>>,
}

impl MemoryLog {
    fn tenants(&self) -> MutexGuard<'_, BTreeMap<TenantId, TenantLog>> {
        lock(&self.tenants)
    }

    /// Lets `remove` take events of one tenant, and forgets a tenant that has none left.
    fn removing(&self, tenant: &TenantId, remove: impl FnOnce(&mut TenantLog) -> usize) -> usize {
        let mut tenants = self.tenants();
        let Some(log) = tenants.get_mut(tenant) else {
            return 0;
        };
        let removed = remove(log);
        if log.is_empty() {
            tenants.remove(tenant);
        }
        removed
    }
}

#[async_trait]
impl EventLog for MemoryLog {
    fn capabilities(&self) -> LogCapabilities {
        LogCapabilities { conditional: true }
    }

    async fn append(&self, appends: Vec<Append>) -> Vec<Result<Vec<Appended>, AppendError>> {
        let mut tenants = self.tenants();
        let mut answers = Vec::with_capacity(appends.len());
        for append in appends {
            let tenant = append.batch.stream().tenant.clone();
            let log = tenants.entry(tenant.clone()).or_default();
            answers.push(log.append(append));
            if log.is_empty() {
                // A refused first append leaves no trace of its tenant.
                tenants.remove(&tenant);
            }
        }
        answers
    }

    async fn load(&self, stream: &StreamKey, from: Option<Cursor>, limits: Limits) -> Result<Page<RawEvent>> {
        let from = from.map(|c| cursors::to_place(&c, "load")).transpose()?;
        let tenants = self.tenants();
        Ok(match tenants.get(&stream.tenant) {
            Some(log) => log.load(stream, from, limits),
            None => Page::last(Vec::new()),
        })
    }

    async fn count(&self, streams: &[StreamKey]) -> Result<Vec<u64>> {
        let tenants = self.tenants();
        let count = |stream: &StreamKey| tenants.get(&stream.tenant).map_or(0, |log| log.count(stream));
        Ok(streams.iter().map(count).collect())
    }

    async fn find(&self, events: &[EventRef]) -> Result<Vec<Option<RawEvent>>> {
        let tenants = self.tenants();
        let find = |event: &EventRef| tenants.get(&event.stream.tenant)?.find(event);
        Ok(events.iter().map(find).collect())
    }

    async fn scan(
        &self,
        selection: &Selection,
        from: Option<Cursor>,
        limits: Limits,
    ) -> Result<Page<RawEvent>> {
        let from = from.map(|c| cursors::to_place(&c, "scan")).transpose()?;
        let tenants = self.tenants();
        Ok(match tenants.get(&selection.tenant) {
            Some(log) => log.scan(selection, from, limits),
            None => Page::last(Vec::new()),
        })
    }

    async fn aggregates(
        &self,
        selection: &Selection,
        from: Option<Cursor>,
        limits: Limits,
    ) -> Result<Page<StreamKey>> {
        let from = from.map(|c| cursors::to_name(&c, "aggregates")).transpose()?;
        let tenants = self.tenants();
        Ok(match tenants.get(&selection.tenant) {
            Some(log) => log.aggregates(selection, from, limits),
            None => Page::last(Vec::new()),
        })
    }

    async fn tenants(&self, from: Option<Cursor>, limits: Limits) -> Result<Page<TenantId>> {
        let after = match &from {
            Some(cursor) => Bound::Excluded(cursors::to_tenant(cursor, "tenants")?),
            None => Bound::Unbounded,
        };
        let tenants = self.tenants();
        let rows = tenants
            .range((after, Bound::Unbounded))
            .map(|(tenant, _)| (tenant, Some((tenant.clone(), tenant.as_str().len()))));
        Ok(crate::pager::page(limits, rows, |tenant| {
            cursors::of_tenant(tenant)
        }))
    }

    async fn erase(&self, selection: &Selection, limit: usize) -> Result<usize> {
        Ok(self.removing(&selection.tenant, |log| log.erase(selection, limit)))
    }

    async fn retain(&self, retention: &Retention, limit: usize) -> Result<usize> {
        Ok(self.removing(&retention.tenant, |log| log.retain(retention, limit)))
    }
}
