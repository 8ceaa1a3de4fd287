//! The commands and projections of one aggregate.
use super::{
    Faults, Part, Projection, command_part::CommandPart, decider_part::DeciderPart, fold_part::FoldPart,
    map_part::MapPart,
};
use crate::fold::{ByAggregate, ByKey};
use foldwright_domain::{Aggregate, Decider, Declared, Declares, EventsOf, Fold, Handler, KeyedFold, Map};
use foldwright_ports::Route;
use std::{collections::BTreeSet, marker::PhantomData, sync::Arc};

/// The commands and projections of aggregate `A`, by name. Only declared: it opens nothing and cannot send.
pub struct Pipeline<A> {
    pub(crate) name: &'static str,
    pub(crate) parts: Vec<Box<dyn Part>>,
    _aggregate: PhantomData<fn() -> A>,
}

impl<A: Aggregate> Pipeline<A> {
    /// Begins a pipeline. Its name is the first segment of its routes.
    #[must_use]
    pub fn define(name: &'static str) -> Self {
        Self {
            name,
            parts: Vec::new(),
            _aggregate: PhantomData,
        }
    }

    /// A command that decides on the state of its aggregate. Its fold has to be one of this pipeline's
    /// ([`fold`](Self::fold)), and the log has to know conditional appends; both are checked at
    /// [`start`](crate::KernelBuilder::start).
    #[must_use]
    pub fn decider<C: Decider<Of = A>>(self) -> Self {
        self.with(DeciderPart::<C>(PhantomData))
    }

    /// A command with a handler.
    #[must_use]
    pub fn command<C: Handler<Of = A>>(self) -> Self {
        self.with(CommandPart::<C>(PhantomData))
    }

    /// A command that becomes exactly one event.
    #[must_use]
    pub fn declares<D: Declares<Of = A>>(self) -> Self {
        self.command::<Declared<D>>()
    }

    /// A fold of each aggregate, with what listens to it.
    #[must_use]
    pub fn fold<F>(
        self,
        with: impl FnOnce(Projection<F::On, F::State>) -> Projection<F::On, F::State>,
    ) -> Self
    where
        F: Fold<On: EventsOf<A>>,
    {
        let rule = Arc::new(ByAggregate::new(A::TYPE.as_str()));
        self.with(FoldPart::<F> {
            rule,
            aggregate: Some(A::TYPE.as_str()),
            projection: with(Projection::new()),
        })
    }

    /// A fold under a key of its own, with what listens to it.
    #[must_use]
    pub fn keyed<F>(
        self,
        with: impl FnOnce(Projection<F::On, F::State>) -> Projection<F::On, F::State>,
    ) -> Self
    where
        F: KeyedFold<On: EventsOf<A>>,
    {
        self.with(FoldPart::<F> {
            rule: Arc::new(ByKey::<F>::new()),
            aggregate: None,
            projection: with(Projection::new()),
        })
    }

    /// A map of each event, with what listens to it.
    #[must_use]
    pub fn map<M>(
        self,
        with: impl FnOnce(Projection<M::On, M::Record>) -> Projection<M::On, M::Record>,
    ) -> Self
    where
        M: Map<On: EventsOf<A>>,
    {
        self.with(MapPart::<M> {
            projection: with(Projection::new()),
        })
    }

    /// Checks the definition.
    ///
    /// # Errors
    /// [`Faults`] lists every name that is none or is declared twice; [`KernelBuilder::start`](crate::KernelBuilder::start)
    /// adds those of the composition and of the subscribers.
    pub fn build(self) -> Result<Self, Faults> {
        check(self.name, &self.parts)?;
        Ok(self)
    }

    fn with(mut self, part: impl Part) -> Self {
        self.parts.push(Box::new(part));
        self
    }
}

/// Names can stand in routes, and are unique within their kind.
pub(super) fn check(pipeline: &str, parts: &[Box<dyn Part>]) -> Result<(), Faults> {
    let mut faults = Vec::new();
    let mut named = |what: &str, name: &str| {
        if Route::parse(format!("a/b/{name}")).is_err() {
            faults.push(format!("{what} `{name}`: a name is 1-64 bytes of [a-z0-9_]"));
        }
    };
    named("pipeline", pipeline);
    for part in parts {
        named(part.kind(), part.name());
    }
    let mut names = BTreeSet::new();
    let twice = parts
        .iter()
        .filter(|part| !names.insert((part.kind(), part.name())));
    faults.extend(twice.map(|part| {
        format!(
            "pipeline {pipeline} declares the {} `{}` twice",
            part.kind(),
            part.name()
        )
    }));
    if faults.is_empty() {
        Ok(())
    } else {
        Err(Faults(faults))
    }
}
