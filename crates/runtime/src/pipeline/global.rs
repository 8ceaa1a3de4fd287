//! Projections over several pipelines.
use super::{Faults, Part, Projection, fold_part::FoldPart, map_part::MapPart, pipeline::check};
use crate::fold::ByKey;
use foldwright_domain::{KeyedFold, Map};
use std::sync::Arc;

/// Projections that read events of several aggregates by their types. They run beside the pipelines' own and never
/// hold them up.
pub struct Global {
    pub(crate) name: &'static str,
    pub(crate) parts: Vec<Box<dyn Part>>,
}

impl Global {
    /// Begins a set of global projections. Its name is the first segment of their routes.
    #[must_use]
    pub fn define(name: &'static str) -> Self {
        Self {
            name,
            parts: Vec::new(),
        }
    }

    /// A fold under a key of its own, with what listens to it.
    #[must_use]
    pub fn keyed<F: KeyedFold>(
        mut self,
        with: impl FnOnce(Projection<F::On, F::State>) -> Projection<F::On, F::State>,
    ) -> Self {
        let projection = with(Projection::new());
        self.parts.push(Box::new(FoldPart::<F> {
            rule: Arc::new(ByKey::<F>::new()),
            aggregate: None,
            projection,
        }));
        self
    }

    /// A map of each event, with what listens to it.
    #[must_use]
    pub fn map<M: Map>(
        mut self,
        with: impl FnOnce(Projection<M::On, M::Record>) -> Projection<M::On, M::Record>,
    ) -> Self {
        self.parts.push(Box::new(MapPart::<M> {
            projection: with(Projection::new()),
        }));
        self
    }

    /// Checks the definition.
    ///
    /// # Errors
    /// [`Faults`] lists every name that is declared twice.
    pub fn build(self) -> Result<Self, Faults> {
        check(self.name, &self.parts)?;
        Ok(self)
    }
}
