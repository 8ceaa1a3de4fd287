//! Subscribers that write down what they hear.
use super::{Noted, RunEvent};
use foldwright_domain::{EventId, EventSet, Recorded};
use foldwright_runtime::{EffectError, Subscriber};
use serde::{Serialize, de::DeserializeOwned};
use std::{
    collections::VecDeque,
    marker::PhantomData,
    sync::{Arc, Mutex},
    time::Duration,
};
use tokio::time::Instant;

/// A run that a subscriber had.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Hearing<S> {
    pub(crate) event: EventId,
    pub(crate) occurred_at: i64,
    pub(crate) n: u64,
    pub(crate) state: S,
    /// When it ended, in ms after the ear was made.
    pub(crate) ms: u64,
}

/// What a subscriber does instead of hearing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Reaction {
    Retry,
    RetryAfter(Duration),
    Fatal,
    Panic,
    /// Takes so long, then hears.
    Slow(Duration),
}

/// What subscribers have heard, and how they are going to behave.
pub(crate) struct Heard<S> {
    since: Instant,
    runs: Mutex<Vec<Hearing<S>>>,
    calls: Mutex<Vec<u64>>,
    reactions: Mutex<VecDeque<Reaction>>,
}

impl<S: Clone> Heard<S> {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self {
            since: Instant::now(),
            runs: Mutex::default(),
            calls: Mutex::default(),
            reactions: Mutex::default(),
        })
    }

    /// What was heard to the end, in order.
    pub(crate) fn runs(&self) -> Vec<Hearing<S>> {
        self.runs.lock().unwrap().clone()
    }

    /// The numbers of what was heard, in order.
    pub(crate) fn numbers(&self) -> Vec<u64> {
        self.runs().iter().map(|run| run.n).collect()
    }

    /// How often the subscriber was called.
    pub(crate) fn calls(&self) -> usize {
        self.called_at().len()
    }

    /// When it was called, in ms after the ear was made.
    pub(crate) fn called_at(&self) -> Vec<u64> {
        self.calls.lock().unwrap().clone()
    }

    /// The next calls behave like this.
    pub(crate) fn react(&self, reactions: impl IntoIterator<Item = Reaction>) {
        self.reactions.lock().unwrap().extend(reactions);
    }

    fn next(&self) -> Option<Reaction> {
        self.calls.lock().unwrap().push(self.ms());
        self.reactions.lock().unwrap().pop_front()
    }

    fn ms(&self) -> u64 {
        u64::try_from(self.since.elapsed().as_millis()).unwrap()
    }
}

/// The name and the guards of an ear.
pub(crate) trait Manner: Send + Sync + 'static {
    const NAME: &'static str;

    fn when(_n: u64) -> bool {
        true
    }

    fn dedup_id(_n: u64) -> Option<String> {
        None
    }

    fn group_key(_n: u64) -> Option<String> {
        None
    }
}

/// Events that bring a number.
pub(crate) trait Numbered: EventSet {
    fn n(&self) -> u64;
}

impl Numbered for RunEvent {
    fn n(&self) -> u64 {
        match self {
            Self::Noted(Noted { n, .. }) => *n,
            Self::Finished(_) => 0,
        }
    }
}

impl Numbered for super::Anything {
    fn n(&self) -> u64 {
        super::suites::number(self)
    }
}

/// A subscriber of events `E` and state `S`, of manner `M`.
pub(crate) struct Ear<E, S, M> {
    heard: Arc<Heard<S>>,
    _manner: PhantomData<fn() -> (E, M)>,
}

impl<E, S, M> Ear<E, S, M> {
    pub(crate) fn new(heard: &Arc<Heard<S>>) -> Self {
        Self {
            heard: heard.clone(),
            _manner: PhantomData,
        }
    }
}

impl<E, S, M> Subscriber for Ear<E, S, M>
where
    E: Numbered,
    S: Clone + Serialize + DeserializeOwned + Send + Sync + 'static,
    M: Manner,
{
    type On = E;
    type State = S;
    const NAME: &'static str = M::NAME;

    fn when(event: &Recorded<E>, _state: &S) -> bool {
        M::when(event.data.n())
    }

    fn dedup_id(event: &Recorded<E>) -> Option<String> {
        M::dedup_id(event.data.n())
    }

    fn group_key(event: &Recorded<E>) -> Option<String> {
        M::group_key(event.data.n())
    }

    async fn run(&self, event: &Recorded<E>, state: &S) -> Result<(), EffectError> {
        match self.heard.next() {
            None => {}
            Some(Reaction::Retry) => return Err(EffectError::retry("as the test says")),
            Some(Reaction::RetryAfter(floor)) => {
                return Err(EffectError::retry_after(floor, "as the test says"));
            }
            Some(Reaction::Fatal) => return Err(EffectError::fatal("as the test says")),
            Some(Reaction::Panic) => panic!("as the test says"),
            Some(Reaction::Slow(time)) => tokio::time::sleep(time).await,
        }
        self.heard.runs.lock().unwrap().push(Hearing {
            event: event.meta.id,
            occurred_at: event.meta.occurred_at.0 - super::START,
            n: event.data.n(),
            state: state.clone(),
            ms: self.heard.ms(),
        });
        Ok(())
    }
}

/// Hears everything.
pub(crate) enum All {}

impl Manner for All {
    const NAME: &'static str = "all";
}

/// Hears everything too, beside the other one.
pub(crate) enum Sibling {}

impl Manner for Sibling {
    const NAME: &'static str = "sibling";
}

/// Hears even numbers; is undecided to the point of panic about 13.
pub(crate) enum Evens {}

impl Manner for Evens {
    const NAME: &'static str = "evens";

    fn when(n: u64) -> bool {
        assert!(n != 13, "when panics at 13");
        n.is_multiple_of(2)
    }
}

/// Hears everything in one order.
pub(crate) enum InOrder {}

impl Manner for InOrder {
    const NAME: &'static str = "in_order";

    fn group_key(_n: u64) -> Option<String> {
        Some("one".into())
    }
}

/// Merges by the number, so that each event has a run of its own.
pub(crate) enum ByNumber {}

impl Manner for ByNumber {
    const NAME: &'static str = "by_number";

    fn dedup_id(n: u64) -> Option<String> {
        Some(n.to_string())
    }
}
