//! A subscriber that notes each of its runs.
use crate::given::through_json;
use foldwright_domain::{Meta, Recorded};
use foldwright_runtime::{EffectError, Subscriber};
use std::sync::{Arc, Mutex, PoisonError};

/// Wraps a subscriber so that a test sees its runs. It runs as it would without.
///
/// ```text
/// let (subscriber, runs) = watched(PrintTicket::new(…));
/// … .map::<Tickets>(|map| map.subscriber(subscriber, Dispatch::each())) …
/// assert_eq!(runs.count(), 1);
/// ```
pub fn watched<S: Subscriber>(subscriber: S) -> (Watched<S>, Runs<S::State>) {
    let runs = Runs(Arc::default());
    let watched = Watched {
        subscriber,
        runs: runs.clone(),
    };
    (watched, runs)
}

/// See [`watched`].
#[derive(Debug)]
pub struct Watched<S: Subscriber> {
    subscriber: S,
    runs: Runs<S::State>,
}

/// The runs of a watched subscriber, in the order in which they ended.
#[derive(Debug)]
pub struct Runs<T>(Arc<Mutex<Vec<Run<T>>>>);

/// One run of a subscriber.
#[derive(Debug)]
pub struct Run<T> {
    /// The envelope of the event that it ran for.
    pub event: Meta,
    /// The state or record that it was given.
    pub state: T,
    /// What it answered.
    pub outcome: Result<(), EffectError>,
}

impl<T> Runs<T> {
    /// How often it ran, failed runs among them.
    #[must_use]
    pub fn count(&self) -> usize {
        self.lock().len()
    }

    /// Takes the runs out; later calls answer later runs.
    #[must_use]
    pub fn take(&self) -> Vec<Run<T>> {
        std::mem::take(&mut self.lock())
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Run<T>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T> Clone for Runs<T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<S: Subscriber> Subscriber for Watched<S> {
    type On = S::On;
    type State = S::State;
    const NAME: &'static str = S::NAME;

    fn when(event: &Recorded<S::On>, state: &S::State) -> bool {
        S::when(event, state)
    }

    fn dedup_id(event: &Recorded<S::On>) -> Option<String> {
        S::dedup_id(event)
    }

    fn group_key(event: &Recorded<S::On>) -> Option<String> {
        S::group_key(event)
    }

    async fn run(&self, event: &Recorded<S::On>, state: &S::State) -> Result<(), EffectError> {
        let outcome = self.subscriber.run(event, state).await;
        let run = Run {
            event: event.meta.clone(),
            // A state need not be `Clone`.
            state: through_json(state),
            outcome: outcome.clone(),
        };
        self.runs.lock().push(run);
        outcome
    }
}
