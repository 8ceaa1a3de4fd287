//! Attaching subscribers inside their projection.
use super::{Installed, Installer, Lane};
use crate::{
    handlers::SubscriberHandler,
    subscriber::{CurrentState, Decides, Guarded, Subscriber},
};
use foldwright_domain::{Dispatch, EventSet};
use std::{marker::PhantomData, sync::Arc};

/// A fold or map while it is declared: what listens to it.
pub struct Projection<E, S> {
    subscribers: Vec<Box<dyn Attach<E, S>>>,
}

/// A subscriber that waits to be installed below its projection.
trait Attach<E, S>: Send + 'static {
    fn attach(
        self: Box<Self>,
        parent: &[&str],
        current: &Arc<dyn CurrentState<E, S>>,
        installer: &mut Installer,
    ) -> Option<Arc<dyn Decides<E, S>>>;
}

struct Attached<X> {
    subscriber: X,
    dispatch: Dispatch,
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
        self.subscribers.push(Box::new(Attached { subscriber, dispatch }));
        self
    }

    pub(crate) fn install(
        self,
        parent: &[&str],
        current: Arc<dyn CurrentState<E, S>>,
        installer: &mut Installer,
    ) -> Vec<Arc<dyn Decides<E, S>>> {
        self.subscribers
            .into_iter()
            .filter_map(|s| s.attach(parent, &current, installer))
            .collect()
    }
}

impl<X: Subscriber> Attach<X::On, X::State> for Attached<X> {
    fn attach(
        self: Box<Self>,
        parent: &[&str],
        current: &Arc<dyn CurrentState<X::On, X::State>>,
        installer: &mut Installer,
    ) -> Option<Arc<dyn Decides<X::On, X::State>>> {
        let route = installer.route(&[parent, &["subscriber", X::NAME]].concat())?;
        if let Dispatch::Debounce { quiet } = self.dispatch
            && quiet.is_zero()
        {
            installer
                .faults
                .push(format!("{route}: a debounce needs a time that is not zero"));
        }
        let installed = Installed {
            handler: Arc::new(SubscriberHandler {
                subscriber: self.subscriber,
                current: current.clone(),
                merges: matches!(self.dispatch, Dispatch::Debounce { .. }),
            }),
            version: 0,
            lane: Lane::Effect,
        };
        installer.add(route.clone(), installed);
        Some(Arc::new(Guarded::<X> {
            route,
            dispatch: self.dispatch,
            counters: installer.counters.clone(),
            _subscriber: PhantomData,
        }))
    }
}
