//! Attaching subscribers inside their projection.
use super::{Installed, Installer, LaneKind};
use crate::{
    description::DescribedSubscriber,
    handlers::{CurrentState, SubscriberHandler, SwitchedHandler},
    subscriber::{Decides, Guarded, Subscriber, SubscriberCounts, SubscriberOptions, Switched},
};
use foldwright_domain::{Dispatch, EventSet};
use std::{marker::PhantomData, sync::Arc};

/// A fold or map while it is declared: what listens to it.
pub struct Projection<E, S> {
    subscribers: Vec<Box<dyn Attach<E, S>>>,
}

/// The guards of a projection's subscribers.
type Guards<E, S> = Vec<Arc<dyn Decides<E, S>>>;

/// A subscriber's guard, and what to say of it.
type Ready<E, S> = (Arc<dyn Decides<E, S>>, DescribedSubscriber);

/// A subscriber that waits to be installed below its projection.
trait Attach<E, S>: Send + 'static {
    fn attach(
        self: Box<Self>,
        parent: &[&str],
        current: &Arc<dyn CurrentState<E, S>>,
        installer: &mut Installer,
    ) -> Option<Ready<E, S>>;
}

struct Attached<X> {
    subscriber: X,
    options: SubscriberOptions,
}

impl<E: EventSet, S: Send + Sync + 'static> Projection<E, S> {
    pub(crate) fn new() -> Self {
        Self {
            subscribers: Vec::new(),
        }
    }

    /// Runs `subscriber` after rows of this projection are durable.
    #[must_use]
    pub fn subscriber<X: Subscriber<On = E, State = S>>(mut self, subscriber: X, dispatch: Dispatch) -> Self {
        let options = SubscriberOptions::new(dispatch);
        self.subscribers.push(Box::new(Attached { subscriber, options }));
        self
    }

    /// The same with more said than when it runs.
    #[must_use]
    pub fn subscriber_with<X: Subscriber<On = E, State = S>>(
        mut self,
        subscriber: X,
        options: SubscriberOptions,
    ) -> Self {
        self.subscribers.push(Box::new(Attached { subscriber, options }));
        self
    }

    pub(crate) fn install(
        self,
        parent: &[&str],
        current: Arc<dyn CurrentState<E, S>>,
        installer: &mut Installer,
    ) -> (Guards<E, S>, Vec<DescribedSubscriber>) {
        self.subscribers
            .into_iter()
            .filter_map(|s| s.attach(parent, &current, installer))
            .unzip()
    }
}

impl<X: Subscriber> Attach<X::On, X::State> for Attached<X> {
    fn attach(
        self: Box<Self>,
        parent: &[&str],
        current: &Arc<dyn CurrentState<X::On, X::State>>,
        installer: &mut Installer,
    ) -> Option<Ready<X::On, X::State>> {
        let Self { subscriber, options } = *self;
        let route = installer.route(&[parent, &["subscriber", X::NAME]].concat())?;
        for fault in options.faults() {
            installer.faults.push(format!("{route}: {fault}"));
        }
        let switch = Switched {
            route: route.clone(),
            source: installer.switch(X::NAME),
            counters: installer.counters.clone(),
        };
        let counts = Arc::new(SubscriberCounts::of(&route));
        installer.subscribers.insert(route.clone(), counts.clone());
        let described = DescribedSubscriber::new(&route, &options, switch.source.is_some());
        let installed = Installed {
            handler: Arc::new(SwitchedHandler {
                inner: SubscriberHandler {
                    subscriber,
                    current: current.clone(),
                    merges: options.dispatch.merges(),
                },
                switch: switch.clone(),
                counts: counts.clone(),
            }),
            version: 0,
            lane: LaneKind::Effect,
            claimed: options.runs_in(installer.role),
        };
        installer.add(route.clone(), installed);
        let guarded = Arc::new(Guarded::<X> {
            route,
            dispatch: options.dispatch,
            counters: installer.counters.clone(),
            counts,
            switch,
            _subscriber: PhantomData,
        });
        Some((guarded, described))
    }
}
