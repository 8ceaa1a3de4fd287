//! Which routes are shut for everybody.
use super::{pauses, troubles};
use crate::error::Outcome;
use foldwright_domain::Millis;
use foldwright_ports::{Closed, Pause, Route};
use rusqlite::Connection;
use std::collections::BTreeMap;

/// The pauses that cover routes, and the routes that the breaker has closed for all.
#[derive(Default)]
pub(super) struct Gates {
    pauses: Vec<Pause>,
    outages: BTreeMap<i64, Closed>,
}

impl Gates {
    pub(super) fn load(db: &Connection, now: i64) -> Outcome<Self> {
        Ok(Self {
            pauses: pauses::of_routes(db)?,
            outages: troubles::outages(db, now)?,
        })
    }

    /// Whether jobs of this route, whose number is `number`, may be handed out.
    pub(super) fn is_open(&self, number: i64, route: &Route) -> bool {
        !self.outages.contains_key(&number) && self.pauses_of(route).next().is_none()
    }

    /// The pauses that cover a route.
    pub(super) fn pauses_of(&self, route: &Route) -> impl Iterator<Item = &Pause> {
        self.pauses.iter().filter(|pause| pause.scope.covers_route(route))
    }

    pub(super) fn outage_of(&self, number: i64) -> Option<Closed> {
        self.outages.get(&number).copied()
    }

    /// When the next route that is closed for all opens again.
    pub(super) fn opens(&self) -> Option<Millis> {
        self.outages.values().map(|closed| closed.until).min()
    }
}
