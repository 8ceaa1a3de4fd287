//! Rows by when something happened to them, of one tenant or of all.
use super::{job::When, no::No};
use foldwright_domain::TenantId;
use std::{collections::BTreeMap, ops::Bound};

pub(super) struct Timeline<T> {
    all: BTreeMap<When, T>,
    by_tenant: BTreeMap<(No<TenantId>, When), T>,
}

impl<T> Default for Timeline<T> {
    fn default() -> Self {
        Self {
            all: BTreeMap::new(),
            by_tenant: BTreeMap::new(),
        }
    }
}

impl<T: Copy> Timeline<T> {
    pub(super) fn insert(&mut self, tenant: No<TenantId>, when: When, row: T) {
        self.all.insert(when, row);
        self.by_tenant.insert((tenant, when), row);
    }

    pub(super) fn remove(&mut self, tenant: No<TenantId>, when: When) {
        self.all.remove(&when);
        self.by_tenant.remove(&(tenant, when));
    }

    pub(super) fn contains(&self, tenant: No<TenantId>, when: When) -> bool {
        self.all.contains_key(&when) && self.by_tenant.contains_key(&(tenant, when))
    }

    /// The rows behind `from`, oldest first.
    pub(super) fn of_all(&self, from: Option<When>) -> impl Iterator<Item = (When, T)> {
        let from = from.map_or(Bound::Unbounded, Bound::Excluded);
        self.all
            .range((from, Bound::Unbounded))
            .map(|(when, row)| (*when, *row))
    }

    /// The rows of one tenant behind `from`, oldest first.
    pub(super) fn of_tenant(
        &self,
        tenant: No<TenantId>,
        from: Option<When>,
    ) -> impl Iterator<Item = (When, T)> {
        let from = match from {
            Some(when) => Bound::Excluded((tenant, when)),
            None => Bound::Included((tenant, When::FIRST)),
        };
        self.by_tenant
            .range((from, Bound::Unbounded))
            .take_while(move |((owner, _), _)| *owner == tenant)
            .map(|((_, when), row)| (*when, *row))
    }
}
