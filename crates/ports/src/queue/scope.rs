//! What a pause covers.
use crate::{GroupId, Route};
use foldwright_domain::{Millis, TenantId};
use std::{fmt, sync::Arc};

/// A set of jobs that can be paused as one.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Scope {
    /// Everything.
    All,
    /// The routes of one pipeline.
    Pipeline(Arc<str>),
    /// The routes of one kind (the second segment) in all pipelines: `command`, `fold`, `map`, `process`. Subscribers are
    /// `subscriber`, whatever they hang on.
    Kind(Arc<str>),
    /// One route.
    Route(Route),
    /// One tenant.
    Tenant(TenantId),
    /// One group.
    Group(GroupId),
}

impl Scope {
    /// Whether jobs of this route are in it. Tenants and groups are not asked.
    #[must_use]
    pub fn covers_route(&self, route: &Route) -> bool {
        match self {
            Self::All => true,
            Self::Pipeline(pipeline) => route.pipeline() == &**pipeline,
            Self::Kind(kind) => route.kind() == &**kind,
            Self::Route(one) => one == route,
            Self::Tenant(_) | Self::Group(_) => false,
        }
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::All => f.write_str("all"),
            Self::Pipeline(pipeline) => write!(f, "pipeline {pipeline}"),
            Self::Kind(kind) => write!(f, "kind {kind}"),
            Self::Route(route) => write!(f, "route {route}"),
            Self::Tenant(tenant) => write!(f, "tenant {tenant}"),
            Self::Group(group) => write!(f, "group {group}"),
        }
    }
}

/// A pause. Paused jobs stay, accept newer ones behind them and never expire; jobs in flight finish.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Pause {
    /// What is paused.
    pub scope: Scope,
    /// Who paused it and why, as it was given.
    pub reason: String,
    /// Since when.
    pub since: Millis,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// F-13
    #[test]
    fn scopes_cover_the_routes_they_name() {
        let fold = Route::parse("traces/fold/summary").unwrap();
        let ear = Route::parse("traces/fold/summary/subscriber/settled").unwrap();
        let covers = |scope: Scope| (scope.covers_route(&fold), scope.covers_route(&ear));
        assert_eq!(covers(Scope::All), (true, true));
        assert_eq!(covers(Scope::Pipeline("traces".into())), (true, true));
        assert_eq!(covers(Scope::Pipeline("other".into())), (false, false));
        assert_eq!(covers(Scope::Kind("fold".into())), (true, false));
        assert_eq!(covers(Scope::Kind("subscriber".into())), (false, true));
        assert_eq!(covers(Scope::Route(fold.clone())), (true, false));
    }
}
