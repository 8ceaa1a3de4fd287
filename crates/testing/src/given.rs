//! Given, when, then for commands.
use crate::{Decision, Sample, timeline::Timeline};
use foldwright_domain::{Aggregate, Command, Decider, Fold, Handler, Intent, Recorded, Rejected};
use serde::{Serialize, de::DeserializeOwned};
use std::{any::type_name, marker::PhantomData, time::Duration};

/// Runs a [`Handler`]: it has no past, so nothing is given.
///
/// The payload takes the way through JSON that it takes through the queue, and the handler runs twice, because the kernel
/// may run it again and expects the same events.
///
/// # Panics
/// When the payload does not come back from JSON, names no aggregate, or the second run decides otherwise.
#[track_caller]
pub fn when<C: Handler>(payload: C) -> Decision<C> {
    let timeline = Timeline::new();
    when_intent(Intent::new(timeline.tenant, timeline.now, payload))
}

/// As [`when()`], with a tenant, a time and an origin of the test's choice.
///
/// # Panics
/// As [`when()`].
#[track_caller]
pub fn when_intent<C: Handler>(intent: Intent<C>) -> Decision<C> {
    decision(intent, C::handle)
}

/// What has happened to an aggregate before a [`Decider`] decides, all of it at [`START`](crate::START) by business time.
///
/// # Panics
/// When an event is nothing that JSON can hold.
#[track_caller]
pub fn given<D: Decider>(events: impl IntoIterator<Item = <D::Of as Aggregate>::Event>) -> Given<D> {
    let given = Given {
        timeline: Timeline::new(),
        _decider: PhantomData,
    };
    given.and(events)
}

/// See [`given`].
#[must_use = "nothing is decided before `when`"]
pub struct Given<D> {
    timeline: Timeline,
    _decider: PhantomData<fn() -> D>,
}

impl<D: Decider> Given<D> {
    /// So much business time passes: what follows is later.
    pub fn after(mut self, duration: Duration) -> Self {
        self.timeline.pass(duration);
        self
    }

    /// These happen now, one after the other.
    ///
    /// # Panics
    /// When an event is nothing that JSON can hold.
    #[track_caller]
    pub fn and(mut self, events: impl IntoIterator<Item = <D::Of as Aggregate>::Event>) -> Self {
        for event in events {
            self.timeline.add(Sample::from(event));
        }
        self
    }

    /// Decides now, on the state that the decider's fold makes of what was given.
    ///
    /// # Panics
    /// When the payload or the state does not come back from JSON, the payload names no aggregate, or a second run decides
    /// otherwise.
    #[track_caller]
    pub fn when(self, payload: D) -> Decision<D> {
        let intent = Intent::new(self.timeline.tenant.clone(), self.timeline.now, payload);
        self.when_intent(intent)
    }

    /// As [`when`](Self::when), with a tenant, a time and an origin of the test's choice.
    ///
    /// # Panics
    /// As [`when`](Self::when).
    #[track_caller]
    pub fn when_intent(self, intent: Intent<D>) -> Decision<D> {
        let events = self.timeline.read();
        let state = through_json(&state_of::<D::Fold>(&events));
        decision(intent, |intent| D::decide(intent, &state))
    }
}

impl<D> std::fmt::Debug for Given<D> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Given")
            .field("timeline", &self.timeline)
            .finish_non_exhaustive()
    }
}

pub(crate) fn state_of<F: Fold>(events: &[Recorded<F::On>]) -> F::State {
    events.iter().fold(F::init(), F::apply)
}

/// What a value is after it has been stored.
#[track_caller]
pub(crate) fn through_json<T: Serialize + DeserializeOwned>(value: &T) -> T {
    match serde_json::to_vec(value).and_then(|json| serde_json::from_slice(&json)) {
        Ok(value) => value,
        Err(error) => panic!("{} does not come back from JSON: {error}", type_name::<T>()),
    }
}

type Decided<C> = Result<Vec<<<C as Command>::Of as Aggregate>::Event>, Rejected>;

#[track_caller]
fn decision<C: Command>(intent: Intent<C>, decide: impl Fn(&Intent<C>) -> Decided<C>) -> Decision<C> {
    if let Err(error) = intent.payload.aggregate_id() {
        panic!("`{}` would be refused at `send`: {error}", C::NAME);
    }
    let intent = Intent {
        payload: through_json(&intent.payload),
        ..intent
    };
    let same = |decided: &Decided<C>| match decided {
        Ok(events) => Ok(events.iter().map(encoded).collect::<Vec<_>>()),
        Err(rejected) => Err(rejected.clone()),
    };
    let decided = decide(&intent);
    assert!(
        same(&decide(&intent)) == same(&decided),
        "`{}` decides otherwise when it runs again: it must be a pure function of intent and state",
        C::NAME
    );
    Decision { decided }
}

#[track_caller]
fn encoded<E: foldwright_domain::Event>(event: &E) -> (&'static str, Vec<u8>) {
    match event.encode() {
        Ok(data) => (event.descriptor().event_type, data),
        Err(error) => panic!("{error}"),
    }
}
