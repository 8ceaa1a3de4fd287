//! What is paused.
use super::state::{Ensure, Model, ensure};
use foldwright_domain::Millis;
use foldwright_ports::{GroupId, Pause, Route, Scope};

impl Model {
    pub(super) fn is_route_paused(&self, route: &Route) -> bool {
        self.pauses.keys().any(|scope| scope.covers_route(route))
    }

    pub(super) fn is_paused(&self, group: &GroupId) -> bool {
        self.pauses.keys().any(|scope| match scope {
            Scope::Tenant(tenant) => *tenant == group.tenant,
            Scope::Group(one) => one == group,
            _ => false,
        })
    }

    pub(crate) fn paused(&self) -> impl Iterator<Item = &Scope> {
        self.pauses.keys()
    }

    pub(crate) fn pause(&mut self, now: Millis, scope: &Scope, said: bool) -> Ensure {
        let was = self.pauses.contains_key(scope);
        ensure(said != was, || format!("pause of {scope}: {said}"))?;
        self.pauses.entry(scope.clone()).or_insert(now);
        Ok(())
    }

    pub(crate) fn resume(&mut self, scope: &Scope, said: bool) -> Ensure {
        let was = self.pauses.remove(scope).is_some();
        ensure(said == was, || format!("resume of {scope}: {said}"))
    }

    pub(crate) fn check_pauses(&self, said: &[Pause]) -> Ensure {
        let said: Vec<_> = said.iter().map(|pause| (&pause.scope, &pause.since)).collect();
        let mine: Vec<_> = self.pauses.iter().collect();
        ensure(said == mine, || format!("pauses are {said:?}, not {mine:?}"))
    }
}
