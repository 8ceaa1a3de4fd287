//! What sending needs to know of a command.
use foldwright_domain::{Command, StreamKey};
use foldwright_ports::Route;
use std::{any::Any, marker::PhantomData, sync::Arc};

/// A command that this kernel knows, with its type kept inside.
#[derive(Clone)]
pub(crate) struct Registered {
    pub(crate) route: Route,
    /// The type of the aggregate that it is about.
    pub(crate) aggregate_type: &'static str,
    pub(crate) groups: Arc<dyn Grouped>,
}

/// The group in which a command runs.
pub(crate) trait Grouped: Send + Sync + 'static {
    /// Path and key of the group; `None` for a payload of another type than the registered one.
    fn group(&self, stream: &StreamKey, payload: &dyn Any) -> Option<(Arc<str>, Arc<str>)>;
}

/// The rule of one command type.
pub(crate) struct GroupRule<C, R> {
    pub(crate) rule: R,
    pub(crate) _command: PhantomData<fn() -> C>,
}

impl<C: Command, R> Grouped for GroupRule<C, R>
where
    R: Fn(&StreamKey, &C) -> (Arc<str>, Arc<str>) + Send + Sync + 'static,
{
    fn group(&self, stream: &StreamKey, payload: &dyn Any) -> Option<(Arc<str>, Arc<str>)> {
        Some((self.rule)(stream, payload.downcast_ref::<C>()?))
    }
}

impl Registered {
    pub(crate) fn new<C: Command>(
        route: Route,
        aggregate_type: &'static str,
        rule: impl Fn(&StreamKey, &C) -> (Arc<str>, Arc<str>) + Send + Sync + 'static,
    ) -> Self {
        let groups = Arc::new(GroupRule {
            rule,
            _command: PhantomData,
        });
        Self {
            route,
            aggregate_type,
            groups,
        }
    }
}
