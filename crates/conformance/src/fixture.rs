//! What an adapter hands to the suites.
use crate::TestClock;
use async_trait::async_trait;
use foldwright_ports::{Ports, QueueSettings};
use std::{any::Any, time::Duration};

/// Gives the suites an adapter to test. One per adapter, in its tests.
#[async_trait]
pub trait Fixture: Send + Sync + 'static {
    /// What the adapter says of itself. A declared absence is tested too: the adapter must refuse.
    fn declares(&self) -> Declares;

    /// How large the large cases are.
    fn scale(&self) -> Scale {
        Scale::default()
    }

    /// A fresh, empty store with these settings, which nobody else sees.
    async fn open_with(&self, settings: QueueSettings) -> Harness;

    /// A fresh, empty store with the default settings.
    async fn open(&self) -> Harness {
        self.open_with(QueueSettings::default()).await
    }

    /// A second handle on the same store, as another process would have it. Both stay usable.
    async fn reopen(&self, harness: &Harness) -> Ports;

    /// Drops all handles and opens the same store again, with the same settings and clock, as after the death of a
    /// process. Where nothing outlives the process ([`Declares::durable`] is false) that is a fresh store.
    async fn restart(&self, harness: Harness) -> Harness {
        self.open_with(harness.settings).await
    }

    /// Lets store time pass: virtual where the adapter's clock is injected, a wait elsewhere.
    async fn elapse(&self, harness: &Harness, by: Duration) {
        harness.clock.advance(by);
    }
}

/// What an adapter can do beyond the minimum.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Declares {
    /// The log honours `Expect::Count`.
    pub conditional_append: bool,
    /// What was answered survives the death of the process.
    pub durable: bool,
}

/// How large the large cases are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Scale {
    /// Tasks that work at once.
    pub tasks: usize,
    /// Groups that they work on.
    pub groups: usize,
    /// Jobs in each group.
    pub jobs_per_group: usize,
    /// Random sequences run beside the model.
    pub sequences: u64,
    /// Steps of each sequence.
    pub steps: usize,
}

impl Default for Scale {
    fn default() -> Self {
        Self {
            tasks: 64,
            groups: 1_000,
            jobs_per_group: 20,
            sequences: 200,
            steps: 60,
        }
    }
}

/// One store under test.
pub struct Harness {
    /// The adapter. All its ports stand on the same store.
    pub ports: Ports,
    /// The clock that the adapter goes by, where it takes one.
    pub clock: TestClock,
    /// The settings that its queue was opened with.
    pub settings: QueueSettings,
    kept: Box<dyn Any + Send + Sync>,
}

impl Harness {
    /// A store that goes by `clock`.
    #[must_use]
    pub fn new(ports: Ports, clock: TestClock, settings: QueueSettings) -> Self {
        Self {
            ports,
            clock,
            settings,
            kept: Box::new(()),
        }
    }

    /// Keeps a value for as long as the store lives: a directory, a handle to reopen it by.
    #[must_use]
    pub fn keeping(mut self, value: impl Any + Send + Sync) -> Self {
        self.kept = Box::new(value);
        self
    }

    /// The value that is kept.
    ///
    /// # Panics
    /// When it is of another type.
    #[must_use]
    pub fn kept<T: Any>(&self) -> &T {
        self.kept
            .downcast_ref()
            .expect("the fixture keeps a value of this type")
    }

    /// The value that is kept, taken out of a store that is given up.
    ///
    /// # Panics
    /// When it is of another type.
    #[must_use]
    pub fn into_kept<T: Any>(self) -> T {
        *self
            .kept
            .downcast()
            .expect("the fixture keeps a value of this type")
    }
}

impl std::fmt::Debug for Harness {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Harness").finish_non_exhaustive()
    }
}
