//! Given, then for folds and maps.
use crate::{
    Sample, difference,
    given::state_of,
    timeline::{Timeline, aggregate_id},
};
use foldwright_domain::{Fold, Map, OrderKind};
use serde::Serialize;
use serde_json::Value;
use std::{any::type_name, marker::PhantomData, time::Duration};

/// A test of what fold `F` makes of events.
pub fn fold<F: Fold>() -> Projected<F> {
    Projected::new()
}

/// A test of what map `M` makes of events.
pub fn map<M: Map>() -> Projected<M> {
    Projected::new()
}

/// Events on their way into a projection. They take the way through JSON that they take through the log, and those that
/// the projection does not read are left out.
#[must_use = "nothing is compared before `then_state` or `then_records`"]
pub struct Projected<P> {
    timeline: Timeline,
    _projection: PhantomData<fn() -> P>,
}

impl<P> Projected<P> {
    fn new() -> Self {
        Self {
            timeline: Timeline::new(),
            _projection: PhantomData,
        }
    }

    /// These happen now, one after the other. May be called again; events of several aggregates stand in one list as
    /// [`Sample`]s.
    ///
    /// # Panics
    /// When an event is nothing that JSON can hold.
    #[track_caller]
    pub fn given(mut self, events: impl IntoIterator<Item = impl Into<Sample>>) -> Self {
        for event in events {
            self.timeline.add(event.into());
        }
        self
    }

    /// So much business time passes: what follows is later.
    pub fn after(mut self, duration: Duration) -> Self {
        self.timeline.pass(duration);
        self
    }

    /// What follows happens to the aggregate of this id.
    ///
    /// # Panics
    /// When it is none.
    #[track_caller]
    pub fn on(mut self, id: &str) -> Self {
        self.timeline.switch_to(aggregate_id(id));
        self
    }
}

impl<F: Fold> Projected<F> {
    /// The state after all that was given, by the JSON that a store keeps.
    ///
    /// # Panics
    /// When it is another one, or does not come back from JSON.
    #[track_caller]
    pub fn then_state(self, expected: F::State) {
        let actual = json(&self.state());
        let expected = json(&expected);
        assert!(
            expected == actual,
            "fold `{}` ({}) came to another state\n{}\n",
            F::NAME,
            if <F::Order as OrderKind>::CANONICAL {
                "by occurrence"
            } else {
                "commutative"
            },
            difference::between(&expected, &actual)
        );
    }

    /// The state itself, for what a test wants to look at more closely.
    ///
    /// # Panics
    /// When an event does not come back from JSON.
    #[must_use]
    #[track_caller]
    pub fn state(&self) -> F::State {
        state_of::<F>(&self.timeline.read())
    }
}

impl<M: Map> Projected<M> {
    /// What each event became, in the order of time; `None` where it was skipped.
    ///
    /// # Panics
    /// When it is something else.
    #[track_caller]
    pub fn then_records(self, expected: impl IntoIterator<Item = Option<M::Record>>) {
        let expected = json(&expected.into_iter().collect::<Vec<_>>());
        let actual = json(&self.timeline.read().iter().map(M::map).collect::<Vec<_>>());
        assert!(
            expected == actual,
            "map `{}` made other records\n{}\n",
            M::NAME,
            difference::between(&expected, &actual)
        );
    }
}

impl<P> std::fmt::Debug for Projected<P> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Projected")
            .field("timeline", &self.timeline)
            .finish_non_exhaustive()
    }
}

#[track_caller]
fn json<T: Serialize>(value: &T) -> Value {
    match serde_json::to_value(value) {
        Ok(value) => value,
        Err(error) => panic!("{} is nothing that JSON can hold: {error}", type_name::<T>()),
    }
}
