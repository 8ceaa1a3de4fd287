//! What is paused.
use super::State;
use foldwright_domain::{Millis, TenantId};
use foldwright_ports::{GroupId, Pause, Route, Scope};
use std::collections::BTreeMap;

/// Every pause by its scope. Those of tenants and groups are marked at the tenant and the group as well.
#[derive(Default)]
pub(super) struct Pauses {
    scopes: BTreeMap<Scope, Note>,
    /// How many of them are neither of a tenant nor of a group: those are asked for every lane, and there are few.
    of_routes: usize,
    of_groups: usize,
}

struct Note {
    reason: String,
    since: Millis,
}

impl Pauses {
    fn count(&mut self, scope: &Scope) -> Option<&mut usize> {
        match scope {
            Scope::Tenant(_) => None,
            Scope::Group(_) => Some(&mut self.of_groups),
            _ => Some(&mut self.of_routes),
        }
    }

    fn insert(&mut self, scope: &Scope, note: Note) -> bool {
        if self.scopes.contains_key(scope) {
            return false;
        }
        self.scopes.insert(scope.clone(), note);
        if let Some(count) = self.count(scope) {
            *count += 1;
        }
        true
    }

    fn remove(&mut self, scope: &Scope) -> bool {
        let was = self.scopes.remove(scope).is_some();
        if was && let Some(count) = self.count(scope) {
            *count = count.saturating_sub(1);
        }
        was
    }

    pub(super) fn cover_route(&self, route: &Route) -> bool {
        self.of_routes > 0 && self.scopes.keys().any(|scope| scope.covers_route(route))
    }

    pub(super) fn cover_group(&self, group: &GroupId) -> bool {
        self.of_groups > 0 && self.scopes.contains_key(&Scope::Group(group.clone()))
    }

    /// All that cover a group whose first job has this route.
    pub(super) fn over<'a>(
        &'a self,
        group: &'a GroupId,
        route: Option<&'a Route>,
    ) -> impl Iterator<Item = Pause> + 'a {
        let covers = move |scope: &Scope| match scope {
            Scope::Tenant(tenant) => *tenant == group.tenant,
            Scope::Group(one) => one == group,
            Scope::All => true,
            other => route.is_some_and(|route| other.covers_route(route)),
        };
        self.scopes
            .iter()
            .filter(move |(scope, _)| covers(scope))
            .map(to_pause)
    }
}

fn to_pause((scope, note): (&Scope, &Note)) -> Pause {
    Pause {
        scope: scope.clone(),
        reason: note.reason.clone(),
        since: note.since,
    }
}

impl State {
    pub(in crate::queue) fn pause(&mut self, scope: &Scope, reason: &str) -> bool {
        let note = Note {
            reason: reason.to_owned(),
            since: self.now,
        };
        let new = self.pauses.insert(scope, note);
        self.mark(scope, true);
        new
    }

    pub(in crate::queue) fn resume(&mut self, scope: &Scope) -> bool {
        let was = self.pauses.remove(scope);
        self.mark(scope, false);
        self.news |= was;
        was
    }

    pub(in crate::queue) fn pauses(&self) -> Vec<Pause> {
        self.pauses.scopes.iter().map(to_pause).collect()
    }

    fn mark(&mut self, scope: &Scope, paused: bool) {
        match scope {
            Scope::Tenant(name) => self.mark_tenant(name, paused),
            Scope::Group(id) => {
                if let Some(no) = self.groups.number(id)
                    && let Some(group) = self.groups.get_mut(no)
                {
                    group.paused = paused;
                    self.relist(no);
                }
            }
            _ => {}
        }
    }

    fn mark_tenant(&mut self, name: &TenantId, paused: bool) {
        let no = self.tenants.number_or_add(name);
        if let Some(tenant) = self.tenants.get_mut(no) {
            tenant.paused = paused;
        }
        self.rank(no);
    }
}
